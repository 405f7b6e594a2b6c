"""Whether the parts of a cluster that concern all its nodes can work. Pure: nothing is created here."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from cdk_trainyard.errors import asked, did_you_mean, nearest
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.options.tags import tags_problems
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, volume_name
from cdk_trainyard.parallelcluster.facts import fact, operating_systems
from cdk_trainyard.parallelcluster.resolve import (
    computes,
    find_type,
    known,
    max_nodes,
    types_of,
    volumes,
)
from cdk_trainyard.parallelcluster.rules_provider import provider_version_problems
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_storage import SharedVolume
from cdk_trainyard.problems import At, Problem, either, option, shown
from cdk_trainyard.tokens import Unknown, dummy, unresolved

Problems = Iterator[Problem]
MUST_BE_KNOWN = "must be known when the app is synthesized, got a Token; write it out"


def is_token(value: object) -> bool:
    """Return whether a value is known at deployment only; what has a wrong form is answered already."""
    return unresolved(value) and not isinstance(value, Unknown) and not dummy(value)


def cluster_name_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """The name is one that ParallelCluster takes, and nobody else's."""
    name, at = spec.cluster_name, ("cluster_name",)
    if is_token(name):
        yield Problem(at, MUST_BE_KNOWN)
    if name is None or unresolved(name):
        return
    longest = fact("cluster_name_length_with_accounting" if spec.slurm.accounting else "cluster_name_length")
    if not limits.CLUSTER_NAME.fullmatch(name) or len(name) > longest:
        why = " with Slurm accounting" if spec.slurm.accounting else ""
        yield Problem(
            at,
            f"must be a letter and then letters, digits and hyphens, at most {longest} characters{why}, "
            f"got {shown(name)}",
        )
    if name in context.other_names:
        yield Problem(
            at,
            f"must be another than that of any cluster, got {shown(name)} a second time; the provider deletes the "
            "cluster of that name when a second one cannot be made",
        )
    if name == context.stack_name:
        yield Problem(
            at, f"must be another than the stack's, got {shown(name)}; ParallelCluster makes a stack of that name"
        )


def version_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """The version is one that has a provider, and the given provider's."""
    version: Any = spec.version
    given = context.provider_version
    if version is None or isinstance(version, Unknown):
        return
    if given is not None and version != given:
        yield Problem(
            ("version",),
            f"must be that of the {option('provider')}, {given}, got {version}; a provider updates no clusters of "
            "another version",
        )
    yield from provider_version_problems(version)


def supported_regions() -> list[str]:
    """Return the Regions in which ParallelCluster has images and a provider."""
    found: list[str] = fact("regions")
    return found


def region_problems(_: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """ParallelCluster has images and a provider in the Region."""
    region = context.region
    if region is None or unresolved(region) or region in fact("regions"):
        return
    near, listed = _near(region), "ParallelCluster's user guide, 'Supported Regions'"
    remedy = f"those of its area are {either(near, all_in=listed)}" if near[1:] else f"all are in {listed}"
    remedy = f"the one of its area is {near[0]}" if len(near) == 1 else remedy
    text = f"must be one that ParallelCluster {fact('version')} supports, got {shown(region)}"
    yield Problem(("region",), f"{text}; {remedy}")


def operating_system_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """The operating system is one of this version, and has an image."""
    system, supported = spec.operating_system, operating_systems()
    if unresolved(system):
        return
    at = ("operating_system",)
    if since := limits.GONE_SYSTEMS.get(system):
        yield Problem(
            at, f"must be {either(supported)}, got {shown(system)}, which is gone since ParallelCluster {since}"
        )
    elif system not in supported:
        yield Problem(at, f"must be {either(supported)}, got {shown(str(system))}{did_you_mean(system, supported)}")
    elif not fact("operating_systems")[system]["official_image"] and spec.image_id is None:
        yield Problem(
            ("image_id",),
            f"must be given with operating system {shown(str(system))}, of which ParallelCluster publishes no image; "
            "build one with 'pcluster build-image'",
        )


def count_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """There is at least one queue, and not too many of anything."""
    if not unresolved(spec.queues) and not spec.queues:
        yield Problem(("queues",), "must hold at least one queue, got none")
    kinds = 0 if len(spec.queues) > fact("queues") else sum(1 for _ in computes(spec))
    for name, what, count, most in (
        ("queues", "", len(spec.queues), fact("queues")),
        ("queues", " kinds of nodes", kinds, fact("compute_resources")),
        ("login_pools", "", len(spec.login_pools), fact("login_pools")),
    ):
        if count > most:
            yield Problem((name,), f"must be at most {most}{what}, got {count}")


def unique_name_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """No two queues, login pools or shared directories have the same name."""
    groups: list[list[tuple[At, Any]]] = [
        [(("queues", index, "name"), queue.name) for index, queue in known(spec.queues)],
        [(("login_pools", index, "name"), pool.name) for index, pool in known(spec.login_pools)],
        [
            *((("mounts", index, "at"), volume_name(mount.path)) for index, mount in known(context.mounts)),
            *((_name_at(at, one.name, one.at), one.name) for at, one in _by_place(spec, context)),
        ],
    ]
    for index, queue in known(spec.queues):
        computed = [(("queues", index, "compute", number), one) for number, one in known(queue.compute)]
        groups.append([((*at, "name"), one.name) for at, one in computed])
    for group in groups:
        counted = Counter(name for _, name in group if not unresolved(name))
        seen: set[str] = set()
        for at, name in group:
            if name in seen and not unresolved(name):
                yield Problem(at, f"must be different from every other, got {shown(name)} {counted[name]} times")
            seen.add(name)


def joined_name_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """No two launch templates have one id or one name, for which ParallelCluster joins names of queue and nodes.

    Source: ``launch_template_id`` and ``launch_template_name`` in ``queues_stack.py`` and ``login_nodes_stack.py`` of
    ``aws-parallelcluster`` 3.16.1.
    """
    taken: dict[tuple[str, str], tuple[str, ...]] = {}
    for pool in spec.login_pools:
        if not unresolved(pool) and not unresolved(pool.name):
            taken["-", pool.name] = (pool.name,)
    for at, queue, compute in computes(spec):
        if compute.name is None or unresolved(queue.name, compute.name):
            continue
        names = (queue.name, compute.name)
        joined = [(sign, sign.join(names)) for sign in ("", "-")]
        if other := next((taken[key] for key in joined if taken.get(key, names) != names), None):
            what = f"queue {shown(other[0])} with {shown(other[1])}" if len(other) > 1 else f"pool {shown(other[0])}"
            text = f"must be another: with queue {shown(queue.name)} its launch template would be that of {what}"
            yield Problem((*at, "name"), f"{text}, got {shown(compute.name)}")
        taken |= dict.fromkeys(joined, names)


def _by_place(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[tuple[At, SharedVolume]]:
    """Yield shared directories without those that stand where another one is, which is answered as such."""
    seen = {mount.path for mount in context.mounts}
    for at, one in volumes(spec.shared_storage):
        if unresolved(one.at) or one.at not in seen:
            seen.add(one.at)
            yield at, one


def _name_at(at: At, name: str | None, mounted: str) -> At:
    return (*at, "at" if name == volume_name(mounted) else "name")


def architecture_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Every node is of the head node's architecture: one image serves them all."""
    head = find_type(spec.head_node.instance_type)
    if head is None:
        return
    if head.architecture not in limits.ARCHITECTURES:
        text = f"must be of {either(limits.ARCHITECTURES)}, as ParallelCluster's images are"
        yield Problem(("head_node", "instance_type"), f"{text}, got {head.name} of {head.architecture}")
        return
    others: list[tuple[At, InstanceType]] = [
        ((*at, "instance_types" if compute.instance_types else "instance_type"), each)
        for at, _, compute in computes(spec)
        for each in types_of(compute)
    ]
    others += [
        (("login_pools", index, "instance_type"), each)
        for index, pool in known(spec.login_pools)
        if (each := find_type(pool.instance_type)) is not None
    ]
    for at, each in others:
        if each.architecture != head.architecture:
            yield Problem(
                at,
                f"must be {head.architecture} as the head node's {head.name}, got {each.name} of {each.architecture}",
            )


def head_memory_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """The head node has the memory to manage its nodes."""
    head, nodes = find_type(spec.head_node.instance_type), max_nodes(spec)
    if head is None or "memory_mib" in head.unknown:
        return
    needed = min(nodes / limits.NODES_PER_GIB + limits.HEAD_MEMORY_GIB, limits.HEAD_MEMORY_MOST_GIB)
    if head.memory_mib / 1024 < needed:
        yield Problem(
            ("head_node", "instance_type"),
            f"must have at least {needed:.1f} GiB of memory for {nodes} nodes, got {head.name} with "
            f"{head.memory_mib / 1024:g} GiB",
        )


def resource_prefix_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """The prefix is one of IAM, and leaves the provider the right to pass the roles."""
    prefix, at = spec.iam.resource_prefix, ("iam", "resource_prefix")
    if prefix is None or unresolved(prefix):
        return
    if not limits.IAM_PREFIX.fullmatch(prefix):
        yield Problem(
            at,
            "must be a path as '/parallelcluster/mine/', a name prefix of at most 30 characters, or one after the "
            f"other, got {shown(prefix)}",
        )
    elif prefix.startswith("/") and not prefix.startswith("/parallelcluster/"):
        yield Problem(
            at, f"must begin with '/parallelcluster/', got {shown(prefix)}; the provider may make roles nowhere else"
        )
    elif (length := prefix.rfind("/") + 1) > limits.IAM_PATH_LENGTH:
        yield Problem(at, f"must have a path of at most {limits.IAM_PATH_LENGTH} characters, got {length}")


def accounting_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A database that exists has a password alone.

    Source: user guide of ParallelCluster, "SlurmSettings", ``Database`` / ``PasswordSecretArn``: plain text. That of
    RDS is JSON (Amazon RDS user guide, "Password management with Amazon RDS and AWS Secrets Manager").
    """
    secret = getattr(getattr(spec.slurm.accounting, "password_secret", None), "secret_arn", None)
    if secret is not None and not unresolved(secret) and ":secret:rds!" in secret:
        text = f"must hold the password alone, in plain text, got {shown(secret)}, which RDS keeps as JSON"
        yield Problem(("slurm", "accounting", "password_secret"), f"{text}; make a secret with that of a user for it")


def timeout_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """CloudFormation waits long enough."""
    for name in ("head_node", "compute_node"):
        given = getattr(spec.timeouts, name)
        if given is not None and not unresolved(given) and given.to_seconds() < 1:
            yield Problem(("timeouts", name), "must be longer than nothing, got 0")
    logs = spec.monitoring
    for name in ("log_retention_days", "keep_logs"):
        if logs.logs is False and getattr(logs, name) is not None and not unresolved(getattr(logs, name)):
            text = f"must be left out when {option('logs')} is false: there are none"
            yield Problem(("monitoring", name), text, of_key=True)
    compute, idle = spec.timeouts.compute_node, spec.slurm.idle_time
    for at, said, longest in ((("timeouts", "compute_node"), compute, 1092), (("slurm", "idle_time"), idle, 525_600)):
        if said is not None and not unresolved(said) and said.to_minutes() > longest:
            yield Problem(at, f"must be at most {longest} minutes, got {said.to_minutes():.0f}")
    head = spec.timeouts.head_node
    if head is not None and head.to_seconds() >= limits.CUSTOM_RESOURCE_SECONDS:
        yield Problem(
            ("timeouts", "head_node"),
            "must be less than an hour, which CloudFormation waits for the whole cluster, got "
            f"{head.to_minutes():g} minutes; put what takes long into an image",
        )


def suppressed_validator_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Checks that are left out exist; without ``type:`` ParallelCluster leaves none out (``suppressValidators``)."""
    names = fact("validators")
    for index, name in known(spec.suppress_validators):
        if unresolved(name) or name == "ALL" or (name.startswith("type:") and name.removeprefix("type:") in names):
            continue
        bare = name.strip().removeprefix("type:")
        near = ["ALL"] if bare.upper() == "ALL" else [f"type:{each}" for each in nearest(bare, names)]
        remedy = f"; use {shown(near[0])}" if f"type:{bare}" in near else asked(name, near)
        text = f"must be 'type:' with the name of a check of ParallelCluster, or ALL, got {shown(name)}{remedy}"
        yield Problem(("suppress_validators", index), text)


_NAME: Final = "Name"
"""A tag of instances that launch templates have already, and EC2 keeps: ``get_default_instance_tags`` of
ParallelCluster 3.16.1; aws/aws-parallelcluster#5369, 2025-01-24. Of the cluster's tags it names the head node."""


def tag_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Tags are told apart, none is ParallelCluster's own, and no instance has more than there is room for."""
    places: list[tuple[At, Any]] = [(("tags",), spec.tags)]
    places += [(("queues", index, "tags"), queue.tags) for index, queue in known(spec.queues)]
    places += [((*at, "tags"), compute.tags) for at, _, compute in computes(spec)]
    for at, tags in places:
        found = tags_problems(at, tags or {}, iam=at == ("tags",))
        yield from (problem for problem in found if problem.at != at)  # how many: below
        for key in tags or ():
            if not unresolved(key) and key.startswith(limits.RESERVED_TAG):
                text = f"must not begin with {limits.RESERVED_TAG}, which is ParallelCluster's own"
                yield Problem((*at, key), text, of_key=True)
            elif key == _NAME and at != ("tags",):
                text = "must be left out: ParallelCluster names every instance of a queue 'Compute', whatever this says"
                yield Problem((*at, key), text, of_key=True)
    for at, queue, compute in computes(spec):
        count = len({*(spec.tags or ()), *(queue.tags or ()), *(compute.tags or ())})
        if count > limits.TAGS:
            where = (*at, "tags") if compute.tags else (*at[:2], "tags") if queue.tags else ("tags",)
            yield Problem(where, f"must be at most {limits.TAGS} together with those around it, got {count}")


def _near(region: str) -> list[str]:
    area = region.split("-", maxsplit=1)[0]
    return [
        other
        for other in fact("regions")
        if other.split("-")[0] == area and "-iso" not in other and "-gov" not in other
    ]
