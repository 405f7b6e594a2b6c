"""The daemon that has hosts with broken devices replaced."""

import json
from typing import Any

import pytest
from aws_cdk import aws_ecr as ecr
from aws_cdk.assertions import Match, Template

from cdk_trainyard.network.bucket_policy import aws_buckets
from cdk_trainyard.serving import NeuronNodeHealth
from tests.serving.parts import new_stack, service, warnings


@pytest.fixture(scope="module")
def template() -> Template:
    """The template of the smallest call."""
    stack = new_stack()
    NeuronNodeHealth(stack, "Health", service=service(stack))
    return Template.from_stack(stack)


def containers(template: Template) -> dict[str, dict[str, Any]]:
    (definition,) = [
        resource["Properties"]
        for resource in template.find_resources("AWS::ECS::TaskDefinition").values()
        if resource["Properties"]["NetworkMode"] == "host"
    ]
    return {container["Name"]: container for container in definition["ContainerDefinitions"]}


def test_a_daemon_on_every_host(template: Template) -> None:
    template.has_resource_properties("AWS::ECS::Service", {"SchedulingStrategy": "DAEMON", "LaunchType": "EC2"})


def test_the_detector_reads_the_kernels_log_for_errors_of_the_driver(template: Template) -> None:
    detector = containers(template)["detector"]
    (device,) = detector["LinuxParameters"]["Devices"]
    assert (device["HostPath"], device["Permissions"]) == ("/dev/kmsg", ["read"])
    rules = json.loads({entry["Name"]: entry["Value"] for entry in detector["Environment"]}["KERNEL_MONITOR"])
    assert all("NEURON_HW_ERR=" in rule["pattern"] for rule in rules["rules"])
    assert len(rules["rules"]) == 5


def test_the_recovery_may_give_up_hosts_of_this_group_alone(template: Template) -> None:
    recovery = containers(template)["recovery"]
    assert {"Name": "ENABLE_RECOVERY", "Value": "true"} in recovery["Environment"]
    assert "Privileged" not in recovery
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Statement": Match.array_with(
                    [
                        Match.object_like(
                            {
                                "Action": "autoscaling:SetInstanceHealth",
                                "Resource": {"Fn::Join": ["", Match.array_with([Match.string_like_regexp("Name/$")])]},
                            }
                        ),
                        Match.object_like(
                            {
                                "Action": "cloudwatch:PutMetricData",
                                "Condition": {"StringEquals": {"cloudwatch:namespace": "NeuronHealthCheck"}},
                            }
                        ),
                    ]
                )
            }
        },
    )


def test_watching_alone() -> None:
    stack = new_stack()
    NeuronNodeHealth(stack, "Health", service=service(stack), recover=False, recovery_image="own.example/recovery:1")
    recovery = containers(Template.from_stack(stack))["recovery"]
    assert {"Name": "ENABLE_RECOVERY", "Value": "false"} in recovery["Environment"]
    assert recovery["Image"] == "own.example/recovery:1"


def test_its_images_are_where_the_network_lets_hosts_go(template: Template) -> None:
    """The registry of one sends clients on to a bucket, which the S3 endpoint's policy has; the other's asks nobody."""
    images = {name: container["Image"] for name, container in containers(template).items()}
    assert images == {
        "detector": "registry.k8s.io/node-problem-detector/node-problem-detector:v0.8.19",
        "recovery": "public.ecr.aws/neuron/neuron-node-recovery:1.3.0",
    }
    assert any(row["name"] == "prod-registry-k8s-io-{region}" for row in aws_buckets())


def test_a_copy_of_the_detector_is_pulled_with_the_rights_that_takes() -> None:
    stack = new_stack()
    copied = ecr.Repository.from_repository_name(stack, "Copy", "mirror/detector")
    NeuronNodeHealth(stack, "Health", service=service(stack), detector_repository=copied)
    template = Template.from_stack(stack)
    assert "mirror/detector:v0.8.19" in json.dumps(containers(template)["detector"]["Image"])
    policies = json.dumps(template.find_resources("AWS::IAM::ManagedPolicy"))
    assert "repository/mirror/detector" in policies
    assert "ecr:GetAuthorizationToken" in policies


def test_images_of_a_private_registry_are_pulled_with_the_rights_that_takes() -> None:
    stack, registry = new_stack(), "222222222222.dkr.ecr.us-west-2.amazonaws.com"
    NeuronNodeHealth(
        stack,
        "Health",
        service=service(stack),
        detector_image=f"{registry}/detector:1",
        recovery_image=f"{registry}/recovery:1",
    )
    policies = json.dumps(Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy"))
    assert all(f":222222222222:repository/{name}" in policies for name in ("detector", "recovery"))
    assert not [text for text in warnings(stack) if "Proper policies" in text]


def test_a_daemon_has_no_circuit_breaker_and_nobody_is_told_to_give_it_one() -> None:
    stack = new_stack()
    NeuronNodeHealth(stack, "Health", service=service(stack))
    (daemon,) = [
        resource["Properties"]
        for resource in Template.from_stack(stack).find_resources("AWS::ECS::Service").values()
        if resource["Properties"].get("SchedulingStrategy") == "DAEMON"
    ]
    assert "DeploymentCircuitBreaker" not in daemon["DeploymentConfiguration"]
    assert not any("circuitBreaker" in text for text in warnings(stack))


def test_it_fits_beside_the_engine(template: Template) -> None:
    reserved = sum(container["MemoryReservation"] for container in containers(template).values())
    assert reserved <= 2048 / 2
