"""What other services ask of EC2: subnets, security groups and what they let through."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.errors import ApiError

ALL_PROTOCOLS = "-1"
_TCP = ("tcp", "6", ALL_PROTOCOLS)


def subnets(region: str, ids: Sequence[str], code: str) -> list[dict[str, Any]]:
    """Return subnets, or answer with the error ``code`` when one does not exist."""
    return _described(lambda: client("ec2", region).describe_subnets(SubnetIds=list(ids))["Subnets"], code)


def security_groups(region: str, ids: Sequence[str], code: str) -> list[dict[str, Any]]:
    """Return security groups, or answer with the error ``code`` when one does not exist."""
    if not ids:
        return []
    return _described(
        lambda: client("ec2", region).describe_security_groups(GroupIds=list(ids))["SecurityGroups"], code
    )


def _described(look: Callable[[], list[dict[str, Any]]], code: str) -> list[dict[str, Any]]:
    try:
        return look()
    except ClientError as error:
        raise ApiError(code, str(error.response["Error"]["Message"])) from error


def lets_through(groups: Sequence[Mapping[str, Any]], port: int) -> bool:
    """Return whether ``groups`` together let TCP ``port`` in and out."""
    return all(
        any(_covers(rule, port) for group in groups for rule in group[side])
        for side in ("IpPermissions", "IpPermissionsEgress")
    )


def _covers(rule: Mapping[str, Any], port: int) -> bool:
    if rule["IpProtocol"] not in _TCP:
        return False
    ports = range(rule.get("FromPort", 0), rule.get("ToPort", 65535) + 1)
    return rule["IpProtocol"] == ALL_PROTOCOLS or port in ports


def trusts_itself(group: Mapping[str, Any]) -> bool:
    """Return whether a security group lets all traffic in from itself and out to itself, as EFA needs."""
    return all(
        any(
            rule["IpProtocol"] == ALL_PROTOCOLS and pair["GroupId"] == group["GroupId"]
            for rule in group[side]
            for pair in rule.get("UserIdGroupPairs", [])
        )
        for side in ("IpPermissions", "IpPermissionsEgress")
    )
