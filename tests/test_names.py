"""Names by convention: what gets one, what AWS takes, and that nothing changes without them."""

import re
from collections.abc import Callable
from typing import Any

import botocore.session
import pytest
from aws_cdk import App, Aspects, Aws, CfnResource, Environment, Stack, Tags
from aws_cdk.assertions import Template
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard import (
    BucketPurpose,
    ConfigurationError,
    EfaFleet,
    EfaSecurityGroup,
    GroupRole,
    HyperPodCluster,
    InstanceGroup,
    Naming,
    NodeImage,
    ServiceMonitoring,
    TrainingBucket,
    TrainingBuckets,
    TrainingNetwork,
)
from cdk_trainyard.names import _NAMED, _conventional, fitting
from tests.serving import parts
from tools import cfn_lint

PREFIX = "acme-ml-"
PROPERTIES = {
    kind: "".join(part.title() for part in where.option.split("_")) for kind, where in _NAMED.items() if where.option
}


def new_stack(app: App | None = None) -> Stack:
    return Stack(app or App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))


def resources(stack: Stack) -> dict[str, dict[str, Any]]:
    return dict(Template.from_stack(stack).to_json()["Resources"])


def names(stack: Stack) -> dict[str, Any]:
    """Logical id to name, of everything that can have one."""
    found = {}
    for logical_id, resource in resources(stack).items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::EC2::VPC":
            found[logical_id] = {tag["Key"]: tag["Value"] for tag in properties["Tags"]}["Name"]
        elif resource["Type"] in PROPERTIES:
            found[logical_id] = properties.get(PROPERTIES[resource["Type"]])
    return found


def training(stack: Stack, naming: Naming | None) -> None:
    network = TrainingNetwork(stack, "Network", zone="us-west-2a", names=naming)
    buckets = TrainingBuckets(stack, "Buckets", names=naming)
    EfaSecurityGroup(stack, "Efa", vpc=network.vpc, names=naming)
    groups = [
        InstanceGroup(name="head", role=GroupRole.CONTROLLER, instance_type="ml.m5.large", count=1),
        InstanceGroup(name="workers", role=GroupRole.COMPUTE, instance_type="ml.c5.4xlarge", count=2),
    ]
    HyperPodCluster(stack, "HyperPod", network=network, groups=groups, names=naming)
    image = NodeImage(dlami="base-oss-nvidia-driver-gpu-ubuntu-22.04")
    EfaFleet(
        stack,
        "Fleet",
        network=network,
        scripts_bucket=buckets.scripts,
        image=image,
        instance_type="p4d.24xlarge",
        count=2,
        names=naming,
    )


def serving(stack: Stack, naming: Naming | None) -> None:
    service = parts.service(stack, names=naming)
    door = parts.load_balancer(stack, service, names=naming)
    ServiceMonitoring(stack, "Monitoring", service=service, load_balancer=door, names=naming)


@pytest.mark.parametrize("build", [training, serving])
def test_everything_that_a_construct_makes_gets_a_name_of_its_own(build: Callable[..., None]) -> None:
    stack = new_stack()
    build(stack, Naming(PREFIX))
    outside = ("Custom", "LifecycleScriptsUploader")  # one for the whole stack
    made = {name: text for name, text in names(stack).items() if not name.startswith(outside)}
    assert made
    assert {name: text for name, text in made.items() if not str(text).startswith(PREFIX)} == {}
    assert len(set(made.values())) == len(made)
    for logical_id, text in made.items():
        where = _NAMED[resources(stack)[logical_id]["Type"]]
        assert len(text) <= where.longest
        assert re.fullmatch(where.pattern, text)


def test_an_aspect_names_what_is_beside_too() -> None:
    stack = new_stack()
    TrainingBucket(stack, "Bucket", purpose=BucketPurpose.MODELS, auto_delete=True)
    TrainingBucket(stack, "Mine", purpose=BucketPurpose.ACCESS_LOGS, bucket_name="my-logs")
    Aspects.of(stack).add(Naming(PREFIX))
    found = names(stack)
    assert any(name.startswith("CustomS3AutoDelete") for name in found)
    assert [text for text in found.values() if not text.startswith(PREFIX)] == ["my-logs"]


def test_without_names_cloudformation_makes_them_up() -> None:
    stack = new_stack()
    training(stack, None)
    given_names = {text for name, text in names(stack).items() if name != "Network8CF3AF43"}
    assert given_names == {None, "Stack/Network"}


def test_a_function_says_every_name() -> None:
    stack = new_stack()
    kinds = {"AWS::S3::Bucket": "acme-logs"}
    naming = Naming(by=lambda resource: kinds.get(resource.cfn_resource_type))
    TrainingBucket(stack, "Logs", purpose=BucketPurpose.ACCESS_LOGS, names=naming)
    TrainingNetwork(stack, "Network", zone="us-west-2a", names=naming)
    assert {text for text in names(stack).values() if text} == {"acme-logs", "Stack/Network"}


def test_tags_of_a_user_count_more() -> None:
    stack = new_stack()
    network = TrainingNetwork(stack, "Network", zone="us-west-2a", names=Naming(PREFIX))
    Tags.of(network.vpc).add("Name", "mine")
    assert "mine" in names(stack).values()


def test_a_name_that_aws_does_not_take_fails_the_synthesis_with_the_place() -> None:
    app = App()
    TrainingBucket(new_stack(app), "Logs", purpose=BucketPurpose.ACCESS_LOGS, names=Naming(by=lambda _: "Not_A_Bucket"))
    with pytest.raises(RuntimeError, match=r"Stack/Logs/.*AWS::S3::Bucket cannot be named 'Not_A_Bucket' by 'names'"):
        app.synth()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "'prefix' or 'by' must be given, and only one of them"),
        ({"prefix": "a-", "by": str}, "'prefix' or 'by' must be given, and only one of them"),
        ({"prefix": "Acme_"}, "'prefix' must be 1 to 30 lower-case letters, digits and hyphens"),
        ({"prefix": "a" * 31}, "'prefix' must be 1 to 30 lower-case letters"),
        ({"prefix": 7}, "'prefix' must be text, got 7"),
        ({"by": "acme"}, "'by' must be a function of a resource, got 'acme'"),
    ],
)
def test_a_convention_that_names_nothing_is_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Naming(**said)
    assert words in str(caught.value)


def test_a_prefix_alone_is_answered_with_the_class() -> None:
    with pytest.raises(ConfigurationError, match=r"'names' must be Naming\(…\), got 'acme-' \(str\)"):
        TrainingNetwork(new_stack(), "Network", zone="us-west-2a", names="acme-")


@given(
    prefix=st.from_regex(r"[a-z0-9][a-z0-9-]{0,29}", fullmatch=True).filter(
        lambda text: not text.startswith(("sg-", "xn--", "sthree-", "amzn-s3-demo-"))
    ),
    ids=st.lists(st.text("abcXYZ019-_. ", min_size=1, max_size=60), min_size=1, max_size=4),
    kind=st.sampled_from(sorted(_NAMED)),
)
def test_every_path_makes_a_name_that_aws_takes(prefix: str, ids: list[str], kind: str) -> None:
    class Node:
        path = "/".join(["Stack", *ids, "Resource"])

    class Resource:
        node, cfn_resource_type = Node, kind

    name = _conventional(prefix, Resource, ("111111111111", "us-west-2"))
    assert len(name) <= _NAMED[kind].longest
    assert re.fullmatch(_NAMED[kind].pattern, name)
    assert name != _conventional(prefix, Resource, ("111111111111", "us-east-1"))


# ---------------------------------------------------------------- sources
def test_the_longest_names_are_those_of_cloudformation_and_of_the_services() -> None:
    for kind, name in PROPERTIES.items():
        schema = cfn_lint.resource_schema(kind, "us-west-2")
        said = schema["properties"][name].get("maxLength")
        assert said in {None, _NAMED[kind].longest}
        assert f"/properties/{name}" in schema["createOnlyProperties"]  # another name is another resource


@pytest.mark.parametrize(
    ("service", "operation", "member", "kind"),
    [
        ("autoscaling", "CreateAutoScalingGroup", "AutoScalingGroupName", "AWS::AutoScaling::AutoScalingGroup"),
        ("iam", "CreateInstanceProfile", "InstanceProfileName", "AWS::IAM::InstanceProfile"),
        ("iam", "CreatePolicy", "PolicyName", "AWS::IAM::ManagedPolicy"),
        ("iam", "CreateRole", "RoleName", "AWS::IAM::Role"),
    ],
)
def test_limits_are_those_of_the_services(service: str, operation: str, member: str, kind: str) -> None:
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    said = model.input_shape.members[member].metadata
    assert said["max"] == _NAMED[kind].longest
    if service == "iam":
        assert said["pattern"] == _NAMED[kind].pattern


def test_a_type_that_is_named_has_the_option_in_cdk() -> None:
    for kind, where in _NAMED.items():
        if where.option:
            module = __import__(f"aws_cdk.aws_{kind.split('::')[1].lower()}", fromlist=["_"])
            assert hasattr(getattr(module, f"Cfn{kind.split('::')[2]}"), where.option)
            assert issubclass(getattr(module, f"Cfn{kind.split('::')[2]}"), CfnResource)


def test_a_name_that_fits_stays_and_a_longer_one_ends_with_a_hash() -> None:
    assert fitting("a" * 64, 64) == "a" * 64
    shortened = {fitting("a" * 64 + end, 64) for end in "bc"}
    assert len(shortened) == 2
    assert {len(name) for name in shortened} == {64}
    assert fitting(Aws.STACK_NAME * 4, 8) == Aws.STACK_NAME * 4
