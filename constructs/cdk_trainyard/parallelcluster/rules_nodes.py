"""Whether the head node, the login nodes, and the scripts of any node can work. Pure: nothing is created here."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from cdk_trainyard.instances import InstanceType, zone_region
from cdk_trainyard.instances.instance_type import NamedType
from cdk_trainyard.lifecycle.rules_setup import NOT_SLURMS_PORT
from cdk_trainyard.lifecycle.spec import SLURM_PORTS
from cdk_trainyard.network.rules import is_local
from cdk_trainyard.options.addresses import SECOND_ADDRESS, Url
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.node_paths import NodePath
from cdk_trainyard.options.signs import unseen
from cdk_trainyard.options.texts import LINE
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, Place
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.resolve import find_type, known, roles, subnet_of
from cdk_trainyard.parallelcluster.rules_cluster import MUST_BE_KNOWN, is_token
from cdk_trainyard.parallelcluster.rules_disks import root_volume_problems
from cdk_trainyard.parallelcluster.rules_versions import image_gib
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction, Dcv, HeadNode, LoginNode, LoginPool
from cdk_trainyard.parallelcluster.spec_queues import Queue
from cdk_trainyard.problems import At, Flaw, Problem, either, option, shown
from cdk_trainyard.tokens import Unknown, unresolved
from cdk_trainyard.versions import image_facts, judge_packages, pinned_packages, python_versions

Problems = Iterator[Problem]
NEURON: Final = "neuron.sh"
"""The project's own script that installs the Neuron SDK; ``--venv DIRECTORY`` asks it for PyTorch, too."""
FETCHED: Final = Url(
    form="an address as s3://bucket/key or https://host/path, or a file of the folder of scripts",
    example="https://host/path",
    query=True,
)
"""What a node fetches over HTTPS."""
_SHORT_BUCKET: Final = re.compile("s3://([a-z0-9.-]{1,2}|[a-z0-9.-]{64,})/")
"""Amazon S3 user guide, "General purpose bucket naming rules", read 2026-11."""
_OBJECT: Final = re.compile(rf"s3://[a-z0-9][a-z0-9.-]{{1,61}}[a-z0-9]/(?!\s){LINE.pattern}(?<!\s)")
"""Amazon S3 user guide, "Naming Amazon S3 objects": a key may have any sign of UTF-8; and no shell reads it
(aws-parallelcluster-cookbook, ``custom_action_executor.py``, read 2026-11)."""
_CUT: Final = re.compile(r"s3://[^/]+/(?:[^?#]*(?P<sign>[?#])|(?P<slash>/))")
"""The same file reads an address with ``urlparse``, for which a key ends at these signs, and takes slashes before it
away."""
_LONGEST_KEY: Final = 1024
"""Bytes of an object's key (Amazon S3 user guide, "Naming Amazon S3 objects")."""
_PRESIGNED: Final = re.compile(r"https://[^?]*\?(.*&)?X-Amz-(Signature|Credential)=")
"""Amazon S3 API reference, "Authenticating Requests: Using Query Parameters": ``X-Amz-Expires`` is 604800 at most."""
_ONCE: Final = (("head_node", "on_start"), ("head_node", "on_configured"))
"""What runs when the cluster is made; its address can never be changed."""
_VENV: Final = ("--venv", "DIRECTORY")
_UBUNTU: Final = ("ubuntu2204", "ubuntu2404")
_WORLD: Final = "0.0.0.0/0"


def head_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """The head node's type, subnet, key, disk and scripts."""
    head, at = spec.head_node, ("head_node",)
    if isinstance(head, Unknown):
        return
    yield from _login_node_problems(at, head, spec)
    yield from _subnet_problems(head, context.place)
    yield from _key_problems(spec)
    yield from root_volume_problems((*at, "root_volume"), head.root_volume, image_gib(spec, head.image_id))
    yield from thread_problems((*at, "threads_per_core"), head.threads_per_core, [find_type(head.instance_type)])


def pool_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Every login pool's name, type, subnet, grace and scripts."""
    for index, pool in known(spec.login_pools):
        at = ("login_pools", index)
        yield from name_problems((*at, "name"), pool.name)
        yield from _login_node_problems(at, pool, spec)
        yield from _grace_problems(at, pool)
        place = context.place
        if subnet_of(pool, place) in place.public_subnets and place.gives_addresses is False:
            yield Problem(
                (*at, "subnet"),
                "must be private, or a public one that gives public addresses by itself; without one the nodes reach "
                "nothing, got a public subnet of a new network; leave it out, and connect through the head node",
            )
        if zone := _local_zone(subnet_of(pool, place), place):
            why = "where there is no Network Load Balancer, and login nodes stand behind one; use a service subnet"
            yield Problem((*at, "subnet"), f"must be in no Local Zone, got one in {shown(zone)}, {why}")


def _local_zone(subnet: str | None, place: Place) -> str | None:
    """Return the zone of a subnet that is in a Local Zone.

    Network Load Balancers guide, "Update the Availability Zones", read 2026-11: "You can't specify a subnet in a Local
    Zone"; ``login_nodes_stack.py`` of pcluster makes one for each pool. EC2 API reference, ``AssociateAddress``
    (botocore 1.44.5): no Elastic IP address "with an interface in a different network border group", and
    ``cluster_stack.py`` asks for one of the Region's.
    """
    zone = place.zones.get(subnet or "")
    known_zone = zone is not None and not unresolved(zone) and zone_region(zone) is not None
    return zone if known_zone and is_local(str(zone)) else None


def policy_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """No role has more managed policies than IAM attaches to one."""
    most = limits.ROLE_POLICIES[1]
    for at, count in roles(spec):
        if count > most:
            text = f"must make at most {most} with those of the cluster, all that IAM attaches to a role, got {count}"
            yield Problem((*at, "policies"), f"{text}; put their statements into fewer")


def _grace_problems(at: At, pool: LoginPool) -> Problems:
    grace = pool.grace_period
    if grace is None or unresolved(grace):
        return
    first, last = limits.GRACE_MINUTES
    if not first <= grace.to_minutes() <= last:
        yield Problem((*at, "grace_period"), f"must be {first} to {last} minutes, got {grace.to_minutes():g}")


def _login_node_problems(at: At, node: LoginNode, spec: ParallelClusterSpec) -> Problems:
    yield from instance_type_problems((*at, "instance_type"), node.instance_type, spec)
    yield from _dcv_problems((*at, "dcv"), node.dcv, find_type(node.instance_type), spec)
    for event in ("on_start", "on_configured", "on_updated"):
        yield from action_problems((*at, event), getattr(node, event), spec)


def instance_type_problems(at: At, name: str | NamedType, spec: ParallelClusterSpec) -> Problems:
    """ParallelCluster's images run on the type.

    Args:
        at: Where it is said.
        name: The type.
        spec: The cluster.
    """
    if is_token(name):
        yield Problem(at, MUST_BE_KNOWN)
    if (found := find_type(name)) is None:
        return
    if found.family in fact("families_without_driver") and spec.image_id is None:
        yield Problem(
            at,
            f"must not be of family {found.family}, for which ParallelCluster's images have no driver, got "
            f"{found.name}; use a newer type, or an image of yours",
        )
    system, allowed = spec.operating_system, fact("gb200_operating_systems")
    if found.family.startswith("p6e-gb200") and system not in allowed and not unresolved(system):
        text = f"must be {either(allowed)} for {found.name}, got {shown(str(system))}"
        yield Problem(("operating_system",), text)


def name_problems(at: At, name: str) -> Problems:
    """The name is known, and not the one that Slurm keeps for itself; its form is its kind's.

    Args:
        at: Where it is said.
        name: The name.
    """
    if is_token(name):
        yield Problem(at, MUST_BE_KNOWN)
    if name == "default":
        yield Problem(at, "must not be 'default', which Slurm keeps for itself")


def thread_problems(at: At, threads: int | None, types: Sequence[InstanceType | None]) -> Problems:
    """A core has as many threads as its type knows.

    Args:
        at: Where they are said.
        threads: Threads of a core, or None.
        types: The types, as far as they are known.
    """
    for each in types:
        if threads is not None and each is not None and threads > each.threads_per_core:
            yield Problem(
                at, f"must be {each.threads_per_core} for {each.name}, whose cores have no more, got {threads}"
            )


def _dcv_problems(at: At, dcv: Dcv | None, found: InstanceType | None, spec: ParallelClusterSpec) -> Problems:
    """A remote desktop runs on this operating system."""
    if dcv is None:
        return
    if dcv.allowed_from == _WORLD:
        text = f"must not be open to the world, got {shown(_WORLD)}; give the addresses of its users"
        yield Problem((*at, "allowed_from"), text)
    if not unresolved(dcv.port) and dcv.port in SLURM_PORTS:
        yield Problem((*at, "port"), f"{NOT_SLURMS_PORT}, got {dcv.port}")
    allowed, system = fact("dcv_operating_systems_without_gpu"), spec.operating_system
    if found is not None and not found.gpus and system not in allowed and not unresolved(system):
        text = f"must be left out on {shown(str(system))} without a GPU, got {found.name}; use {either(allowed)}"
        yield Problem(at, text, of_key=True)


# ---------------------------------------------------------------- scripts
def action_problems(at: At, actions: Sequence[CustomAction], spec: ParallelClusterSpec) -> Problems:
    """Every action has a script that can be fetched, and works on the cluster's operating system.

    Args:
        at: Where they are said.
        actions: The actions.
        spec: The cluster.
    """
    for index, action in known(actions):
        script, place = action.script, (*at, index, "script")
        if unresolved(script):
            continue
        if action.scripts is None and (text := _address_fault(script, at)):
            yield Problem(place, text)
        if action.scripts is not None and action.scripts.is_own and script == NEURON:
            yield from _neuron_problems(place, action, spec.operating_system)
            yield from _argument_problems((*at, index, "args"), action.args)
            if index and not unresolved(action.args, *action.args) and action == actions[index - 1]:
                text = f"must be another than the one before it, got {script} again with the same 'args'"
                yield Problem(place, f"{text}; it would do nothing")


def _address_fault(script: str, at: At) -> str | None:
    if sign := unseen(script):
        return f"must be without signs that nobody sees, got {shown(script)} with {sign}; take them out"
    if (size := len(script.split("/", 3)[-1].encode())) > _LONGEST_KEY and script.startswith("s3://"):
        return f"must have a key of at most {_LONGEST_KEY} bytes, got {size}"
    if cut := _CUT.match(script):
        must = f"have a key without {cut['sign']!r}" if cut["sign"] else "have one '/' before its key"
        return f"must {must}, as nodes read it as a web address, got {shown(script)}; copy the script to another key"
    if _OBJECT.fullmatch(script) and not re.search(SECOND_ADDRESS, script):
        folder = f"must be one file, got the folder {shown(script)}; name the file in it"
        return folder if script.endswith("/") else None
    if at not in _ONCE and _PRESIGNED.match(script):
        return "must not be presigned, which is for 7 days at most, and nodes start later, too; use s3://bucket/key"
    wrong = FETCHED.problem(script, NOWHERE)
    of_bucket = Flaw("must be in a bucket, whose name has 3 to 63 characters", got=shown(script))
    return str(of_bucket if _SHORT_BUCKET.match(script) else wrong) if wrong else None


def _neuron_problems(at: At, action: CustomAction, system: str) -> Problems:
    if unresolved(system):
        return
    if system not in limits.NEURON_SYSTEMS:
        yield Problem(
            at,
            f"must not be {NEURON} on operating system {shown(str(system))}, for which AWS publishes no Neuron SDK; "
            f"use {either(limits.NEURON_SYSTEMS)}",
        )
    elif "--venv" in action.args and not _python_fits(system):
        packages = pinned_packages("parallelcluster")
        python = image.python if (image := image_facts(system)) else "unknown"
        yield Problem(
            at,
            f"must not be {NEURON} with --venv on operating system {shown(str(system))} with Python {python}: "
            f"{', '.join(packages)} are for Python {', '.join(python_versions(packages))}; use "
            f"{either(filter(_python_fits, limits.NEURON_SYSTEMS))}, or leave --venv out and train in containers",
        )


def _argument_problems(at: At, words: Sequence[str]) -> Problems:
    """The script of ours takes nothing, or a directory."""
    if unresolved(words, *words) or not words:
        return
    if len(words) != len(_VENV) or words[0] != _VENV[0] or not words[1].startswith("/"):
        took = f"[{', '.join(word or shown(word) for word in words)}]"
        yield Problem(at, f"must be [{', '.join(_VENV)}] with an absolute path for {NEURON}, or left out, got {took}")
    elif wrong := NodePath().problem(words[1], NOWHERE):
        yield wrong.at((*at, 1))


def _python_fits(system: str) -> bool:
    image = image_facts(system)
    return image is not None and not judge_packages(pinned_packages("parallelcluster"), image).refused


# ---------------------------------------------------------------- the head node
def _subnet_problems(head: HeadNode, place: Place) -> Problems:
    subnet, at = place.of_head_node(head), ("head_node", "elastic_ip")
    if head.elastic_ip is not None and head.elastic_ip_id is not None:
        yield Problem(at, f"must be left out with {option('elastic_ip_id')}, which says it", of_key=True)
    has_address = head.elastic_ip or head.elastic_ip_id is not None
    if subnet in place.public_subnets and place.gives_addresses is False and not has_address:
        yield Problem(
            at,
            "must be true in a public subnet of a new network, which gives no address by itself: without one the node "
            "reaches nothing, got false",
        )
    if head.elastic_ip is True and head.elastic_ip_id is None and (zone := _local_zone(subnet, place)):
        said = "public" if head.public is True else "elastic_ip"
        text = f"must come with {option('elastic_ip_id')} in the Local Zone {shown(zone)}, got true alone: the address"
        remedy = "give one of that zone, or make the node private"
        why = "that ParallelCluster takes is one of the Region's, which cannot be associated there"
        yield Problem(("head_node", said), f"{text} {why}; {remedy}")
    if subnet is None:
        yield Problem(("head_node", "public"), "must be false in a network without public subnets, got true")
    if head.public is True and head.subnet is not None:
        yield Problem(("head_node", "public"), f"must be left out with {option('subnet')}; remove one of them")
    if has_address and not head.public and head.subnet is None:
        said = "elastic_ip" if head.elastic_ip_id is None else "elastic_ip_id"
        text = f"must be left out in a private subnet; put the node into a public one with {option('public')}"
        yield Problem(("head_node", said), text)


def _key_problems(spec: ParallelClusterSpec) -> Problems:
    head, system = spec.head_node, spec.operating_system
    if head.key_pair is None or isinstance(head.key_pair, Unknown):
        return
    if head.ssh_from is None:
        text = f"must be given with {option('key_pair')}: the addresses that may use it, as '203.0.113.7/32'"
        yield Problem(("head_node", "ssh_from"), text)
    kind = getattr(head.key_pair, "type", None)
    if system in _UBUNTU and getattr(kind, "name", None) == "RSA":
        text = f"must be an ED25519 key on {shown(str(system))}, which takes no RSA keys"
        yield Problem(("head_node", "key_pair"), text)


def software_problems(at: At, queue: Queue, spec: ParallelClusterSpec) -> Problems:
    """What runs on the nodes of a queue, and what they start from.

    Args:
        at: Where the queue is said.
        queue: The queue.
        spec: The cluster.
    """
    yield from root_volume_problems((*at, "root_volume"), queue.root_volume, image_gib(spec, queue.image_id))
    for event in ("on_start", "on_configured"):
        yield from action_problems((*at, event), getattr(queue, event), spec)
