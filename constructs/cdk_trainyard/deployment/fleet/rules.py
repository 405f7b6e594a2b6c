"""What the rules of a fleet say of its section, and what only a file can get wrong.

Whether the nodes fit into their subnet is known when the network is made; the fleet says it then.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, cast

from cdk_trainyard.deployment._locate import quoted
from cdk_trainyard.deployment.fleet import values
from cdk_trainyard.deployment.fleet.section import FleetSection, ImageBuildSection, MasterSection, NodeImageSection
from cdk_trainyard.deployment.storage import ExistingLustreSection, LustreSection, OpenZfsSection
from cdk_trainyard.fleet import FleetCapacity, FleetPlacement, FleetSize, NodeImage
from cdk_trainyard.fleet.checks import everything_wrong
from cdk_trainyard.fleet.resolved import ResolvedFleet, ResolvedTemplate, find_types
from cdk_trainyard.fleet.rules_image import dlami_problems, master_problems
from cdk_trainyard.fleet.rules_template import template_problems
from cdk_trainyard.fleet.rules_training_image import keeps_efa, training_image_problems
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import EfaBackend, Network
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.storage import Lustre
from cdk_trainyard.versions import default_efa_installer

_SOURCES: Final = ("dlami", "ami_id", "parameter", "build")
_UNSAID: Final = NodeImage.from_parameter("/unsaid")
"""Stands for an image of which the file does not say what it is."""
_ANY_TYPE: Final = "trn1.32xlarge"
"""Stands for a type, and :data:`_ONE` for a number, that has not the right form."""
_ONE: Final = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Around:
    """The other parts of the file that a fleet depends on; None where one has not the right form.

    Attributes:
        network: The network section.
        lustre: The section of the shared file system.
    """

    network: NetworkSpec | ExistingNetworkSpec | None = None
    lustre: LustreSection | ExistingLustreSection | None = None


def open_zfs_problems(open_zfs: OpenZfsSection | None) -> list[str]:
    """The set-up of fleets mounts Lustre alone."""
    if open_zfs is None:
        return []
    return ["'open_zfs' must be left out with orchestrator fleet, whose nodes mount 'lustre' alone"]


def fleet_problems(section: FleetSection, around: Around) -> list[str]:
    """Everything that is wrong with a fleet.

    Args:
        section: The fleet.
        around: What it depends on.
    """
    counts, reservations = [*_count_problems(section)], [*_reservation_problems(section)]
    size = FleetSize.fixed(_ONE) if counts else values.size(section)
    capacity = FleetCapacity.on_demand() if reservations else values.capacity(section)
    fleet = _resolved(section, around, size, capacity)
    said = [
        *counts,
        *reservations,
        *_image_problems(section.image, "'image'", around),
        *(problem for kind in fleet.given for problem in template_problems(_template(section, fleet, kind))),
        *everything_wrong(fleet),
        *(_master_problems(section.master, fleet, around) if section.master else ()),
    ]
    return list(dict.fromkeys(said))


def partial_fleet_problems(parts: Mapping[str, Any], unsound: AbstractSet[str], around: Around) -> list[str]:
    """What is wrong with the parts of a fleet that cannot be judged as a whole.

    Args:
        parts: The parts of the section that have the right form; defaults stand for the others.
        unsound: The keys of what has another form, or is missing.
        around: What it depends on.
    """
    needed: dict[str, Any] = {"image": NodeImageSection(parameter=_UNSAID.parameter)}
    if not parts.keys() & {"instance_type", "instance_types"}:
        needed["instance_type"] = _ANY_TYPE
    if not parts.keys() & {"count", "min_count", "max_count"}:
        needed["count"] = _ONE
    section = FleetSection.model_validate({**needed, **parts})
    return [problem for problem in fleet_problems(section, around) if not unsound & set(quoted(problem))]


def _resolved(section: FleetSection, around: Around, size: FleetSize, sold: FleetCapacity) -> ResolvedFleet:
    given = (*([section.instance_type] if section.instance_type else []), *section.instance_types)
    return ResolvedFleet(
        name="unnamed" if section.fleet_name is None else section.fleet_name,
        region=None,  # the network's own rule compares it with the zone
        network=_network(around),
        given=given,
        types=find_types(given),
        one_type=section.instance_type is not None,
        size=size,
        capacity=sold,
        placement=values.placement(section) or FleetPlacement(enabled=not sold.owns_placement),
        backend=EfaBackend(section.interfaces),
        image=_known_image(section.image),
        lustre=_lustre(around),
        mount_at=around.lustre.at if around.lustre else "/fsx",
        security_groups=(),
    )


def _template(section: FleetSection, fleet: ResolvedFleet, kind: Any) -> ResolvedTemplate:
    return ResolvedTemplate(
        given=kind,
        type=InstanceType.find(kind),
        backend=fleet.backend,
        image=fleet.image,
        capacity=fleet.capacity,
        placement_group=False,  # the fleet's own rule says more
        public_address=False,
        volume_gib=section.volume_gib,
        threads_per_core=section.threads_per_core,
    )


def _network(around: Around) -> Network:
    """Return where the nodes are; of what is not known nothing is compared."""
    zone = around.network.zone if around.network else ""
    return cast("Network", SimpleNamespace(zone=zone, accelerator_cidr=None, has_nat=_has_nat(around)))


def _has_nat(around: Around) -> bool:
    return around.network is None or around.network.has_nat


def _lustre(around: Around) -> Lustre | None:
    section = around.lustre
    if section is None:
        return None
    network_zone = around.network.zone if around.network else None
    zone = section.zone if isinstance(section, ExistingLustreSection) else network_zone
    known = SimpleNamespace(zone=zone, efa_enabled=section.efa_enabled, file_servers=None)
    return cast("Lustre", known)


# ---------------------------------------------------------------- images
def _known_image(section: NodeImageSection) -> NodeImage:
    """Return an image as far as the file says what it is."""
    if section.dlami is not None and dlami_problems(section.dlami):
        return _UNSAID
    if not any(getattr(section, source) is not None for source in _SOURCES):
        return _UNSAID
    return values.image(section, _built)


def _built(section: ImageBuildSection) -> NodeImage:
    if dlami_problems(section.base):
        return _UNSAID
    base = NodeImage.dlami(section.base)
    return NodeImage(
        name="the image that is built here",
        architecture=base.architecture,
        user=base.user,
        families=section.families or base.families,
    )


def _image_problems(section: NodeImageSection, where: str, around: Around) -> Iterator[str]:
    said = [source for source in _SOURCES if getattr(section, source) is not None]
    if len(said) != 1:
        got = f"{' and '.join(said)}" if said else "none of them"
        yield f"{where} must say one of 'dlami', 'ami_id', 'parameter' and 'build', got {got}"
    if section.dlami is not None:
        yield from dlami_problems(section.dlami, "dlami")
    if not {"ami_id", "parameter"} & set(said):
        yield from (
            f"{key!r} of {where} must be left out with {' and '.join(said)}, whose it is known"
            for key in ("architecture", "user")
            if said and getattr(section, key) is not None
        )
    if section.build is not None:
        yield from _build_problems(section.build, around)


def _build_problems(section: ImageBuildSection, around: Around) -> Iterator[str]:
    unknown = dlami_problems(section.base, "base")
    yield from unknown
    installer = section.efa_installer
    base = _UNSAID if unknown else NodeImage.dlami(section.base)
    yield from training_image_problems(
        base=base,
        instance_type=section.instance_type,
        efa_version=installer.version if installer else default_efa_installer(),
        efa_sha256=installer.sha256 if installer else None,
        efa_kept=keeps_efa(base, given=installer is not None),
        nvidia_branch=section.nvidia_branch,
        families=section.families or base.families or (),
        schedule=section.schedule,
        has_way_out=_has_nat(around),
    )


def _master_problems(section: MasterSection, fleet: ResolvedFleet, around: Around) -> Iterator[str]:
    image = _known_image(section.image) if section.image else fleet.image
    if section.image is not None:
        yield from _image_problems(section.image, "'image' of the master", around)
    yield from master_problems(image, fleet.image)
    template = ResolvedTemplate(
        given=section.instance_type,
        type=InstanceType.find(section.instance_type),
        backend=EfaBackend.LAUNCH_TEMPLATE,
        image=image,
        capacity=FleetCapacity.on_demand(),
        placement_group=False,
        public_address=False,
        volume_gib=section.volume_gib,
        threads_per_core=None,
        efa_needed=False,
    )
    yield from (f"the master: {problem}" for problem in template_problems(template))


# ---------------------------------------------------------------- what only a file can get wrong
def _count_problems(section: FleetSection) -> Iterator[str]:
    range_given = (section.min_count is not None, section.max_count is not None)
    if section.count is not None and any(range_given):
        yield "'count' must be left out with 'min_count' and 'max_count', got both"
    elif section.count is None and not all(range_given):
        yield "'count' must be given, or both 'min_count' and 'max_count'"


def _reservation_problems(section: FleetSection) -> Iterator[str]:
    named = [key for key in ("reservation_id", "reservation_group_arn") if getattr(section, key) is not None]
    if section.capacity == "spot":
        yield from (f"{key!r} must be left out with capacity spot, which takes what is not reserved" for key in named)
    if section.capacity == "capacity-block" and named != ["reservation_id"]:
        got = " and ".join(named) or "nothing"
        yield f"'reservation_id' must name the capacity block with capacity capacity-block, got {got}"
    if section.capacity != "capacity-block":
        of_blocks = (key for key in ("reserved_instances", "starts", "ends") if getattr(section, key) is not None)
        yield from (f"{key!r} must be left out without capacity capacity-block" for key in of_blocks)
