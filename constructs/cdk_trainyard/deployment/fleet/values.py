"""The fleet section as the values that the constructs take; the rules are asked with the same values."""

from collections.abc import Callable
from typing import Final

from cdk_trainyard.deployment.fleet.section import FleetSection, ImageBuildSection, NodeImageSection
from cdk_trainyard.fleet import EfaInstaller, FleetCapacity, FleetPlacement, FleetSize, NodeImage

FindImage = Callable[[ImageBuildSection], NodeImage]
"""Finds the image that is built for a section."""

_PLACEMENTS: Final = {
    None: lambda: None,
    "cluster": FleetPlacement.cluster,
    "anywhere": FleetPlacement.anywhere,
}
_USER: Final = "ubuntu"


def size(section: FleetSection) -> FleetSize:
    """Return how many nodes there are; nobody where the file does not say, which a rule refuses."""
    if section.count is not None:
        return FleetSize.fixed(section.count)
    return FleetSize.between(section.min_count or 0, section.max_count or 0)


def capacity(section: FleetSection) -> FleetCapacity:
    """Return where the nodes come from."""
    match section.capacity:
        case "spot":
            return FleetCapacity.spot()
        case "capacity-block":
            return FleetCapacity.capacity_block(
                section.reservation_id or "",
                instances=section.reserved_instances,
                starts=section.starts,
                ends=section.ends,
            )
    if section.reservation_id is None and section.reservation_group_arn is None:
        return FleetCapacity.on_demand()
    return FleetCapacity.odcr(section.reservation_id, group_arn=section.reservation_group_arn)


def placement(section: FleetSection) -> FleetPlacement | None:
    """Return how close together the nodes stand, or None when nothing is said."""
    return _PLACEMENTS[section.placement]()


def image(section: NodeImageSection, find_built: FindImage) -> NodeImage:
    """Return a machine image.

    Args:
        section: What the file says of it.
        find_built: Finds the image that is built here.

    Raises:
        ConfigurationError: A Deep Learning AMI that is not known.
    """
    user = _USER if section.user is None else section.user
    if section.build is not None:
        return find_built(section.build)
    if section.dlami is not None:
        return NodeImage.dlami(section.dlami)
    if section.parameter is not None:
        return NodeImage.from_parameter(section.parameter, architecture=section.architecture, user=user)
    return NodeImage.ami(section.ami_id or "", architecture=section.architecture, user=user)


def efa_installer(section: ImageBuildSection) -> EfaInstaller | None:
    """Return the EFA installer, or None when nothing is said about it."""
    said = section.efa_installer
    return EfaInstaller(version=said.version, sha256=said.sha256) if said else None
