"""Small legal parts of fleets, for the tests to change one thing of."""

from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.fleet import EfaFleet, FleetPlacement, MasterNode, NodeImage
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.network import EfaSecurityGroup
from cdk_trainyard.storage import Lustre, LustreFileSystem
from tests.parts import existing_network

ACCOUNT = "111111111111"
REGION = "us-west-2"
ZONE = "usw2-az4"
GPU_IMAGE = "base-oss-nvidia-driver-gpu-ubuntu-22.04"


def new_stack(name: str = "Stack", app: App | None = None) -> Stack:
    """Return an empty stack of a known account and Region."""
    return Stack(app or App(), name, env=Environment(account=ACCOUNT, region=REGION))


def shared_group(stack: Stack, construct_id: str = "Efa") -> EfaSecurityGroup:
    """Return an existing security group with its self rules."""
    number = construct_id.lower().encode().hex()[:8]
    group = ec2.SecurityGroup.from_security_group_id(stack, f"{construct_id}Existing", f"sg-{number:0<8}")
    return EfaSecurityGroup.from_security_group(stack, construct_id, group, self_rules_exist=True)


def existing_lustre(stack: Stack, *, zone: str | None = ZONE, efa: bool = False) -> Lustre:
    """Return a file system that exists."""
    return LustreFileSystem.from_attributes(
        stack,
        "Lustre",
        file_system_id="fs-01234567",
        dns_name="fs-01234567.fsx.us-west-2.example",
        mount_name="abcdefgh",
        security_group=shared_group(stack, "Servers"),
        zone=zone,
        efa_enabled=efa,
    )


def bucket(stack: Stack) -> s3.IBucket:
    """Return an existing bucket."""
    return s3.Bucket.from_bucket_name(stack, "Bucket", "some-scripts")


def new_fleet(stack: Stack, **changes: Any) -> EfaFleet:
    """Return a legal fleet with changes."""
    one: dict[str, Any] = {} if "instance_types" in changes else {"instance_type": "p4d.24xlarge"}
    one |= {} if "min_count" in changes else {"count": 2}
    settings: dict[str, Any] = {
        "image": NodeImage(dlami=GPU_IMAGE),
        **one,
        **changes,
    }
    settings.setdefault("network", None)
    settings["network"] = settings["network"] or existing_network(stack)
    return EfaFleet(stack, "Fleet", scripts_bucket=bucket(stack), **settings)


def capacity_block(stack: Stack) -> EfaFleet:
    """Return a fleet of a capacity block."""
    return new_fleet(
        stack,
        instance_type="p5.48xlarge",
        count=16,
        capacity=UsageClass.CAPACITY_BLOCK,
        reservation_id="cr-0123456789abcdef0",
        reserved_instances=16,
    )


def mixed_spot(stack: Stack) -> EfaFleet:
    """Return a fleet of two types, bought on the spot market."""
    return new_fleet(
        stack,
        instance_types=["p5.48xlarge", "p4d.24xlarge"],
        capacity=UsageClass.SPOT,
        placement=FleetPlacement.ANYWHERE,
        min_count=0,
        max_count=4,
    )


def new_master(stack: Stack, fleet: EfaFleet, **changes: Any) -> MasterNode:
    """Return a master with changes."""
    return MasterNode(stack, "Master", fleet=fleet, **changes)


def resources(stack: Stack, kind: str) -> dict[str, Any]:
    """Return logical id to the resource, of every resource of a type."""
    return dict(Template.from_stack(stack).find_resources(kind))


def only(stack: Stack, kind: str) -> dict[str, Any]:
    """Return the properties of the one resource of a type."""
    (resource,) = resources(stack, kind).values()
    return dict(resource["Properties"])


def warnings(stack: Stack) -> list[str]:
    """Return the warnings of this library in a stack."""
    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    texts = [str(entry.entry.data) for entry in found]
    return [text for text in texts if "@cdk-trainyard/" in text]
