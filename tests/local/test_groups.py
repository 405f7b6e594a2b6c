"""Auto Scaling groups: hooks, metrics, notices, tags, schedules."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, template
from tests.local.support import of

_HOOK = {
    "LifecycleHookName": "set-up",
    "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING",
    "HeartbeatTimeout": 3600,
    "DefaultResult": "ABANDON",
}
_OTHER_HOOK = {**_HOOK, "LifecycleHookName": "good-bye", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
_TAG = {"Key": "role", "Value": "worker", "PropagateAtLaunch": True}
_LAUNCHES, _ENDS = "autoscaling:EC2_INSTANCE_LAUNCH", "autoscaling:EC2_INSTANCE_TERMINATE"
_GROUP: dict[str, Any] = {
    "MinSize": "1",
    "MaxSize": "4",
    "DesiredCapacity": "2",
    "Cooldown": "60",
    "MaxInstanceLifetime": 86400,
    "TerminationPolicies": ["NewestInstance"],
    "VPCZoneIdentifier": [of("SubnetA")],
    "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"},
    "LifecycleHookSpecificationList": [_HOOK],
    "MetricsCollection": [{"Granularity": "1Minute"}],
    "NotificationConfigurations": [{"TopicARN": of("TopicArn"), "NotificationTypes": [_LAUNCHES, _ENDS]}],
    "Tags": [_TAG],
}


def _template(**changes: Any) -> dict[str, Any]:
    launch = {"ImageId": "ami-12c6146b", "InstanceType": "c5.large"}
    properties = {name: value for name, value in {**_GROUP, **changes}.items() if value is not None}
    return template(
        {
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": launch}},
            "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": properties},
        }
    )


class _Group:
    """A deployed group, through boto3."""

    def __init__(self, aws: LocalAws, stacks: Stacks) -> None:
        self.stacks, self.client = stacks, aws.client("autoscaling")
        self.stack = stacks.deployed(_template())
        self.name = stacks.physical_id(self.stack, "Group")

    def change(self, **changes: Any) -> None:
        assert self.stacks.update(self.stack, _template(**changes)) == "UPDATE_COMPLETE"
        assert not [reason for reason in self.stacks.reasons(self.stack) if "not emulated" in reason]

    @property
    def now(self) -> dict[str, Any]:
        found = self.client.describe_auto_scaling_groups(AutoScalingGroupNames=[self.name])["AutoScalingGroups"]
        return dict(found[0])

    @property
    def hooks(self) -> dict[str, tuple[int, str]]:
        found = self.client.describe_lifecycle_hooks(AutoScalingGroupName=self.name)["LifecycleHooks"]
        return {row["LifecycleHookName"]: (row["HeartbeatTimeout"], row["DefaultResult"]) for row in found}

    @property
    def notices(self) -> list[str]:
        found = self.client.describe_notification_configurations(AutoScalingGroupNames=[self.name])
        return [row["NotificationType"] for row in found["NotificationConfigurations"]]


@pytest.fixture
def group(aws: LocalAws, stacks: Stacks, support: None) -> _Group:  # noqa: ARG001  it is deployed into it
    return _Group(aws, stacks)


def test_everything_is_kept(group: _Group) -> None:
    found = group.now
    assert group.hooks == {"set-up": (3600, "ABANDON")}
    assert group.notices == [_LAUNCHES, _ENDS]
    assert {"GroupInServiceInstances", "GroupTotalInstances"} <= {row["Metric"] for row in found["EnabledMetrics"]}
    assert (found["DefaultCooldown"], found["MaxInstanceLifetime"]) == (60, 86400)
    assert found["TerminationPolicies"] == ["NewestInstance"]


def test_hooks_and_notices_change(group: _Group) -> None:
    topics = [{"TopicARN": of("TopicArn"), "NotificationTypes": [_ENDS]}]
    changed = [{**_HOOK, "HeartbeatTimeout": 60}, _OTHER_HOOK]
    group.change(LifecycleHookSpecificationList=changed, NotificationConfigurations=topics)
    assert group.hooks == {"set-up": (60, "ABANDON"), "good-bye": (3600, "ABANDON")}
    assert group.notices == [_ENDS]
    group.change(LifecycleHookSpecificationList=[_OTHER_HOOK], NotificationConfigurations=None)
    assert group.hooks == {"good-bye": (3600, "ABANDON")}
    assert group.notices == []


def test_a_node_that_abandons_its_set_up_is_replaced(group: _Group) -> None:
    hook = {"AutoScalingGroupName": group.name, "LifecycleHookName": "set-up"}
    first, second = (row["InstanceId"] for row in group.now["Instances"])
    group.client.record_lifecycle_action_heartbeat(**hook, InstanceId=first)
    group.client.complete_lifecycle_action(**hook, InstanceId=first, LifecycleActionResult="CONTINUE")
    group.client.complete_lifecycle_action(**hook, InstanceId=second, LifecycleActionResult="ABANDON")
    after = [row["InstanceId"] for row in group.now["Instances"]]
    assert (len(after), first in after, second in after) == (2, True, False)
    with pytest.raises(ClientError, match=f"No active Lifecycle Action found with instance ID {second}"):
        group.client.complete_lifecycle_action(**hook, InstanceId=second, LifecycleActionResult="CONTINUE")
    with pytest.raises(ClientError, match="No Lifecycle Hook found with name other"):
        group.client.record_lifecycle_action_heartbeat(**{**hook, "LifecycleHookName": "other"}, InstanceId=first)


def test_nothing_takes_an_instances_place_while_launches_are_suspended(group: _Group) -> None:
    named = {"AutoScalingGroupName": group.name}
    lost, left = (row["InstanceId"] for row in group.now["Instances"])
    group.client.suspend_processes(**named, ScalingProcesses=["Launch"])
    group.client.complete_lifecycle_action(
        **named, LifecycleHookName="set-up", InstanceId=lost, LifecycleActionResult="ABANDON"
    )
    assert [row["InstanceId"] for row in group.now["Instances"]] == [left]
    group.client.resume_processes(**named, ScalingProcesses=["Launch"])
    group.client.set_desired_capacity(**named, DesiredCapacity=group.now["DesiredCapacity"])
    assert len(group.now["Instances"]) == 2


def test_tags_change(group: _Group) -> None:
    group.change(Tags=[{**_TAG, "Key": "fleet", "Value": "bert"}])
    assert [(tag["Key"], tag["Value"], tag["PropagateAtLaunch"]) for tag in group.now["Tags"]] == [
        ("fleet", "bert", True)
    ]


def test_sizes_that_a_scheduled_action_has_changed_are_left_where_the_group_says_so(
    aws: LocalAws, stacks: Stacks
) -> None:
    def sized(**changes: Any) -> dict[str, Any]:
        body = _template(**changes)
        body["Resources"]["Group"]["UpdatePolicy"] = {
            "AutoScalingScheduledAction": {"IgnoreUnmodifiedGroupSizeProperties": True}
        }
        return body

    stack, client = stacks.deployed(sized(DesiredCapacity=None)), aws.client("autoscaling")
    name = stacks.physical_id(stack, "Group")

    def sizes() -> tuple[int, int]:
        (row,) = client.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
        return row["MinSize"], row["MaxSize"]

    client.update_auto_scaling_group(AutoScalingGroupName=name, MinSize=3, MaxSize=3)
    assert stacks.update(stack, sized(DesiredCapacity=None, Cooldown="90")) == "UPDATE_COMPLETE"
    assert sizes() == (3, 3)
    assert stacks.update(stack, sized(DesiredCapacity=None, Cooldown="90", MaxSize="5")) == "UPDATE_COMPLETE"
    assert sizes() == (3, 5)
    assert not [reason for reason in stacks.reasons(stack) if "not emulated" in reason]


def test_a_size_that_the_template_no_longer_says_is_left_to_people(group: _Group) -> None:
    group.client.set_desired_capacity(AutoScalingGroupName=group.name, DesiredCapacity=3)
    group.change(DesiredCapacity=None, Cooldown="90")
    assert (group.now["DesiredCapacity"], len(group.now["Instances"])) == (3, 3)
    group.change(DesiredCapacity=None, MaxSize="2", Cooldown="90")
    assert (group.now["DesiredCapacity"], len(group.now["Instances"])) == (2, 2)


def test_a_replacing_update_says_that_it_is_not_emulated(group: _Group) -> None:
    body = _template(VPCZoneIdentifier=[of("SubnetB")])
    body["Resources"]["Group"]["UpdatePolicy"] = {"AutoScalingReplacingUpdate": {"WillReplace": True}}
    assert group.stacks.update(group.stack, body) == "UPDATE_COMPLETE"
    told = "local: update not emulated, left as it was: UpdatePolicy.AutoScalingReplacingUpdate"
    assert f"Group UPDATE_COMPLETE: {told}" in group.stacks.reasons(group.stack)


@pytest.mark.usefixtures("support")
def test_fails_for_a_topic_that_does_not_exist(stacks: Stacks) -> None:
    nobody = "arn:aws:sns:us-west-2:123456789012:nobody"
    topics = [{"TopicARN": nobody, "NotificationTypes": [_ENDS]}]
    assert f"{nobody} does not exist" in stacks.failure(_template(NotificationConfigurations=topics))


def test_fails_for_a_group_that_does_not_exist(aws: LocalAws) -> None:
    with pytest.raises(ClientError, match="AutoScalingGroup 'nobody' not found"):
        aws.client("autoscaling").put_notification_configuration(
            AutoScalingGroupName="nobody", TopicARN="arn:aws:sns:us-west-2:123456789012:x", NotificationTypes=[_ENDS]
        )


# ---------------------------------------------------------------- schedules of a target
_SCALED = {
    "ResourceId": "service/cluster/scheduled",
    "ScalableDimension": "ecs:service:DesiredCount",
    "ServiceNamespace": "ecs",
    "MinCapacity": 1,
    "MaxCapacity": 4,
}


def _scheduled(*names: str, minimum: int = 0) -> dict[str, Any]:
    actions = [
        {
            "ScheduledActionName": name,
            "Schedule": "cron(0 20 ? * MON-FRI *)",
            "Timezone": "Europe/Berlin",
            "ScalableTargetAction": {"MinCapacity": minimum, "MaxCapacity": 4},
        }
        for name in names
    ]
    resources = {
        "Cluster": {"Type": "AWS::ECS::Cluster", "Properties": {"ClusterName": "cluster"}},
        "Task": {
            "Type": "AWS::ECS::TaskDefinition",
            "Properties": {"ContainerDefinitions": [{"Name": "a", "Image": "a", "Memory": 1}]},
        },
        "Service": {
            "Type": "AWS::ECS::Service",
            "Properties": {
                "ServiceName": "scheduled",
                "Cluster": {"Ref": "Cluster"},
                "TaskDefinition": {"Ref": "Task"},
            },
        },
        "Target": {
            "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
            "DependsOn": "Service",
            "Properties": {**_SCALED, "ScheduledActions": actions},
        },
    }
    return template(resources)


def test_schedules_follow_the_template(aws: LocalAws, stacks: Stacks) -> None:
    def there() -> dict[str, int]:
        found = aws.client("application-autoscaling").describe_scheduled_actions(ServiceNamespace="ecs")
        return {
            row["ScheduledActionName"]: row["ScalableTargetAction"]["MinCapacity"]
            for row in found["ScheduledActions"]
            if row["ResourceId"] == _SCALED["ResourceId"]
        }

    stack = stacks.deployed(_scheduled("night", "day"))
    assert there() == {"night": 0, "day": 0}
    assert stacks.update(stack, _scheduled("night", "dawn", minimum=2)) == "UPDATE_COMPLETE"
    assert there() == {"night": 2, "dawn": 2}
    assert stacks.delete(stack) == "DELETE_COMPLETE"
    assert there() == {}
