"""EC2's launches: everything that a request and a launch template say of an instance; moto reads a part of it.

Instances get every network interface with its card and kind, their placement group, their instance profile, how they
are bought and how their metadata are reached. Auto Scaling launches the same way.
"""

from base64 import b64decode
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import InvalidSecurityGroupNotFoundError
from moto.ec2.models.elastic_network_interfaces import Attachment, NetworkInterface
from moto.ec2.models.instances import Instance, InstanceBackend, Reservation
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateVersion
from moto.ec2.responses.instances import InstanceResponse
from moto.ec2.utils import convert_tag_spec, filter_iam_instance_profiles, parse_user_data

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import plain, remember, replace
from cdk_trainyard.local.services.ec2 import known_group
from cdk_trainyard.local.services.ssm import find_parameter

_MOST_USER_DATA = 16384
_BY_PARAMETER, _IMAGE_TYPE = "resolve:ssm:", "aws:ec2:image"
_ADDRESSLESS = "efa-only"
_INTERFACES_OF_A_CARD = 100
# What RunInstances takes and moto drops; a launch template says the same in the same words.
_KEPT = ("CapacityReservationSpecification", "CpuOptions", "InstanceMarketOptions", "Placement")
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_asked: ContextVar[Mapping[str, Any]] = ContextVar("what RunInstances asks for", default=_NOTHING)
_Backend = Any

_run = InstanceBackend.run_instances
_respond = InstanceResponse.run_instances
_attachment = Attachment.__init__
_version = LaunchTemplate.create_version


def _respond_to_all(response: InstanceResponse) -> ActionResult:
    """Answer RunInstances, and have the launch see what moto does not pass on."""
    asked = {name: plain(response._get_param(name, {})) for name in _KEPT}  # noqa: SLF001  moto's way to read requests
    token = _asked.set({name: value for name, value in asked.items() if value})
    try:
        return _respond(response)
    finally:
        _asked.reset(token)


def _launch(
    backend: _Backend, image_id: str | None, count: int, user_data: Any, names: list[str], **more: Any
) -> Reservation:
    """Launch ``count`` instances as the request and its launch template want them."""
    source = more.get("launch_template")
    template = plain(backend._get_template_from_args(source).data) if source else {}  # noqa: SLF001  moto's way, too
    wanted = {**template, **_asked.get()}
    interfaces = _interfaces(more.pop("nics", None) or template.get("NetworkInterfaces", []), more.get("subnet_id"))
    _check(
        backend,
        {**wanted, "KeyName": more.get("key_name") or template.get("KeyName")},
        interfaces,
        user_data or template.get("UserData"),
    )
    if interfaces:
        more |= {"nics": interfaces[:1], "subnet_id": interfaces[0].get("SubnetId")}
    if len(interfaces) > 1:
        more["associate_public_ip"] = False
    reservation: Reservation = _run(
        backend,
        _image(backend, image_id or template.get("ImageId") or ""),
        count,
        user_data,
        names,
        **{**more, **_switches(more, template)},
    )
    for instance in reservation.instances:
        _equip(instance, interfaces)
        _place(instance, wanted)
        _entitle(backend, instance, more, template)
        _tag(backend, instance, template)
    return reservation


def _switches(more: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request says, or else its template."""
    monitored = more.get("monitoring_state") == "enabled" or template.get("Monitoring", {}).get("Enabled")
    return {
        "metadata_options": {**template.get("MetadataOptions", {}), **plain(more.get("metadata_options") or {})},
        "monitoring_state": "enabled" if monitored else "disabled",
        "ebs_optimized": more.get("ebs_optimized") or template.get("EbsOptimized", False),
    }


def _check(backend: _Backend, wanted: Mapping[str, Any], interfaces: list[dict[str, Any]], script: Any) -> None:
    """Refuse what names something that does not exist, before anything is launched."""
    if group := wanted.get("Placement", {}).get("GroupName"):
        known_group(backend.account_id, backend.region_name, group)
    if (key := wanted.get("KeyName")) and key not in {pair.key_name for pair in backend.key_pairs.values()}:
        raise ApiError("InvalidKeyPair.NotFound", f"The key pair '{key}' does not exist")
    if profile := wanted.get("IamInstanceProfile"):
        filter_iam_instance_profiles(
            backend.account_id,
            partition=backend.partition,
            iam_instance_profile_arn=profile.get("Arn"),
            iam_instance_profile_name=profile.get("Name"),
        )
    for row in interfaces:
        if "SubnetId" in row:
            backend.get_subnet(row["SubnetId"])
        for group_id in row.get("Groups", []):
            if backend.get_security_group_from_id(group_id) is None:
                raise InvalidSecurityGroupNotFoundError(group_id)
    if script is not None and len(b64decode(script.as_bytes())) > _MOST_USER_DATA:
        raise ApiError("InvalidParameterValue", f"User data is limited to {_MOST_USER_DATA} bytes")


def _image(backend: _Backend, image_id: str) -> str:
    """Return the id of an AMI; ``resolve:ssm:NAME`` is the one that a parameter holds now.

    EC2 reads the parameter for each launch, and for each version of a launch template: "The following aliases are
    invalid" is what it says of one that does not exist, "Unsupported data type" of another type, both as
    SsmInvalidParameter (aws/aws-cdk issue 26712, 2023-08-10; kent8192/reinhardt-web issue 2023, 2026-03-08).
    """
    if not image_id.startswith(_BY_PARAMETER):
        return image_id
    name = image_id.removeprefix(_BY_PARAMETER).split(":")[0]
    found = find_parameter(backend.account_id, backend.region_name, name)
    if found is None:
        raise ApiError("SsmInvalidParameter", f"The following aliases are invalid: {name}")
    if found.data_type != _IMAGE_TYPE:
        message = f"Unsupported data type. The following parameter data types are supported: {_IMAGE_TYPE}"
        raise ApiError("SsmInvalidParameter", message)
    return str(found.value)


def check_image(backend: _Backend, template: Mapping[str, str]) -> None:
    """Refuse a launch template whose image is a parameter that does not exist any more.

    Args:
        backend: moto's EC2.
        template: Its id or name, and its version.
    """
    _image(backend, plain(backend._get_template_from_args(template).data).get("ImageId") or "")  # noqa: SLF001


# ---------------------------------------------------------------- network interfaces
def _interfaces(rows: list[Any], subnet_id: str | None) -> list[dict[str, Any]]:
    """Return network interfaces, the primary one first."""
    if len(rows) > 1 and any(row.get("AssociatePublicIpAddress") in (True, "true") for row in rows):
        message = "The associatePublicIPAddress parameter cannot be specified when launching with multiple interfaces."
        raise ApiError("InvalidParameterCombination", message)
    there = {"SubnetId": subnet_id} if subnet_id else {}
    return sorted(({"DeleteOnTermination": True, **there, **plain(row)} for row in rows), key=_position)


def _position(row: Mapping[str, Any]) -> int:
    return int(row.get("NetworkCardIndex", 0)) * _INTERFACES_OF_A_CARD + int(row.get("DeviceIndex", 0))


def _equip(instance: Instance, interfaces: list[dict[str, Any]]) -> None:
    """Give ``instance`` its interfaces; moto has made the primary one, and keeps one for each device index."""
    primary = instance.nics[0]
    for row in interfaces[1:]:
        _describe(_attach(instance, row), row)
    if interfaces:
        _describe(primary, interfaces[0])
    else:
        primary.delete_on_termination = True
    instance.security_groups = instance.security_groups or list(primary._group_set)  # noqa: SLF001


def _attach(instance: Instance, row: Mapping[str, Any]) -> NetworkInterface:
    subnet = instance.ec2_backend.get_subnet(row.get("SubnetId") or instance.subnet_id)
    address = None if row.get("InterfaceType") == _ADDRESSLESS else subnet.get_available_subnet_ip(instance)
    made: NetworkInterface = instance.ec2_backend.create_network_interface(
        subnet,
        address,
        group_ids=list(row.get("Groups", [])),
        description=row.get("Description"),
        delete_on_termination=row["DeleteOnTermination"] in (True, "true"),
    )
    if address is None:
        remember(made, {"private_ip_address": None, "private_ip_addresses": [], "private_dns_name": None})
    instance.attach_eni(made, _position(row))
    made.device_index = int(row.get("DeviceIndex", 0))
    return made


def _describe(interface: NetworkInterface, row: Mapping[str, Any]) -> None:
    interface.interface_type = row.get("InterfaceType", "interface")
    remember(interface, {"network_card_index": int(row.get("NetworkCardIndex", 0))})


def _attach_to_card(attachment: Attachment, interface: NetworkInterface) -> None:
    _attachment(attachment, interface)
    attachment.network_card_index = getattr(interface, "network_card_index", 0)


def _groups(interface: NetworkInterface) -> list[Any]:
    """Return the security groups of an interface: its own; the instance's are those of the primary one."""
    if interface.instance and interface.device_index == 0 and interface.instance.security_groups:
        return list(interface.instance.security_groups)
    return list(interface._group_set)  # noqa: SLF001  where moto keeps them


# ---------------------------------------------------------------- the rest
def _place(instance: Instance, wanted: Mapping[str, Any]) -> None:
    placement = wanted.get("Placement", {})
    instance.placement.group_name = placement.get("GroupName", "")
    instance.placement.tenancy = placement.get("Tenancy", "default")
    if market := wanted.get("InstanceMarketOptions", {}).get("MarketType"):
        instance.lifecycle = market
    reservation = wanted.get("CapacityReservationSpecification", {})
    target = reservation.get("CapacityReservationTarget", {})
    told = {
        "capacity_reservation_specification": reservation,
        "capacity_reservation_id": target.get("CapacityReservationId"),
        "cpu_options": wanted.get("CpuOptions"),
    }
    remember(instance, {attribute: value for attribute, value in told.items() if value})


def _entitle(backend: _Backend, instance: Instance, more: Mapping[str, Any], template: Mapping[str, Any]) -> None:
    """Associate the template's instance profile, unless the request names one; moto does that itself."""
    profile = template.get("IamInstanceProfile", {})
    if not profile or more.get("iam_instance_profile_name") or more.get("iam_instance_profile_arn"):
        return
    backend.associate_iam_instance_profile(
        instance_id=instance.id,
        iam_instance_profile_name=profile.get("Name"),
        iam_instance_profile_arn=profile.get("Arn"),
    )


def _tag(backend: _Backend, instance: Instance, template: Mapping[str, Any]) -> None:
    """Tag volumes and interfaces as the template wants; moto tags instances."""
    tags = convert_tag_spec(template.get("TagSpecifications", []))
    volumes = [device.volume_id for _, device in instance.get_block_device_mapping]
    for volume in backend.describe_volumes(volume_ids=volumes) if volumes else []:
        volume.add_tags(tags.get("volume", {}))
    for interface in instance.nics.values():
        interface.add_tags(tags.get("network-interface", {}))


def _keep_version(template: LaunchTemplate, data: dict[str, Any], description: str) -> LaunchTemplateVersion:
    """Keep a version whose image there is; moto reads the user data of the first one only."""
    _image(template.ec2_backend, data.get("ImageId") or "")
    script = data.get("UserData")
    parsed = {"UserData": parse_user_data(script)} if isinstance(script, str) else {}
    return _version(template, {**data, **parsed}, description)


def extend() -> None:
    """Have moto's EC2 launch all that it is asked for."""
    replace(InstanceBackend, {"run_instances": _launch})
    replace(InstanceResponse, {"run_instances": _respond_to_all})
    replace(Attachment, {"__init__": _attach_to_card})
    replace(NetworkInterface, {"group_set": property(_groups)})
    replace(LaunchTemplate, {"create_version": _keep_version})
