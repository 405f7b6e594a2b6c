"""ECS services: what they are told, what they want to exist, and the revisions of their task definitions."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, template
from tests.local.support import BALANCER, listener, of

_TASK: dict[str, Any] = {
    "Family": "served",
    "ContainerDefinitions": [
        {"Name": "engine", "Image": "engine:1", "Memory": 512, "PortMappings": [{"ContainerPort": 8080}]}
    ],
}
_SERVICE: dict[str, Any] = {
    "Cluster": {"Ref": "Cluster"},
    "TaskDefinition": {"Ref": "Task"},
    "CapacityProviderStrategy": [{"CapacityProvider": {"Ref": "Provider"}, "Weight": 1}],
    "DeploymentConfiguration": {"MinimumHealthyPercent": 0, "MaximumPercent": 100},
    "EnableECSManagedTags": True,
    "HealthCheckGracePeriodSeconds": 900,
    "LoadBalancers": [{"ContainerName": "engine", "ContainerPort": 8080, "TargetGroupArn": {"Ref": "Targets"}}],
    "PlacementConstraints": [{"Type": "distinctInstance"}],
}
_RULE: dict[str, Any] = {
    "Type": "AWS::ElasticLoadBalancingV2::ListenerRule",
    "Properties": {
        "ListenerArn": {"Ref": "Listener"},
        "Priority": 1,
        "Conditions": [{"Field": "path-pattern", "Values": ["/v1/*"]}],
        "Actions": [{"Type": "forward", "TargetGroupArn": {"Ref": "Targets"}}],
    },
}


def _targets(port: int = 8080) -> dict[str, Any]:
    properties = {"Port": port, "Protocol": "HTTP", "VpcId": of("Vpc"), "TargetType": "ip", "TargetControlPort": 3000}
    return {"Type": "AWS::ElasticLoadBalancingV2::TargetGroup", "Properties": properties}


_PARTS: dict[str, Any] = {
    "Template": {
        "Type": "AWS::EC2::LaunchTemplate",
        "Properties": {"LaunchTemplateData": {"ImageId": "ami-12c6146b", "InstanceType": "inf2.xlarge"}},
    },
    "Hosts": {
        "Type": "AWS::AutoScaling::AutoScalingGroup",
        "Properties": {
            "MinSize": "1",
            "MaxSize": "1",
            "VPCZoneIdentifier": [of("SubnetA")],
            "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"},
        },
    },
    "Cluster": {"Type": "AWS::ECS::Cluster"},
    "Provider": {
        "Type": "AWS::ECS::CapacityProvider",
        "Properties": {"AutoScalingGroupProvider": {"AutoScalingGroupArn": {"Ref": "Hosts"}}},
    },
    "Association": {
        "Type": "AWS::ECS::ClusterCapacityProviderAssociations",
        "Properties": {
            "Cluster": {"Ref": "Cluster"},
            "CapacityProviders": [{"Ref": "Provider"}],
            "DefaultCapacityProviderStrategy": [],
        },
    },
    "Balancer": BALANCER,
    "Listener": listener(80, "HTTP"),
    "Targets": _targets(),
    "Rule": _RULE,
}
_BROKEN = {
    "Type": "AWS::CloudWatch::Alarm",
    "DependsOn": "Service",
    "Properties": {"ComparisonOperator": "Nonsense", "EvaluationPeriods": 1, "MetricName": "x", "Namespace": "y"},
}


def _served(image: str = "engine:1", without: tuple[str, ...] = (), **service: Any) -> dict[str, Any]:
    (container,) = _TASK["ContainerDefinitions"]
    task = {**_TASK, "ContainerDefinitions": [{**container, "Image": image}]}
    properties = {name: value for name, value in {**_SERVICE, **service}.items() if name not in without}
    return {
        **_PARTS,
        "Task": {"Type": "AWS::ECS::TaskDefinition", "Properties": task},
        "Service": {"Type": "AWS::ECS::Service", "Properties": properties, "DependsOn": ["Association", "Rule"]},
    }


def _service(aws: LocalAws, stacks: Stacks, stack: str) -> dict[str, Any]:
    arn = stacks.physical_id(stack, "Service")
    (found,) = aws.client("ecs").describe_services(cluster=arn.split("/")[1], services=[arn])["services"]
    return dict(found)


def _definition(aws: LocalAws, arn: str) -> dict[str, Any]:
    return dict(aws.client("ecs").describe_task_definition(taskDefinition=arn)["taskDefinition"])


@pytest.mark.usefixtures("support")
def test_everything_is_kept(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_served()))
    found = _service(aws, stacks, stack)
    provider = stacks.physical_id(stack, "Provider")
    assert found["capacityProviderStrategy"] == [{"capacityProvider": provider, "weight": 1}]
    assert "launchType" not in found
    assert found["healthCheckGracePeriodSeconds"] == 900
    assert found["deploymentConfiguration"]["maximumPercent"] == 100
    assert found["placementConstraints"] == [{"type": "distinctInstance"}]
    assert found["enableECSManagedTags"] is True
    assert (found["desiredCount"], found["runningCount"], found["pendingCount"]) == (1, 1, 0)
    (deployment,) = found["deployments"]
    assert (deployment["rolloutState"], deployment["taskDefinition"]) == ("COMPLETED", found["taskDefinition"])
    (group,) = aws.client("elbv2").describe_target_groups(TargetGroupArns=[stacks.physical_id(stack, "Targets")])[
        "TargetGroups"
    ]
    assert (group["TargetControlPort"], group["LoadBalancerArns"]) == (3000, [stacks.physical_id(stack, "Balancer")])


@pytest.mark.usefixtures("support")
def test_another_image_is_another_revision_of_the_family(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_served()))
    first = stacks.physical_id(stack, "Task")
    assert stacks.update(stack, template(_served("engine:2"))) == "UPDATE_COMPLETE", stacks.reasons(stack)
    second = stacks.physical_id(stack, "Task")
    (family, number), (same, next_number) = first.rsplit(":", 1), second.rsplit(":", 1)
    assert (family, int(number) + 1) == (same, int(next_number))
    found = _service(aws, stacks, stack)
    assert (found["taskDefinition"], found["deployments"][0]["taskDefinition"]) == (second, second)
    assert [_definition(aws, arn)["status"] for arn in (first, second)] == ["INACTIVE", "ACTIVE"]
    arn, cluster = found["serviceArn"], found["clusterArn"]
    assert stacks.delete(stack) == "DELETE_COMPLETE"
    assert _definition(aws, second)["status"] == "INACTIVE"
    ecs = aws.client("ecs")
    assert arn not in ecs.list_services(cluster=cluster)["serviceArns"]
    assert cluster not in ecs.list_clusters()["clusterArns"]


@pytest.mark.usefixtures("support")
def test_a_failure_takes_the_service_back_to_its_revision(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_served(DesiredCount=2)))
    first = stacks.physical_id(stack, "Task")
    body = template({**_served("engine:2", DesiredCount=4), "Broken": _BROKEN})
    assert stacks.update(stack, body) == "UPDATE_ROLLBACK_COMPLETE"
    found = _service(aws, stacks, stack)
    assert (found["taskDefinition"], found["desiredCount"]) == (first, 2)
    assert stacks.physical_id(stack, "Task") == first
    assert _definition(aws, first)["status"] == "ACTIVE"
    assert _definition(aws, f"{first.rsplit(':', 1)[0]}:{int(first.rsplit(':', 1)[1]) + 1}")["status"] == "INACTIVE"


@pytest.mark.usefixtures("support")
def test_a_refused_change_of_the_service_rolls_back_its_new_revision(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_served()))
    first = stacks.physical_id(stack, "Task")
    wrong = [{**_SERVICE["LoadBalancers"][0], "ContainerName": "nobody"}]
    assert stacks.update(stack, template(_served("engine:2", LoadBalancers=wrong))) == "UPDATE_ROLLBACK_COMPLETE"
    assert _service(aws, stacks, stack)["taskDefinition"] == first
    assert _service(aws, stacks, stack)["loadBalancers"][0]["containerName"] == "engine"


@pytest.mark.usefixtures("support")
def test_a_family_that_nobody_names_changes_with_the_definition(aws: LocalAws, stacks: Stacks) -> None:
    task = {name: value for name, value in _TASK.items() if name != "Family"}
    other = {**task, "Cpu": "256"}
    stack = stacks.deployed(template({"Task": {"Type": "AWS::ECS::TaskDefinition", "Properties": task}}))
    first = stacks.physical_id(stack, "Task")
    body = template({"Task": {"Type": "AWS::ECS::TaskDefinition", "Properties": other}})
    assert stacks.update(stack, body) == "UPDATE_COMPLETE"
    assert first.rsplit(":", 1)[0] != stacks.physical_id(stack, "Task").rsplit(":", 1)[0]
    assert _definition(aws, first)["status"] == "INACTIVE"


@pytest.mark.usefixtures("support")
def test_a_number_that_the_template_no_longer_says_stays(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_served(DesiredCount=3)))
    assert stacks.update(stack, template(_served())) == "UPDATE_COMPLETE"
    assert _service(aws, stacks, stack)["desiredCount"] == 3
    assert not [reason for reason in stacks.reasons(stack) if "not emulated" in reason]


@pytest.mark.usefixtures("support")
def test_what_the_template_no_longer_lists_goes(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_served()))
    body = template(_served(without=("LoadBalancers", "PlacementConstraints", "HealthCheckGracePeriodSeconds")))
    assert stacks.update(stack, body) == "UPDATE_COMPLETE", stacks.reasons(stack)
    found = _service(aws, stacks, stack)
    assert (found["loadBalancers"], found["placementConstraints"]) == ([], [])


@pytest.mark.usefixtures("support")
def test_another_target_group_behind_the_same_rule(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_served()))
    first = stacks.physical_id(stack, "Targets")
    body = template({**_served(), "Targets": _targets(8081)})
    assert stacks.update(stack, body) == "UPDATE_COMPLETE", stacks.reasons(stack)
    second = stacks.physical_id(stack, "Targets")
    assert first != second
    assert _service(aws, stacks, stack)["loadBalancers"][0]["targetGroupArn"] == second
    with pytest.raises(ClientError, match="TargetGroupNotFound"):
        aws.client("elbv2").describe_target_groups(TargetGroupArns=[first])


# ---------------------------------------------------------------- what ECS refuses
@pytest.mark.usefixtures("support")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"LoadBalancers": [{**_SERVICE["LoadBalancers"][0], "ContainerName": "nobody"}]},
            "The container nobody does not exist in the task definition",
        ),
        (
            {"LoadBalancers": [{**_SERVICE["LoadBalancers"][0], "ContainerPort": 9}]},
            "The container engine did not have a container port 9 defined",
        ),
        (
            {"CapacityProviderStrategy": [{"CapacityProvider": "nobody", "Weight": 1}]},
            "The specified capacity provider 'nobody' was not found",
        ),
    ],
)
def test_fails_for_what_is_not_there(stacks: Stacks, change: dict[str, Any], message: str) -> None:
    assert message in stacks.failure(template(_served(**change)))


@pytest.mark.usefixtures("support")
def test_fails_for_a_target_group_to_which_nobody_forwards(stacks: Stacks) -> None:
    resources = _served()
    del resources["Rule"]
    resources["Service"] = {**resources["Service"], "DependsOn": ["Association"]}
    assert "does not have an associated load balancer" in stacks.failure(template(resources))


def test_fails_for_an_alarm_that_compares_nothing(stacks: Stacks) -> None:
    broken = {key: value for key, value in _BROKEN.items() if key != "DependsOn"}
    assert "Value 'Nonsense' at 'comparisonOperator'" in stacks.failure(template({"Broken": broken}))


def test_fails_for_a_composite_alarm_of_alarms_that_are_not_there(aws: LocalAws) -> None:
    cloudwatch = aws.client("cloudwatch")
    known = {"Namespace": "n", "MetricName": "m", "Period": 60, "Statistic": "Sum"}
    cloudwatch.put_metric_alarm(
        AlarmName="there", EvaluationPeriods=1, Threshold=1, ComparisonOperator="LessThanThreshold", **known
    )
    rule = '(ALARM(there) AND (NOT (ALARM("arn:aws:cloudwatch:us-east-1:111111111111:alarm:away"))))'
    with pytest.raises(ClientError, match=r"as alarms \[away\] in the alarm rule do not exist"):
        cloudwatch.put_composite_alarm(AlarmName="both", AlarmRule=rule)
    cloudwatch.put_composite_alarm(AlarmName="both", AlarmRule='OK("there")')
    (kept,) = cloudwatch.describe_alarms(AlarmNames=["both"], AlarmTypes=["CompositeAlarm"])["CompositeAlarms"]
    assert kept["AlarmRule"] == 'OK("there")'
    cloudwatch.delete_alarms(AlarmNames=["both", "there"])
