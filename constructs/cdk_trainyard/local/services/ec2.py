"""EC2's placement groups, which moto lacks, and ids of what exists already, which moto would make up."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from pickle import Pickler, Unpickler
from types import ModuleType
from typing import Any
from uuid import uuid4

from moto.ec2.exceptions import EC2ClientError, InvalidVPCIdError
from moto.ec2.models import (
    ec2_backends,
    internet_gateways,
    nat_gateways,
    route_tables,
    security_groups,
    subnets,
    vpcs,
)
from moto.ec2.models.amis import AmiBackend
from moto.ec2.models.security_groups import SecurityGroup, SecurityGroupBackend
from moto.ec2.responses import EC2Response

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install, replace
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


_MAKERS: Mapping[str, tuple[ModuleType, str]] = {
    "igw": (internet_gateways, "random_internet_gateway_id"),
    "nat": (nat_gateways, "random_nat_gateway_id"),
    "rtb": (route_tables, "random_route_table_id"),
    "sg": (security_groups, "random_security_group_id"),
    "subnet": (subnets, "random_subnet_id"),
    "vpc": (vpcs, "random_vpc_id"),
}
"""Where moto makes up ids, by their prefix."""
_chosen: ContextVar[str] = ContextVar("_chosen", default="")


@contextmanager
def choosing(identifier: str) -> Iterator[None]:
    """Have what this thread makes next in moto's backend of EC2 take an id, if it is of its kind."""
    token = _chosen.set(identifier)
    try:
        yield
    finally:
        _chosen.reset(token)


def _or_chosen(make: Callable[[], str], prefix: str) -> Callable[[], str]:
    def made() -> str:
        chosen = _chosen.get()
        return chosen if chosen.startswith(f"{prefix}-") else make()

    return made


_make_group = SecurityGroupBackend.create_security_group


def _group(
    self: Any, name: str, description: str, vpc_id: str | None = None, *more: Any, **named: Any
) -> SecurityGroup:
    """Create a security group in a VPC that exists, which moto does not look for."""
    if vpc_id:
        self.get_vpc(vpc_id)
    return _make_group(self, name, description, vpc_id, *more, **named)


def _no_vpc(self: InvalidVPCIdError, vpc_id: str | set[str]) -> None:
    """Say it in EC2's words."""
    named = ", ".join(sorted(vpc_id)) if isinstance(vpc_id, set) else vpc_id
    EC2ClientError.__init__(self, "InvalidVpcID.NotFound", f"The vpc ID '{named}' does not exist")


_images: dict[str, bytes] = {}
"""The images that a Region has from the beginning, with their snapshots; they are moto's, made once for copies."""
_make_images = AmiBackend._load_amis  # noqa: SLF001  what is made once here


def _load_images(self: Any) -> None:
    """Give a Region its images, as `AmiBackend._load_amis` does in ten times the time."""
    written = _images.get(self.region_name)
    if written is None:
        _make_images(self)
        _images[self.region_name] = _written((self.amis, self.snapshots), self)
    else:
        amis, snapshots = _read(written, self)
        self.amis.update(amis)
        self.snapshots.update(snapshots)


def _written(value: Any, backend: Any) -> bytes:
    """Write something that refers to a backend, without the backend."""
    stream = BytesIO()
    pickler = Pickler(stream)
    pickler.persistent_id = lambda each: "" if each is backend else None  # type: ignore[method-assign]
    pickler.dump(value)
    return stream.getvalue()


def _read(written: bytes, backend: Any) -> Any:
    """Read what was written, which refers to this backend."""
    unpickler = Unpickler(BytesIO(written))  # noqa: S301  written above
    unpickler.persistent_load = lambda _id: backend  # type: ignore[method-assign]
    return unpickler.load()


def extend() -> None:
    """Give moto's EC2 what it lacks."""
    replace(AmiBackend, {"_load_amis": _load_images})
    replace(SecurityGroupBackend, {"create_security_group": _group})
    replace(InvalidVPCIdError, {"__init__": _no_vpc})
    for prefix, (module, name) in _MAKERS.items():
        setattr(module, name, _or_chosen(getattr(module, name), prefix))
    operations = (create_placement_group, describe_placement_groups, delete_placement_group)
    install(EC2Response, {operation.__name__: operation for operation in operations})
