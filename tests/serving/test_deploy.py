"""A service and its door in the local AWS: made, changed, rolled back, taken away, and looked at through boto3."""

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, BootstraplessSynthesizer, CfnOutput, CfnResource, Environment, Stack
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from cdk_trainyard.network import TrainingNetwork
from cdk_trainyard.serving import ClientAuthentication, NeuronNodeHealth, ServiceMonitoring, TextGenerationEngine
from tests.serving.parts import certificate, load_balancer, model, service

if TYPE_CHECKING:
    from cdk_trainyard.local import LocalAws

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("empty_aws")]

REGION = "us-west-2"
NAME = "serving-deployed"


def template(aws: "LocalAws", certificate_arn: str, *, broken: bool = False, **changes: Any) -> str:
    """Return the template of everything this room has, in a network of its own."""
    app = App(analytics_reporting=False)
    environment = Environment(account=aws.account, region=REGION)
    stack = Stack(app, "Stack", env=environment, synthesizer=BootstraplessSynthesizer())
    network = TrainingNetwork(
        stack,
        "Network",
        zone="usw2-az1",
        service_zones=["usw2-az1", "usw2-az2"],
        restrict_default_security_group=False,  # its function would want an uploaded asset
    )
    described = model(stack, prefix=changes.pop("prefix", "models/llama/"))
    served = service(stack, network=network, model=described, **{"tasks": 2, **changes})
    # doors with tokens are deployed by tests/test_serving_environment.py
    key = secretsmanager.Secret.from_secret_name_v2(stack, "Key", "api-key")
    opened = load_balancer(
        stack,
        served,
        certificate=certificate(stack, certificate_arn),
        authentication=ClientAuthentication.api_key(key),
    )
    ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=opened, topic=sns.Topic(stack, "Topic"))
    NeuronNodeHealth(stack, "Health", service=served)
    CfnOutput(stack, "BaseUrl", value=opened.base_url)
    if broken:
        properties = {"AlarmName": "x", "ComparisonOperator": "None", "EvaluationPeriods": 1}
        CfnResource(stack, "Broken", type="AWS::CloudWatch::Alarm", properties=properties)
    return json.dumps(app.synth().get_stack_by_name("Stack").template)


@pytest.fixture(scope="module")
def certificate_arn(aws: "LocalAws") -> str:
    """A certificate of the local AWS."""
    asked = aws.client("acm", region=REGION).request_certificate(DomainName="models.example")
    return str(asked["CertificateArn"])


@pytest.fixture(scope="module")
def stacks(aws: "LocalAws", certificate_arn: str) -> Iterator[Any]:
    """CloudFormation, in which the stack is deployed."""
    client = aws.client("cloudformation", region=REGION)
    client.create_stack(
        StackName=NAME, TemplateBody=template(aws, certificate_arn), Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    assert settled(client) == "CREATE_COMPLETE", reasons(client)
    yield client
    client.delete_stack(StackName=NAME)


def update(client: Any, body: str) -> str:
    client.update_stack(StackName=NAME, TemplateBody=body, Capabilities=["CAPABILITY_NAMED_IAM"])
    return settled(client)


def settled(client: Any) -> str:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        status = str(client.describe_stacks(StackName=NAME)["Stacks"][0]["StackStatus"])
        if not status.endswith("_IN_PROGRESS"):
            return status
        time.sleep(0.05)
    raise TimeoutError(status)


def reasons(client: Any) -> list[str]:
    events = client.describe_stack_events(StackName=NAME)["StackEvents"]
    return [event.get("ResourceStatusReason", "") for event in events if "FAILED" in event["ResourceStatus"]]


def the_service(aws: "LocalAws") -> dict[str, Any]:
    ecs = aws.client("ecs", region=REGION)
    for cluster in ecs.list_clusters()["clusterArns"]:
        names = ecs.list_services(cluster=cluster)["serviceArns"]
        for found in ecs.describe_services(cluster=cluster, services=names)["services"] if names else []:
            if found.get("loadBalancers"):
                return dict(found)
    raise LookupError("no service with a load balancer")


def engine(aws: "LocalAws") -> dict[str, Any]:
    ecs = aws.client("ecs", region=REGION)
    definition = ecs.describe_task_definition(taskDefinition=the_service(aws)["taskDefinition"])["taskDefinition"]
    return next(entry for entry in definition["containerDefinitions"] if entry["name"] == "engine")


def physical_id(client: Any, resource_type: str) -> str:
    rows = client.describe_stack_resources(StackName=NAME)["StackResources"]
    (found,) = [row["PhysicalResourceId"] for row in rows if row["ResourceType"] == resource_type]
    return str(found)


def hosts(aws: "LocalAws", client: Any) -> tuple[int, int]:
    name = physical_id(client, "AWS::AutoScaling::AutoScalingGroup")
    groups = aws.client("autoscaling", region=REGION).describe_auto_scaling_groups(AutoScalingGroupNames=[name])
    return groups["AutoScalingGroups"][0]["MinSize"], groups["AutoScalingGroups"][0]["MaxSize"]


def test_it_is_there(aws: "LocalAws", stacks: Any) -> None:
    assert the_service(aws)["desiredCount"] == 2
    assert engine(aws)["image"] == "ghcr.io/huggingface/text-generation-inference:3.3.7-neuron"
    assert hosts(aws, stacks) == (2, 2)
    (output,) = stacks.describe_stacks(StackName=NAME)["Stacks"][0]["Outputs"]
    assert output["OutputValue"].startswith("https://")


def test_the_door_refuses_by_default(aws: "LocalAws", stacks: Any) -> None:
    arn = physical_id(stacks, "AWS::ElasticLoadBalancingV2::Listener")
    rules = aws.client("elbv2", region=REGION).describe_rules(ListenerArn=arn)["Rules"]
    by_priority = {rule["Priority"]: rule for rule in rules}
    assert by_priority["default"]["Actions"][0]["FixedResponseConfig"]["StatusCode"] == "404"
    assert [action["Type"] for action in by_priority["10"]["Actions"]] == ["forward"]


def test_no_change_is_no_update(aws: "LocalAws", stacks: Any, certificate_arn: str) -> None:
    with pytest.raises(stacks.exceptions.ClientError, match="No updates are to be performed"):
        update(stacks, template(aws, certificate_arn))


def test_two_hosts_become_four(aws: "LocalAws", stacks: Any, certificate_arn: str) -> None:
    before = {row["PhysicalResourceId"] for row in stacks.describe_stack_resources(StackName=NAME)["StackResources"]}
    assert update(stacks, template(aws, certificate_arn, tasks=4)) == "UPDATE_COMPLETE", reasons(stacks)
    after = {row["PhysicalResourceId"] for row in stacks.describe_stack_resources(StackName=NAME)["StackResources"]}
    assert the_service(aws)["desiredCount"] == 4
    assert hosts(aws, stacks) == (4, 4)
    assert before == after
    assert update(stacks, template(aws, certificate_arn)) == "UPDATE_COMPLETE", reasons(stacks)


def test_another_image_and_back_again(aws: "LocalAws", stacks: Any, certificate_arn: str) -> None:
    changed = template(aws, certificate_arn, engine=TextGenerationEngine.tgi(image="tgi-3.3.6"))
    assert update(stacks, changed) == "UPDATE_COMPLETE", reasons(stacks)
    assert engine(aws)["image"].endswith(":3.3.6-neuron")
    assert update(stacks, template(aws, certificate_arn)) == "UPDATE_COMPLETE", reasons(stacks)


def test_another_prefix_is_another_version_of_the_launch_template(
    aws: "LocalAws", stacks: Any, certificate_arn: str
) -> None:
    changed = template(aws, certificate_arn, prefix="models/llama-2/")
    assert update(stacks, changed) == "UPDATE_COMPLETE", reasons(stacks)
    assert update(stacks, template(aws, certificate_arn)) == "UPDATE_COMPLETE", reasons(stacks)


def test_what_fails_is_rolled_back(aws: "LocalAws", stacks: Any, certificate_arn: str) -> None:
    assert update(stacks, template(aws, certificate_arn, broken=True, tasks=3)) == "UPDATE_ROLLBACK_COMPLETE"
    assert the_service(aws)["desiredCount"] == 2
    assert hosts(aws, stacks) == (2, 2)


def test_it_is_taken_away(stacks: Any) -> None:
    stacks.delete_stack(StackName=NAME)
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        try:
            status = settled(stacks)
        except stacks.exceptions.ClientError:
            return
        assert status != "DELETE_FAILED", reasons(stacks)
    raise AssertionError("the stack is still there")
