"""Whether instances of a fleet, a master or a launch template can be launched. Pure: nothing is created here."""

from collections.abc import Iterator, Sequence

from cdk_trainyard.fleet.images import known_image
from cdk_trainyard.fleet.rules_image import drivers_problems, node_image_problems, snapshot_problems, sold_problems
from cdk_trainyard.fleet.spec import FleetSpec, LaunchTemplateSpec, MasterSpec
from cdk_trainyard.fleet.spec_image import NodeImage
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.instances.instance_type import NamedType
from cdk_trainyard.network.interfaces import EfaBackend, EfaInterface, efa_network_interfaces
from cdk_trainyard.network.rules import efa_problems
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.tags import tags_problems
from cdk_trainyard.problems import At, Problem, option, shown, within
from cdk_trainyard.tokens import dummy, unresolved

_PLAIN = (EfaInterface(network_card_index=0, device_index=0, interface_type="interface"),)
_AT_IMAGE = ("image",)


def interfaces_of(kind: InstanceType | None, backend: EfaBackend) -> tuple[EfaInterface, ...]:
    """Return the interfaces of a node: with all its EFA, or a plain one for a type without (or one to be looked up)."""
    return efa_network_interfaces(kind, backend) if kind is not None and kind.efa_supported else _PLAIN


def known_type_problems(at: At, instance_type: str | InstanceType | NamedType) -> Iterator[Problem]:
    """Check that a type is known while its interfaces are laid out: those of a Token would have no EFA."""
    if isinstance(instance_type, str) and unresolved(instance_type) and not dummy(instance_type):
        why = "the network interfaces, and whether they have EFA, follow from it"
        yield Problem(at, f"must be known when the app is synthesized, got a Token: {why}; write it out")


def template_problems(
    spec: LaunchTemplateSpec, environment: Environment, *, placement_group: bool, efa_needed: bool = True
) -> list[Problem]:
    """Return everything that is wrong with a launch template.

    Args:
        spec: The template.
        environment: Region and account of its stack.
        placement_group: Whether a placement group is given.
        efa_needed: Whether a type without EFA is refused.
    """
    kind = None if unresolved(spec.instance_type) else InstanceType.find(spec.instance_type)
    types = (kind,) if kind else ()
    block = spec.capacity is UsageClass.CAPACITY_BLOCK and placement_group
    together = "must be left out with a capacity block, whose instances stand together anyway; got one"
    return [
        *known_type_problems(("instance_type",), spec.instance_type),
        *(problem for known in types if efa_needed for problem in efa_problems(("instance_type",), known)),
        *image_problems(spec.image, types, environment),
        *public_address_problems(spec, kind),
        *reservation_problems(spec),
        *usage_problems(spec, types),
        *([Problem(("placement_group",), together)] if block else []),
        *volume_problems(spec.volume_gib, spec.image),
        *threads_problems(spec.threads_per_core, types),
        *tags_problems(("instance_tags",), spec.instance_tags, iam=False),
    ]


def master_problems(
    spec: MasterSpec, of_fleet: NodeImage, environment: Environment, *, types: Sequence[InstanceType] = ()
) -> list[Problem]:
    """Return everything that is wrong with a master.

    Args:
        spec: The master.
        of_fleet: The image of its fleet's nodes.
        environment: Region and account of its stack.
        types: The types of those nodes that are known.
    """
    image = spec.image or of_fleet
    kind = None if unresolved(spec.instance_type) else InstanceType.find(spec.instance_type)
    own = node_image_problems(spec.image, environment) if spec.image and not unresolved(spec.image) else ()
    return [
        *known_type_problems(("instance_type",), spec.instance_type),
        *within(_AT_IMAGE, own),
        *drivers_problems(_AT_IMAGE if spec.image else ("instance_type",), image, (kind,) if kind else ()),
        *user_problems(image, of_fleet),
        *(problem for known in (kind,) if known for problem in shared_image_problems(known, image, of_fleet, types)),
        *volume_problems(spec.volume_gib, image, up=1 if spec.image else 2),
        *(problem for known in (kind,) if known for problem in sold_problems(known)),
    ]


def shared_image_problems(
    kind: InstanceType, image: NodeImage, of_fleet: NodeImage, types: Sequence[InstanceType]
) -> Iterator[Problem]:
    """An AMI that the master and the workers share, and whose architecture nobody said, is for one architecture."""
    if unresolved(image, of_fleet):
        return
    own, shared = (image.ami_id or image.parameter), (of_fleet.ami_id or of_fleet.parameter)
    if own is None or unresolved(own, shared) or own != shared or image.architecture is not None:
        return
    for known in types[:1]:
        if known.architecture != kind.architecture:
            text = f"must be one of {known.architecture}, as {known.name} that has the same image {shown(own)}"
            yield Problem(("instance_type",), f"{text}, got {kind.name} of {kind.architecture}")


def user_problems(image: NodeImage, of_fleet: NodeImage) -> Iterator[Problem]:
    """The master and the workers have the same user, as whom members log in to members."""
    if unresolved(image, of_fleet):
        return
    master, worker = known_image(image), known_image(of_fleet)
    if not unresolved(master.user, worker.user) and master.user != worker.user:
        yield Problem(
            _AT_IMAGE,
            f"must have the user {shown(worker.user)} of the fleet's image, got {shown(master.name)} with "
            f"{shown(master.user)}; members log in to members as one user",
        )


def image_problems(
    image: NodeImage | None, types: Sequence[InstanceType], environment: Environment
) -> Iterator[Problem]:
    """An image that there is, and that the types can run."""
    if image is not None and not unresolved(image):
        yield from within(_AT_IMAGE, node_image_problems(image, environment))
        yield from drivers_problems(_AT_IMAGE, image, types)


def public_address_problems(spec: LaunchTemplateSpec, kind: InstanceType | None) -> Iterator[Problem]:
    """EC2 gives a public address only to an instance with one network interface."""
    if spec.public_address is not True or kind is None or unresolved(spec.backend):
        return
    count, cards = len(interfaces_of(kind, spec.backend)), len(kind.network_cards)
    if count > 1:
        yield Problem(
            ("public_address",),
            f"must be False for {kind.name}, got True: EC2 gives none to an instance with several network interfaces, "
            f"and this one has {count} on {cards} network card{'s' if cards > 1 else ''}; reach it through SSM, and "
            "let it out through NAT",
        )


def usage_problems(spec: LaunchTemplateSpec | FleetSpec, types: Sequence[InstanceType]) -> Iterator[Problem]:
    """Types that are sold that way; what an on-demand reservation holds has been sold already."""
    capacity, reservations = spec.capacity, (spec.reservation_id, spec.reservation_group_arn)
    held = capacity is UsageClass.ON_DEMAND and any(each is not None for each in reservations)
    if unresolved(capacity) or held:
        return
    for kind in types:
        classes = kind.usage_classes
        if classes and capacity not in classes:
            sold = " or ".join(sorted(classes))
            yield Problem(
                ("capacity",), f"must be {sold} for {kind.name}, the ways in which it is sold, got {capacity}"
            )


def reservation_problems(spec: LaunchTemplateSpec | FleetSpec) -> Iterator[Problem]:
    """A capacity block is named by its id, an on-demand reservation by id or group, and Spot has none."""
    capacity, by_id, by_group = spec.capacity, ("reservation_id",), ("reservation_group_arn",)
    named = {("reservation_id",): spec.reservation_id, ("reservation_group_arn",): spec.reservation_group_arn}
    given = [at for at, value in named.items() if value is not None]
    if unresolved(capacity):
        return
    if capacity is UsageClass.SPOT:
        for at in given:
            yield Problem(at, f"must be left out with {option('capacity')} spot, which takes what is not reserved")
    elif capacity is UsageClass.CAPACITY_BLOCK:
        if by_id not in given:
            yield Problem(by_id, f"must name the capacity block with {option('capacity')} capacity-block, got nothing")
        if by_group in given:
            text = f"must be left out with {option('capacity')} capacity-block, which {option('reservation_id')} names"
            yield Problem(by_group, text)
    elif len(given) > 1:
        yield Problem(by_group, f"must be left out with {option('reservation_id')}: nodes come from one of the two")


def volume_problems(size: int, image: NodeImage | None, *, up: int = 1) -> Iterator[Problem]:
    """A root volume that holds the image, as far as its size is known (RunInstances: InvalidBlockDeviceMapping).

    Args:
        size: Its size in GiB.
        image: The image.
        up: How many steps up from it the section is that has the image.
    """
    if image is None or unresolved(image, size):
        return
    build = image.build
    if build is None:
        yield from snapshot_problems(size, known_image(image))
    elif not unresolved(build, build.volume_gib) and size < build.volume_gib:
        text = f"must be at least {option('image.build.volume_gib', up=up)}, {build.volume_gib} GiB"
        yield Problem(("volume_gib",), f"{text}, got {size}; the image that is built is as large")


def threads_problems(threads: int | None, types: Sequence[InstanceType]) -> Iterator[Problem]:
    """One thread per core, or what the types have; nothing for bare metal.

    Source: EC2 user guide, "Rules for specifying CPU options for an Amazon EC2 instance".
    """
    if threads is None or unresolved(threads):
        return
    for kind in types:
        if kind.bare_metal:
            text = f"must be left out with {kind.name}: EC2 takes no CPU options for bare metal, got {threads}"
            yield Problem(("threads_per_core",), text)
        elif threads > kind.threads_per_core:
            text = f"must be 1 for {kind.name}, whose cores have one thread, got {threads}"
            yield Problem(("threads_per_core",), text)
