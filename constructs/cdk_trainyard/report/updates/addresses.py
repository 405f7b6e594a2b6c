"""Subnets that cannot be made while those of before have their addresses.

CloudFormation makes what is new before it deletes what is gone. Sources: AWS CloudFormation User Guide, "Update
behaviors of stack resources"; Amazon EC2 API Reference, CreateSubnet ("the CIDR blocks of the subnets must not
overlap") and error code InvalidSubnet.Conflict; aws/aws-cdk issue 6683. Read 2026-11-28.
"""

from collections.abc import Mapping
from ipaddress import IPv4Network, ip_network
from typing import Any, Final

from cdk_trainyard.report.nested import properties_of
from cdk_trainyard.report.replacement import marked, resources

Template = Mapping[str, Any]
_OVERLAPS: Final = (
    "EC2 makes no subnet over the addresses of another, and CloudFormation makes the new one before it deletes the "
    "former, {}: give it addresses outside those, or remove the former in one deployment, with all that stands in it, "
    "and add the new one in the next"
)


def overlapping(
    old: Mapping[str, Template], new: Mapping[str, Template], found: Mapping[tuple[str, str], list[str]]
) -> dict[tuple[str, str], str]:
    """Return why subnets cannot be made, and what to do: stack and name to a sentence.

    Args:
        old: Stack to its template, before.
        new: Stack to its template, after.
        found: What is replaced.
    """
    refused: dict[tuple[str, str], str] = {}
    for stack, template in new.items():
        before = _subnets(old.get(stack, {}))
        for name, subnet in _subnets(template).items():
            if name in before and (stack, name) not in found:
                continue
            vpc = marked(subnet.get("VpcId"), stack, found, {})  # another one where its VPC is replaced
            others = [
                f"{other} ({each['CidrBlock']})"
                for other, each in before.items()
                if each.get("VpcId") == vpc and _overlap(each.get("CidrBlock"), subnet.get("CidrBlock"))
            ]
            if others:
                refused[stack, name] = _OVERLAPS.format(", ".join(others))
    return refused


def _subnets(template: Template) -> dict[str, Template]:
    return {
        name: properties_of(body) for name, body in resources(template).items() if body["Type"] == "AWS::EC2::Subnet"
    }


def _overlap(one: Any, other: Any) -> bool:
    networks = _network(one), _network(other)
    return networks[0] is not None and networks[1] is not None and networks[0].overlaps(networks[1])


def _network(value: Any) -> IPv4Network | None:
    """Return a range of addresses; None of what only a deployment knows."""
    try:
        network = ip_network(value, strict=False) if isinstance(value, str) else None
    except ValueError:
        return None
    return network if isinstance(network, IPv4Network) else None
