"""Instances of EC2 as nodes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.account import Answer, Call
from cdk_trainyard.operations.protocol import Node

Row = Mapping[str, Any]
_ALIVE: Final = ["pending", "running", "shutting-down", "stopping", "stopped"]
_BATCH: Final = 100
"""How many instances are rebooted by one call; EC2 publishes no bound."""
_PAGE: Final = 1000
"""The most that DescribeInstances tells at once."""


def tagged(key: str, values: Sequence[str]) -> Call:
    """Return the call that tells of the instances with a tag that are not terminated.

    Args:
        key: The tag.
        values: Its values.
    """
    tag = {"Name": f"tag:{key}", "Values": list(values)}
    alive = {"Name": "instance-state-name", "Values": _ALIVE}
    return Call("ec2", "DescribeInstances", {"Filters": [tag, alive], "MaxResults": _PAGE})


def single(ids: Sequence[str]) -> Call:
    """Return the call that tells of instances by their ids, as far as they are there.

    Args:
        ids: The ids.
    """
    return Call("ec2", "DescribeInstances", {"Filters": [{"Name": "instance-id", "Values": list(ids)}]})


def reboot(nodes: Sequence[Node]) -> list[Call]:
    """Return the calls that reboot instances.

    Args:
        nodes: The nodes.
    """
    return Call("ec2", "RebootInstances", {"InstanceIds": [node.id for node in nodes]}).split("InstanceIds", _BATCH)


def described(answer: Answer) -> Iterator[Row]:
    """Yield the instances of an answer.

    Args:
        answer: What EC2 said.
    """
    for reservation in answer.items("Reservations"):
        yield from reservation["Instances"]


def tag(row: Row, key: str) -> str:
    """Return a tag's value; empty: it has no such tag.

    Args:
        row: Whatever has tags.
        key: The tag.
    """
    return next((str(each["Value"]) for each in row.get("Tags", []) if each["Key"] == key), "")


def state(row: Row) -> str:
    """Return the state of an instance: ``running``.

    Args:
        row: The instance.
    """
    return str(row.get("State", {}).get("Name", ""))


def node(row: Row, group: str, **more: Any) -> Node:
    """Return an instance as a node.

    Args:
        row: The instance, as EC2 describes it.
        group: The node's group.
        more: What is known otherwise.
    """
    known: dict[str, Any] = {
        "id": row.get("InstanceId", ""),
        "group": group,
        "type": row.get("InstanceType", ""),
        "state": state(row),
        "address": row.get("PrivateIpAddress", ""),
        "since": row.get("LaunchTime"),
        "zone": row.get("Placement", {}).get("AvailabilityZone", ""),
        "target": row.get("InstanceId", "") if state(row) == "running" else "",
    }
    return Node(**(known | more))
