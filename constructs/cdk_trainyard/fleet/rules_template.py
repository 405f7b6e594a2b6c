"""Whether a launch template can launch anything. Pure: nothing is created here."""

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet.capacity import FleetCapacity, FleetCapacityKind
from cdk_trainyard.fleet.resolved import ResolvedTemplate
from cdk_trainyard.fleet.rules_image import image_problems
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network.rules_resources import efa_problems
from cdk_trainyard.tokens import unresolved

_VOLUME_GIB = range(8, 65537)
_THREADS = (1, 2)
_RESERVATION = "cr-"


def type_problems(given: str | InstanceType) -> list[str]:
    """An instance type that exists."""
    if isinstance(given, str) and unresolved(given):
        return []
    try:
        InstanceType.of(given)
    except ConfigurationError as error:
        return list(error.problems)
    return []


def efa_type_problems(template: ResolvedTemplate) -> list[str]:
    """A type with EFA, where EFA is what the template is for."""
    return efa_problems(template.type) if template.efa_needed and template.type is not None else []


def template_image_problems(template: ResolvedTemplate) -> list[str]:
    """An image that the type can run."""
    return image_problems(template.image, [template.type]) if template.image and template.type else []


def public_address_problems(template: ResolvedTemplate) -> list[str]:
    """EC2 gives a public address only to an instance with one network interface."""
    interfaces = template.interfaces
    if not template.public_address or len(interfaces) == 1 or template.type is None:
        return []
    cards = len(template.type.network_cards)
    return [
        (
            f"'public_address' must be False for {template.type.name}, got True: EC2 gives none to an instance "
            f"with several network interfaces, and this one has {len(interfaces)} on {cards} network "
            f"card{'s' if cards > 1 else ''}; reach it through SSM, and let it out through NAT"
        )
    ]


def purchase_problems(capacity: FleetCapacity, kind: InstanceType | None) -> list[str]:
    """The type is sold that way, and a reservation is named where there is one."""
    problems = _reservation_problems(capacity)
    classes = kind.usage_classes if kind is not None else ()
    wanted = {FleetCapacityKind.SPOT: "spot", FleetCapacityKind.CAPACITY_BLOCK: "capacity-block"}.get(capacity.kind)
    if kind is not None and wanted and classes and wanted not in classes:
        problems.append(
            f"'capacity' must be {' or '.join(sorted(classes))} for {kind.name}, the ways in which it is sold, "
            f"got {wanted}"
        )
    return problems


def _reservation_problems(capacity: FleetCapacity) -> list[str]:
    if not capacity.owns_placement:
        return []
    given = [value for value in (capacity.reservation_id, capacity.group_arn) if value is not None]
    if len(given) != 1:
        return [f"'capacity' must name one reservation or one resource group of reservations, got {len(given)} of them"]
    reservation = capacity.reservation_id
    if reservation is None or unresolved(reservation) or reservation.startswith(_RESERVATION):
        return []
    return [f"'reservation_id' must begin with {_RESERVATION!r}, got {reservation!r}"]


def placement_problems(template: ResolvedTemplate) -> list[str]:
    """A placement group only where the reservation does not own one."""
    if template.placement_group and template.capacity.kind is FleetCapacityKind.CAPACITY_BLOCK:
        return [
            ("'placement_group' must be left out with a capacity block, whose instances stand together anyway; got one")
        ]
    return []


def volume_problems(template: ResolvedTemplate) -> list[str]:
    """A root volume of a size that gp3 has."""
    size = template.volume_gib
    if unresolved(size) or size in _VOLUME_GIB:
        return []
    return [f"'volume_gib' must be {_VOLUME_GIB[0]} to {_VOLUME_GIB[-1]}, the sizes of gp3, got {size}"]


def threads_problems(template: ResolvedTemplate) -> list[str]:
    """One thread per core, or what the type has."""
    threads = template.threads_per_core
    if threads is None or unresolved(threads):
        return []
    if threads not in _THREADS:
        return [f"'threads_per_core' must be 1 or 2, got {threads}"]
    if template.type is not None and threads > template.type.threads_per_core:
        return [f"'threads_per_core' must be 1 for {template.type.name}, whose cores have one thread, got {threads}"]
    return []


def template_problems(template: ResolvedTemplate) -> list[str]:
    """Everything that is wrong with a launch template."""
    return [
        *type_problems(template.given),
        *efa_type_problems(template),
        *template_image_problems(template),
        *public_address_problems(template),
        *purchase_problems(template.capacity, template.type),
        *placement_problems(template),
        *volume_problems(template),
        *threads_problems(template),
    ]
