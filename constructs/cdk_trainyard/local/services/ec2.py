"""EC2's placement groups, which moto lacks."""

from typing import Any
from uuid import uuid4

from moto.ec2.models import ec2_backends
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
        known_group(request.account, request.region, name)
    ids = request.get("GroupIds", [])
    found = [group for name, group in groups.items() if name in wanted or not wanted]
    return {"PlacementGroups": [group for group in found if not ids or group["GroupId"] in ids]}


def delete_placement_group(request: Request) -> dict[str, Any]:
    """Delete a placement group in which no instance is left."""
    name = request["GroupName"]
    known_group(request.account, request.region, name)
    instances = ec2_backends[request.account][request.region].all_instances()
    if any(each.placement.group_name == name and each.state != "terminated" for each in instances):
        raise ApiError("InvalidPlacementGroup.InUse", f"The Placement Group '{name}' is in use and may not be deleted.")
    del _GROUPS.of(request.account, request.region)[name]
    return {}


def known_group(account: str, region: str, name: str) -> None:
    """Refuse the name of a placement group that does not exist.

    Raises:
        ApiError: There is none of this name.
    """
    if name not in _GROUPS.of(account, region):
        raise ApiError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")


def extend() -> None:
    """Give moto's EC2 what it lacks."""
    operations = (create_placement_group, describe_placement_groups, delete_placement_group)
    install(EC2Response, {operation.__name__: operation for operation in operations})
