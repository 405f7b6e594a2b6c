"""What the reviewers' tools are asked about: what this room builds."""

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.fleet import (
    EfaLaunchTemplate,
    TrainingImage,
)
from cdk_trainyard.instances import AcceleratorKind
from cdk_trainyard.network import EfaBackend
from cdk_trainyard.storage import Mount
from tests.fleet.parts import (
    capacity_block,
    existing_lustre,
    mixed_spot,
    new_fleet,
    new_master,
    new_stack,
    shared_group,
)
from tests.parts import existing_network
from tests.review.tools import Room


def fleet_with_master(stack: Stack) -> None:
    new_master(stack, new_fleet(stack, mounts=[Mount(file_system=existing_lustre(stack, efa=True))]))


def image(stack: Stack) -> None:
    TrainingImage(
        stack,
        "Image",
        base="ubuntu-24.04",
        network=existing_network(stack),
        accelerator=AcceleratorKind.GPU,
        families=["p3dn"],
        nvidia_branch="580",
        while_deploying=True,
    )


def image_later(stack: Stack) -> None:
    TrainingImage(stack, "Image", base="ubuntu-24.04", network=existing_network(stack))


def public_template(stack: Stack) -> None:
    group = shared_group(stack)
    ec2.CfnSecurityGroupIngress(
        stack, "Inside", group_id=group.security_group_id, ip_protocol="tcp", from_port=8888, to_port=8888,
        cidr_ip="10.0.0.0/8", description="notebooks",
    )  # fmt: skip
    EfaLaunchTemplate(
        stack,
        "Template",
        instance_type="g5.48xlarge",
        security_group=group,
        backend=EfaBackend.LEGACY,
        public_address=True,
    )


ROOM = Room(
    lambda app: new_stack(app=app),
    [fleet_with_master, capacity_block, mixed_spot, image, image_later, public_template],
)
