"""EC2's placement groups, which moto lacks."""

from typing import Any
from uuid import uuid4

from moto.ec2.responses import EC2Response

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.local.state import Store

_GROUPS: Store[dict[str, dict[str, Any]]] = Store(lambda _account, _region: {})


def _tags(request: Request) -> list[dict[str, str]]:
    found = request.get("TagSpecifications", [])
    return [tag for row in found if row.get("ResourceType") == "placement-group" for tag in row["Tags"]]


def create_placement_group(request: Request) -> dict[str, Any]:
    """Create a placement group."""
    groups, name = _GROUPS.of(request.account, request.region), request["GroupName"]
    if name in groups:
        raise ApiError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
    groups[name] = {
        "GroupName": name,
        "GroupId": f"pg-{uuid4().hex[:17]}",
        "GroupArn": request.arn("ec2", f"placement-group/{name}"),
        "State": "available",
        "Strategy": request.get("Strategy", "cluster"),
        "PartitionCount": request.get("PartitionCount"),
        "SpreadLevel": request.get("SpreadLevel"),
        "Tags": _tags(request),
    }
    return {"PlacementGroup": groups[name]}


def describe_placement_groups(request: Request) -> dict[str, Any]:
    """Return placement groups."""
    groups = _GROUPS.of(request.account, request.region)
    wanted = request.get("GroupNames", [])
    for name in wanted:
        _known(groups, name)
    ids = request.get("GroupIds", [])
    found = [group for name, group in groups.items() if name in wanted or not wanted]
    return {"PlacementGroups": [group for group in found if not ids or group["GroupId"] in ids]}


def delete_placement_group(request: Request) -> dict[str, Any]:
    """Delete a placement group."""
    groups, name = _GROUPS.of(request.account, request.region), request["GroupName"]
    _known(groups, name)
    del groups[name]
    return {}


def _known(groups: dict[str, Any], name: str) -> None:
    if name not in groups:
        raise ApiError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")


def extend() -> None:
    """Give moto's EC2 what it lacks."""
    operations = (create_placement_group, describe_placement_groups, delete_placement_group)
    install(EC2Response, {operation.__name__: operation for operation in operations})
