"""What can be wrong with one instance group: pure functions, silent about Tokens."""

from collections.abc import Iterator, Sequence
from typing import Any

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.resolved import ResolvedGroup
from cdk_trainyard.hyperpod.rules_overrides import override_problems
from cdk_trainyard.hyperpod.spec_groups import (
    BatchSize,
    BatchUnit,
    DeepHealthCheck,
    EbsVolume,
    Lifecycle,
    RollingUpdate,
)
from cdk_trainyard.instances import InstanceType, UsageClass, hyperpod_type_names
from cdk_trainyard.lifecycle.bundle import own_bundle
from cdk_trainyard.lifecycle.rules import entry_problems
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.node_paths import ON_HYPERPOD
from cdk_trainyard.problems import At, Problem, either, option, shown, within
from cdk_trainyard.storage.mount_facts import MountFacts
from cdk_trainyard.tokens import unresolved


def group_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Yield everything that is wrong with a group by itself.

    Args:
        group: The resolved group.
    """
    for rule in _RULES:
        yield from within(group.at, rule(group))


def instance_type_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that there is one type or several, each accepted by HyperPod."""
    one, several = group.spec.instance_type, group.spec.instance_types
    if (one is None) == (not several):
        got = "neither" if one is None else "both"
        yield Problem((), f"must have either {option('instance_type')} or {option('instance_types')}, got {got}")
        return
    if not unresolved(several) and len(several) > limits.INSTANCE_TYPES[-1]:
        yield Problem(("instance_types",), f"must be at most {limits.INSTANCE_TYPES[-1]}, got {len(several)}")
    named: list[tuple[At, Any]] = [(("instance_type",), one)] if one is not None else []
    named += [(("instance_types", index), name) for index, name in enumerate(several)]
    for at, name in named:
        known = None if unresolved(name) else InstanceType.find(name)
        if known is not None and not known.hyperpod:
            count = len(hyperpod_type_names())
            got = f"got {shown(known.sagemaker_name)}{_accepted_instead(known)}"
            yield Problem(at, f"must be one of the {count} types that HyperPod accepts, {got}")
    yield from _repeated(several)


def _repeated(several: Sequence[Any]) -> Iterator[Problem]:
    """A type is one, with ``ml.`` and without; what is the same to the letter is said of every list."""
    found = [None if unresolved(name) else InstanceType.find(name) for name in several]
    for index, known in enumerate(found):
        if known is not None and known in found[:index] and several[index] not in several[:index]:
            said = shown(several[found.index(known)])
            text = f"must be a type that is not before it, got {shown(several[index])} after {said}; leave it out"
            yield Problem(("instance_types", index), text)


def _accepted_instead(refused: InstanceType) -> str:
    """Name the types with Neuron devices for one that has them, and else what is spelt alike."""
    names = hyperpod_type_names()
    if not refused.neuron_cores:
        return did_you_mean(refused.sagemaker_name, names)
    return f"; with Neuron devices it accepts {either(shown(n) for n in names if InstanceType.of(n).neuron_cores)}"


def count_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that the minimum does not exceed the count."""
    count, least = group.spec.count, group.spec.min_count
    if least is not None and not unresolved(count, least) and least > count:
        yield Problem(("min_count",), f"must be at most the {option('count')} of {count}, got {least}")


def threads_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that the instance types have so many threads per core."""
    threads = group.spec.threads_per_core
    if threads is None or unresolved(threads):
        return
    for known in group.types:
        if threads > known.threads_per_core:
            why = f"{known.sagemaker_name} has one thread per core"
            yield Problem(("threads_per_core",), f"must be 1, got {threads}; {why}")


def volume_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that root volumes have a key and no size, secondary ones a size; one of each."""
    seen: set[bool] = set()
    for index, volume in enumerate(group.spec.volumes):
        if unresolved(volume, volume.root):
            continue
        yield from within(("volumes", index), _volume_problems(volume))
        if volume.root in seen:
            noun = "root volume" if volume.root else "secondary volume"
            yield Problem(("volumes", index), f"must be the one {noun}, got a second")
        seen.add(volume.root)


def _volume_problems(volume: EbsVolume) -> Iterator[Problem]:
    if volume.root and volume.size_gb is not None:
        why = "HyperPod decides the root volume's size, use a second volume for space"
        yield Problem(("size_gb",), f"must be left out for the root volume, got {shown(volume.size_gb)}; {why}")
    if volume.root and volume.key is None:
        why = "a root volume is configured only to be encrypted with a key"
        yield Problem(("key",), f"must be given for the root volume; {why}")
    if not volume.root and volume.size_gb is None:
        root = f"; give {option('root')} true for the root volume" if volume.key is not None else ""
        yield Problem(("size_gb",), f"must be 1 to {limits.VOLUME_GB[-1]} GB, got none{root}")


def capacity_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that instances are bought in one of the ways that HyperPod knows."""
    capacity, plan = group.spec.capacity, group.spec.training_plan_arn
    if capacity is UsageClass.CAPACITY_BLOCK:
        remedy = f"HyperPod has training plans, give {option('training_plan_arn')}"
        yield Problem(("capacity",), f"must be on-demand or spot, got {capacity}; {remedy}")
    elif capacity is not None and plan is not None and not unresolved(capacity):
        text = (
            f"must be left out with {option('training_plan_arn')}, got {capacity}; the plan reserves its own instances"
        )
        yield Problem(("capacity",), text)


def plan_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that a training plan can reserve every type of its group."""
    if group.spec.training_plan_arn is None:
        return
    for known in group.types:
        if known.hyperpod and known.sagemaker_name not in limits.PLAN_TYPES:
            text = f"must be left out for {known.sagemaker_name}: plans reserve only {either(limits.PLAN_TYPES)}"
            yield Problem(("training_plan_arn",), text)


def deep_health_check_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that compute nodes with accelerators are tested, and connectivity between two of them."""
    checks, at = group.spec.deep_health_checks, ("deep_health_checks",)
    if not checks or unresolved(checks, *checks):
        return
    if group.role is not GroupRole.COMPUTE and not unresolved(group.role):
        yield Problem(at, f"must be empty for a {group.role} group; only compute nodes are tested")
        return
    for known in group.types:
        if not known.accelerated:
            yield Problem(at, f"must be empty for {known.sagemaker_name}; it has no accelerator to test")
    if DeepHealthCheck.INSTANCE_CONNECTIVITY in checks and group.spec.count == 1:
        name = DeepHealthCheck.INSTANCE_CONNECTIVITY.value
        yield Problem(at, f"must not hold {name} for one node; it tests pairs, use {option('count')} 2 or more")


def interface_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that an interface type is asked for where there is EFA."""
    kind = group.spec.interface_type
    if kind is None or unresolved(kind):
        return
    for known in group.types:
        if not known.efa_supported:
            text = f"must be left out for {known.sagemaker_name}, got {kind}; the type has no EFA"
            yield Problem(("interface_type",), text)


def update_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that rolling updates are within the service's limits."""
    for name, update in (
        ("scheduled_update", group.spec.scheduled_update),
        ("auto_patch", group.spec.auto_patch),
    ):
        if update and update.rolling and not unresolved(update, update.rolling):
            yield from within((name, "rolling"), _rolling_problems(update.rolling))


def _rolling_problems(rolling: RollingUpdate) -> Iterator[Problem]:
    for name, batch in (("batch", rolling.batch), ("rollback_batch", rolling.rollback_batch)):
        if batch:
            yield from within((name,), _batch_problems(batch))
    wait, alarms = rolling.wait, rolling.rollback_alarms
    unknown = unresolved(wait) or getattr(wait, "is_unresolved", bool)()
    if wait is not None and not unknown and wait.to_seconds() not in limits.WAIT_SECONDS:
        yield Problem(("wait",), f"must be at most one hour, got {wait.to_seconds()} seconds")
    if len(alarms) > limits.ROLLBACK_ALARMS[-1]:
        yield Problem(("rollback_alarms",), f"must be at most {limits.ROLLBACK_ALARMS[-1]}, got {len(alarms)}")


def _batch_problems(batch: BatchSize) -> Iterator[Problem]:
    over = not unresolved(batch, batch.value) and batch.value > limits.PERCENT[-1]
    if over and batch.unit is BatchUnit.PERCENT:
        yield Problem(("value",), f"must be 1 to 100 percent, got {batch.value}")


def script_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that a node runs one script, which its bundle holds."""
    if group.spec.lifecycle is not None:
        yield from within(("lifecycle",), lifecycle_problems(group.spec.lifecycle))


def lifecycle_problems(lifecycle: Lifecycle) -> Iterator[Problem]:
    """Check what runs when a node starts.

    Args:
        lifecycle: The lifecycle of a group, or of the cluster.
    """
    if unresolved(lifecycle):
        return
    if lifecycle.on_create is not None and lifecycle.on_init_complete is not None:
        why = "the first replaces what the image does, the second adds to it"
        yield Problem((), f"must have one of {option('on_create')} and {option('on_init_complete')}, got both; {why}")
    script, scripts = lifecycle.script, lifecycle.scripts
    name = "on_init_complete" if lifecycle.on_create is None else "on_create"
    if unresolved(scripts, script):
        return
    if script is not None and (scripts is not None or lifecycle.is_own):
        at, ours = (name,), f"{name}.sh"
        yield from scripts.entry_problems(script, at=at) if scripts else entry_problems(own_bundle(), script, at=at)
        if lifecycle.is_own and script != ours and own_bundle().find(script):
            why = "of the scripts that come with cdk-trainyard it alone is for this"
            yield Problem(at, f"must be {shown(ours)}, got {shown(script)}; {why}")
    elif scripts is not None:
        yield Problem(("scripts",), f"are not run without {option('on_create')} or {option('on_init_complete')}")


def mount_problems(mounts: Sequence[MountFacts], volumes: bool) -> Iterator[Problem]:
    """Check file systems that nodes mount together: one of each kind at the most, side by side.

    Args:
        mounts: What is known of them.
        volumes: Whether the nodes have secondary volumes.
    """
    taken = [limits.EBS_MOUNT] if volumes else []
    for index, mount in enumerate(mounts):
        before = mounts[:index]
        if mount.kind in {other.kind for other in before}:
            yield Problem((index,), f"must be the one {mount.kind} file system, got a second")
        if not unresolved(mount.path) and (wrong := ON_HYPERPOD.problem(mount.path, NOWHERE)):
            yield wrong.at((index, "at"))
        yield from _path_problems((index, "at"), mount.path, [*taken, *(other.path for other in before)])
        name = mount.dns_name
        if name is not None and not unresolved(name) and not limits.FILE_SYSTEM_DNS_NAME.fullmatch(name):
            text = f"must have a DNS name of fs-…, a dot and its domain, got {shown(name)}"
            yield Problem((index, "file_system"), text)


def _path_problems(at: At, path: str, others: Sequence[str]) -> Iterator[Problem]:
    for other in others:
        if not unresolved(path, other) and (f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/")):
            yield Problem(at, f"must not be {other}, in it or around it, as it is mounted, got {shown(path)}")


def likeness_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that several types of a group are alike to a job: in processor, and in kind and number of accelerators."""
    if len(group.types) < len(group.spec.names_of_types):
        return
    like = {(each.architecture, sum(part.count for part in each.accelerators), *_kinds(each)) for each in group.types}
    if len(like) > 1:
        names = ", ".join(each.sagemaker_name for each in group.types)
        alike = "types of one processor, and with as many accelerators of one kind, as a job finds any of them"
        yield Problem(("instance_types",), f"must be {alike}, got {names}; make a group of each")


def _kinds(known: InstanceType) -> tuple[str, ...]:
    return tuple(part.kind.value for part in known.accelerators)


_RULES = (
    instance_type_problems,
    likeness_problems,
    count_problems,
    threads_problems,
    volume_problems,
    capacity_problems,
    plan_problems,
    deep_health_check_problems,
    interface_problems,
    update_problems,
    script_problems,
    override_problems,
)
