"""Whether the head node, the login nodes and the disks of any node can work. Pure: nothing is created here."""

from collections.abc import Iterator

from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.nodes import Dcv, RootVolume
from cdk_trainyard.parallelcluster.resolved import Place, ResolvedCluster, ResolvedHead, ResolvedPool
from cdk_trainyard.parallelcluster.rules_scripts import address_problems, argument_problems
from cdk_trainyard.parallelcluster.scripts import NEURON, CustomAction
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import image_facts, judge_packages, pinned_packages, python_versions

Problems = Iterator[str]
_UBUNTU = ("ubuntu2204", "ubuntu2404")


def head_problems(cluster: ResolvedCluster) -> Problems:
    """The head node's type, subnet, key and scripts."""
    head = cluster.head
    yield from instance_type_problems("'instance_type' of the head node", head.given.instance_type, cluster)
    yield from _head_place_problems(head, cluster.place)
    yield from _key_problems(cluster)
    yield from root_volume_problems("'root_volume' of the head node", head.given.root_volume)
    yield from dcv_problems("'dcv' of the head node", head.given.dcv, head.type, cluster)
    for event, actions in _events(head):
        yield from action_problems(f"'{event}' of the head node", actions, cluster)


def pool_problems(cluster: ResolvedCluster) -> Problems:
    """Every login pool's name, type, count, subnet and scripts."""
    for pool in cluster.pools:
        where = f"of login pool {pool.given.name!r}"
        yield from name_problems("'name' of a login pool", pool.given.name)
        yield from instance_type_problems(f"'instance_type' {where}", pool.given.instance_type, cluster)
        yield from dcv_problems(f"'dcv' {where}", pool.given.dcv, pool.type, cluster)
        if pool.given.count < 0:
            yield f"'count' {where} must be 0 or more, got {pool.given.count}"
        if pool.subnet in cluster.place.public_subnets and cluster.place.gives_addresses is False:
            yield (
                f"'subnet' {where} must be private, or a public one that gives public addresses by itself; without "
                "one the nodes reach nothing, got a public subnet of TrainingNetwork"
            )
        for event, actions in _events(pool):
            yield from action_problems(f"'{event}' {where}", actions, cluster)


def instance_type_problems(where: str, given: str | InstanceType, cluster: ResolvedCluster) -> Problems:
    """The type exists, and ParallelCluster's images run on it.

    Args:
        where: The keyword and whose it is.
        given: The type.
        cluster: The cluster.
    """
    if unresolved(given):
        yield f"{where} must be known when the app is synthesized, got a Token; write the type's name"
        return
    try:
        known = InstanceType.of(given)
    except ConfigurationError as error:
        yield from (problem.replace("'instance_type'", where, 1) for problem in error.problems)
        return
    if known.family in fact("families_without_driver") and cluster.image_id is None:
        yield (
            f"{where} must not be of family {known.family}, for which ParallelCluster's images have no driver, got "
            f"{known.name}; use a newer type, or an image of yours"
        )
    system = str(cluster.operating_system)
    if known.family.startswith("p6e-gb200") and system not in fact("gb200_operating_systems"):
        allowed = ", ".join(fact("gb200_operating_systems"))
        yield f"'operating_system' must be one of {allowed} for {known.name}, got {system!r}"


def name_problems(where: str, name: str) -> Problems:
    """The name can be part of a host name.

    Args:
        where: The keyword and whose it is.
        name: The name.
    """
    if unresolved(name):
        yield f"{where} must be known when the app is synthesized, got a Token; write it out"
        return
    allowed = (
        name[:1].isascii()
        and name[:1].islower()
        and all(c.isascii() and (c.islower() or c.isdigit() or c == "-") for c in name)
    )
    if not allowed or len(name) > fact("name_length"):
        yield (
            f"{where} must be a lower case letter and then lower case letters, digits and hyphens, at most "
            f"{fact('name_length')} characters, got {name!r}"
        )
    if name == "default":
        yield f"{where} must not be 'default', which Slurm keeps for itself"


def root_volume_problems(where: str, volume: RootVolume | None) -> Problems:
    """The disk is as large as the image, and fast as its type can be.

    Args:
        where: The keyword and whose it is.
        volume: The disk, or None.
    """
    if volume is None:
        return
    least = fact("root_volume_gib")
    if volume.size_gib is not None and volume.size_gib < least:
        yield f"{where} must be at least {least} GiB, as ParallelCluster's image is, got {volume.size_gib}"
    kind = volume.type.value if volume.type is not None else "gp3"
    yield from block_volume_problems(where, kind, volume.size_gib or least, volume.iops, volume.throughput_mb_s)


def block_volume_problems(where: str, kind: str, size_gib: int, iops: int | None, throughput: int | None) -> Problems:
    """An EBS volume's size, operations and throughput go together.

    Args:
        where: The keyword and whose it is.
        kind: Type of the volume.
        size_gib: Its size.
        iops: Its operations per second, or None.
        throughput: Its throughput in MB/s, or None.
    """
    least, most = fact("ebs_size_gib")[kind]
    if not least <= size_gib <= most:
        yield f"{where} must be {least} to {most} GiB for {kind}, got {size_gib}"
    if iops is not None:
        yield from _iops_problems(where, kind, size_gib, iops)
    if throughput is None:
        return
    if kind != "gp3":
        yield f"{where} must have no throughput for {kind}, got {throughput}; only gp3 takes one"
    elif throughput not in limits.GP3_THROUGHPUT_MB_S:
        first, last = limits.GP3_THROUGHPUT_MB_S[0], limits.GP3_THROUGHPUT_MB_S[-1]
        yield f"{where} must have a throughput of {first} to {last} MB/s, got {throughput}"
    elif throughput > (iops or 3000) * limits.GP3_THROUGHPUT_PER_IOPS:
        yield (
            f"{where} must have 4 operations per second for each MB/s of throughput, got {iops or 3000} for "
            f"{throughput}"
        )


def _iops_problems(where: str, kind: str, size_gib: int, iops: int) -> Problems:
    bounds = fact("ebs_iops").get(kind)
    if bounds is None:
        yield f"{where} must have no operations per second for {kind}, got {iops}"
    elif not bounds[0] <= iops <= bounds[1]:
        yield f"{where} must have {bounds[0]} to {bounds[1]} operations per second for {kind}, got {iops}"
    elif iops > size_gib * fact("ebs_iops_per_gib")[kind]:
        ratio = fact("ebs_iops_per_gib")[kind]
        yield (
            f"{where} must have at most {ratio} operations per second for each GiB of {kind}, got {iops} for "
            f"{size_gib} GiB"
        )


def dcv_problems(where: str, dcv: Dcv | None, known: InstanceType | None, cluster: ResolvedCluster) -> Problems:
    """A remote desktop runs on this operating system.

    Args:
        where: The keyword and whose it is.
        dcv: The desktop, or None.
        known: The node's type, or None when it is not known.
        cluster: The cluster.
    """
    if dcv is not None and not unresolved(dcv.allowed_from) and dcv.allowed_from == "0.0.0.0/0":
        yield f"{where} must not be open to the world, got '0.0.0.0/0'; give the addresses of its users"
    allowed = fact("dcv_operating_systems_without_gpu")
    system = str(cluster.operating_system)
    if dcv is not None and known is not None and not known.gpus and system not in allowed:
        yield (
            f"{where} must not be given on {system!r} without a GPU, got {known.name}; use one of {', '.join(allowed)}"
        )


def action_problems(where: str, actions: tuple[CustomAction, ...], cluster: ResolvedCluster) -> Problems:
    """Every action has a script that can be fetched, and works on the cluster's operating system.

    Args:
        where: The keyword and whose it is.
        actions: The actions.
        cluster: The cluster.
    """
    for action in actions:
        if (action.script is None) == (action.scripts is None):
            yield (
                f"{where} must name a script, or a file of NodeScripts; use CustomAction.from_url or NodeScripts.action"
            )
        yield from argument_problems(action.args)
        if action.scripts is not None and action.scripts.is_own and action.entry == NEURON:
            yield from _neuron_problems(where, action, str(cluster.operating_system))
    yield from address_problems(where, [action.script for action in actions if action.script is not None])


def _neuron_problems(where: str, action: CustomAction, system: str) -> Problems:
    if system not in limits.NEURON_SYSTEMS:
        yield (
            f"'operating_system' must be one of {', '.join(limits.NEURON_SYSTEMS)} for {NEURON} in {where}, got "
            f"{system!r}; AWS publishes the Neuron SDK for no other"
        )
    elif "--venv" in action.args and not _python_fits(system):
        packages = pinned_packages("parallelcluster")
        python = image.python if (image := image_facts(system)) else "unknown"
        yield (
            f"'operating_system' must be {' or '.join(filter(_python_fits, limits.NEURON_SYSTEMS))} for {NEURON} with "
            f"--venv in {where}, got {system!r} with Python {python}: {', '.join(packages)} are for Python "
            f"{', '.join(python_versions(packages))}; or leave --venv out and train in containers"
        )


def _python_fits(system: str) -> bool:
    image = image_facts(system)
    return image is not None and not judge_packages("", pinned_packages("parallelcluster"), image).refused


def _head_place_problems(head: ResolvedHead, place: Place) -> Problems:
    given = head.given
    if head.subnet in place.public_subnets and place.gives_addresses is False and not head.elastic_ip:
        yield (
            "'elastic_ip' of the head node must be True in a public subnet of TrainingNetwork, which gives no "
            "address by itself: without one the node reaches nothing, got False"
        )
    if head.subnet is None:
        yield "'public' of the head node must be False in a network without public subnets, got True"
    if given.public and given.subnet is not None:
        yield "'public' of the head node must be left out with 'subnet'; remove one of them"
    if given.elastic_ip and not given.public and given.subnet is None:
        yield (
            "'elastic_ip' of the head node must be left out in a private subnet; put it into a public one with 'public'"
        )


def _key_problems(cluster: ResolvedCluster) -> Problems:
    given, system = cluster.head.given, str(cluster.operating_system)
    if given.key_pair is None:
        return
    if given.ssh_from is None:
        yield (
            "'ssh_from' of the head node must be given with 'key_pair': the addresses that may use it, as "
            "'203.0.113.7/32'"
        )
    if system in _UBUNTU and given.key_pair.type == ec2.KeyPairType.RSA:
        yield f"'key_pair' of the head node must be an ED25519 key on {system!r}, which takes no RSA keys"


def _events(node: ResolvedHead | ResolvedPool) -> tuple[tuple[str, tuple[CustomAction, ...]], ...]:
    given = node.given
    return (
        ("on_start", tuple(given.on_start)),
        ("on_configured", tuple(given.on_configured)),
        ("on_updated", tuple(given.on_updated)),
    )
