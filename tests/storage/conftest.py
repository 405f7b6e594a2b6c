"""A place for file systems that costs nothing to synthesize: a network that exists already."""

from dataclasses import dataclass

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.network import EfaSecurityGroup, Network, TrainingNetwork

REGION = "us-west-2"


@dataclass(frozen=True)
class Place:
    """A stack with a network and a security group that stand in no template."""

    stack: Stack
    network: Network
    security_group: EfaSecurityGroup


def make_place(app: App | None = None, *, region: str | None = REGION) -> Place:
    stack = Stack(app or App(), "Stack", env=Environment(account="111111111111", region=region) if region else None)
    zone = f"{region or REGION}a"
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=[zone], vpc_cidr_block="10.1.0.0/16"
    )
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, "Subnet", subnet_id="subnet-0123456789abcdef0", availability_zone=zone
    )
    network = TrainingNetwork.from_existing(
        stack, "Network", vpc=vpc, accelerator_subnet=subnet, zone=zone, accelerator_cidr="10.1.128.0/17"
    )
    group = ec2.SecurityGroup.from_security_group_id(stack, "ImportedGroup", "sg-0123456789abcdef0")
    efa = EfaSecurityGroup.from_security_group(stack, "Group", group, self_rules_exist=True)
    return Place(stack=stack, network=network, security_group=efa)


def service_network(place: Place, *zones: str) -> Network:
    """Return the same network with existing service subnets, one in each zone."""
    subnets = [
        ec2.Subnet.from_subnet_attributes(
            place.stack, f"Service{number}", subnet_id=f"subnet-0123456789abcdef{number + 1}", availability_zone=zone
        )
        for number, zone in enumerate(zones)
    ]
    return TrainingNetwork.from_existing(
        place.stack,
        "ServiceNetwork",
        vpc=place.network.vpc,
        accelerator_subnet=place.network.accelerator_subnet,
        zone=place.network.zone,
        service_subnets=subnets,
    )


@pytest.fixture
def place() -> Place:
    return make_place()


@pytest.fixture
def stack(place: Place) -> Stack:
    return place.stack
