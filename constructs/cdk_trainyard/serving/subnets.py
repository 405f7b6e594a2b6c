"""What the subnets of a service are known to be, in a constructor: objects of CDK may not have been told."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network
from typing import cast

from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.network.rules import parse_cidr
from cdk_trainyard.problems import Problem
from cdk_trainyard.serving.rules_place import Addresses, address_problems
from cdk_trainyard.serving.rules_service import most_hosts_at_once
from cdk_trainyard.serving.spec_service import ServiceSpec
from cdk_trainyard.surroundings import known
from cdk_trainyard.tokens import Unknown


def zone_of(subnet: ec2.ISubnet) -> str:
    """Return the zone of a subnet."""
    return known(lambda: subnet.availability_zone) or cast("str", Unknown())


def block_of(subnet: ec2.ISubnet) -> IPv4Network | None:
    """Return the block of a subnet; None when it is not known."""
    return parse_cidr(known(lambda: subnet.ipv4_cidr_block))


def room_problems(subnets: Sequence[ec2.ISubnet], spec: ServiceSpec, *, doors: int = 0) -> Iterator[Problem]:
    """Check that subnets have the addresses that a service takes.

    Args:
        subnets: Where its hosts are.
        spec: The service.
        doors: Subnets among them that a load balancer stands in.
    """
    addresses = Addresses(hosts=most_hosts_at_once(spec.hosts, spec.scaling) or 0, doors=doors)
    return address_problems(("subnets",), [block_of(each) for each in subnets], addresses, whose="the service")
