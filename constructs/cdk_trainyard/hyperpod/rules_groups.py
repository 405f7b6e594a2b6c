"""What can be wrong with one instance group, and how to put it right. Pure: nothing is created here."""

import re
from collections.abc import Iterator

from cdk_trainyard.errors import ConfigurationError, did_you_mean
from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.capacity import CapacityKind
from cdk_trainyard.hyperpod.instance_group import DeepHealthCheck
from cdk_trainyard.hyperpod.resolved import ResolvedGroup, type_names
from cdk_trainyard.hyperpod.updates import BatchSize, BatchUnit, RollingUpdate
from cdk_trainyard.hyperpod.volumes import EbsVolume
from cdk_trainyard.instances import InstanceType, hyperpod_type_names
from cdk_trainyard.lifecycle import GroupRole
from cdk_trainyard.storage.spec import MOUNT_PATH, MOUNT_PATH_LENGTH
from cdk_trainyard.tokens import unresolved


def group_name_problems(group: ResolvedGroup) -> list[str]:
    """The name follows the service's pattern (R3)."""
    return name_problems("'name' of a group", group.name)


def name_problems(what: str, name: str) -> list[str]:
    """A name follows the service's pattern for clusters, groups and partitions (R3).

    Args:
        what: The keyword, and whose it is.
        name: The name.
    """
    if unresolved(name) or (limits.NAME.fullmatch(name) and len(name) <= limits.NAME_LENGTH):
        return []
    suggestion = re.sub(r"[^a-zA-Z0-9]+", "-", name).strip("-")[: limits.NAME_LENGTH].rstrip("-")
    remedy = f"; use {suggestion!r}" if suggestion else ""
    length = f" ({len(name)} characters)" if len(name) > limits.NAME_LENGTH else ""
    return [f"{what} must be 1 to {limits.NAME_LENGTH} letters, digits and inner hyphens, got {name!r}{length}{remedy}"]


def instance_type_problems(group: ResolvedGroup) -> list[str]:
    """One type or several, each known and each accepted by HyperPod (R13)."""
    given = group.given
    if (given.instance_type is None) == (not given.instance_types):
        got = "neither" if given.instance_type is None else "both"
        return [f"group {group.name!r} must have either 'instance_type' or 'instance_types', got {got}"]
    if given.instance_types and len(given.instance_types) not in limits.INSTANCE_TYPES:
        return [f"'instance_types' of group {group.name!r} must be at most 20, got {len(given.instance_types)}"]
    names = type_names(given)
    return [problem for name in names if not unresolved(name) for problem in _type_problems(group.name, name)]


def _type_problems(group_name: str, name: str | InstanceType) -> Iterator[str]:
    try:
        known = InstanceType.of(name)
    except ConfigurationError as error:
        yield from (f"group {group_name!r}: {problem}" for problem in error.problems)
        return
    if not known.hyperpod:
        yield (
            f"'instance_type' of group {group_name!r} must be one of the {len(hyperpod_type_names())} types that "
            f"HyperPod accepts, got {known.sagemaker_name!r}{_accepted_instead(known)}"
        )


def _accepted_instead(refused: InstanceType) -> str:
    """Name the types with Neuron devices for one that has them, and else what is spelt alike."""
    names = hyperpod_type_names()
    if not refused.neuron_cores:
        return did_you_mean(refused.sagemaker_name, names)
    neuron = [repr(name) for name in names if InstanceType.of(name).neuron_cores]
    return f"; with Neuron devices it accepts {', '.join(neuron)}"


def count_problems(group: ResolvedGroup) -> list[str]:
    """Counts are in range and the minimum does not exceed the count (R7)."""
    problems = []
    given, allowed = group.given, f"0 to {limits.INSTANCES[-1]}"
    for keyword, value in (("count", given.count), ("min_count", given.min_count)):
        if value is not None and not unresolved(value) and value not in limits.INSTANCES:
            problems.append(f"{keyword!r} of group {group.name!r} must be {allowed}, got {value}")
    least = given.min_count
    if problems or least is None or unresolved(least) or unresolved(given.count) or least <= given.count:
        return problems
    return [f"'min_count' of group {group.name!r} must be at most its 'count' of {given.count}, got {least}"]


def threads_problems(group: ResolvedGroup) -> list[str]:
    """Threads per core exist on the instance type."""
    threads = group.given.threads_per_core
    if threads is None or unresolved(threads):
        return []
    if threads not in limits.THREADS_PER_CORE:
        return [f"'threads_per_core' of group {group.name!r} must be 1 or 2, got {threads}"]
    return [
        f"'threads_per_core' of group {group.name!r} must be 1, got {threads}; "
        f"{known.sagemaker_name} has one thread per core"
        for known in group.types
        if threads > known.threads_per_core
    ]


def volume_problems(group: ResolvedGroup) -> list[str]:
    """Root volumes have a key and no size, secondary ones a size; one of each (R16)."""
    volumes = group.given.volumes
    problems = [problem for volume in volumes for problem in _volume_problems(group.name, volume)]
    for root, noun in ((True, "root volume"), (False, "secondary volume")):
        number = sum(volume.root is root for volume in volumes)
        if number > 1:
            problems.append(f"'volumes' of group {group.name!r} must hold at most one {noun}, got {number}")
    return problems


def _volume_problems(group_name: str, volume: EbsVolume) -> Iterator[str]:
    if volume.root and volume.size_gb is not None:
        yield (
            f"'size_gb' of the root volume of group {group_name!r} must not be given, got {volume.size_gb}; HyperPod "
            f"decides the root volume's size, use a second EbsVolume for space"
        )
    if volume.root and volume.key is None:
        yield (
            f"'key' of the root volume of group {group_name!r} must be given; "
            f"a root volume is configured only to be encrypted with a key"
        )
    if volume.root or unresolved(volume.size_gb):
        return
    if volume.size_gb is None:
        yield f"'size_gb' of a volume of group {group_name!r} must be 1 to {limits.VOLUME_GB[-1]}, got none"
    elif volume.size_gb not in limits.VOLUME_GB:
        yield f"'size_gb' of a volume of group {group_name!r} must be 1 to {limits.VOLUME_GB[-1]}, got {volume.size_gb}"


def capacity_problems(group: ResolvedGroup) -> list[str]:
    """A training plan is named where it is used, and only there."""
    capacity = group.given.capacity
    if capacity is None:
        return []
    arn, planned = capacity.training_plan_arn, capacity.kind is CapacityKind.TRAINING_PLAN
    if arn is not None and not planned:
        rule = f"'capacity' of group {group.name!r} must be either a training plan or {capacity.kind.name}"
        return [f"{rule}, got both; the plan reserves its own instances"]
    if planned and not unresolved(arn) and not limits.TRAINING_PLAN_ARN.fullmatch(arn or ""):
        return [f"'training_plan_arn' of group {group.name!r} must be the ARN of a training plan, got {arn!r}"]
    return []


def deep_health_check_problems(group: ResolvedGroup) -> list[str]:
    """Deep health checks run on compute nodes with accelerators, and connectivity between two of them (R15)."""
    checks = group.given.deep_health_checks
    if not checks:
        return []
    what = f"'deep_health_checks' of group {group.name!r}"
    problems = []
    if group.role is not GroupRole.COMPUTE:
        problems.append(f"{what} must be empty for a {group.role.name.lower()} group; only compute nodes are tested")
    problems += [
        f"{what} must be empty for {known.sagemaker_name}; it has no accelerator to test"
        for known in group.types
        if not known.accelerated
    ]
    if len(set(checks)) < len(checks):
        problems.append(f"{what} must name each check once, got {', '.join(checks)}")
    if DeepHealthCheck.INSTANCE_CONNECTIVITY in checks and group.given.count == 1:
        problems.append(
            f"{what} must not hold INSTANCE_CONNECTIVITY for one node; it tests pairs, use 'count' 2 or more"
        )
    return problems


def interface_problems(group: ResolvedGroup) -> list[str]:
    """An interface type is asked for where there is EFA."""
    kind = group.given.interface_type
    if kind is None:
        return []
    return [
        f"'interface_type' of group {group.name!r} must not be given for {known.sagemaker_name}, got {kind.value!r}; "
        f"the type has no EFA"
        for known in group.types
        if not known.efa_supported
    ]


def image_problems(group: ResolvedGroup) -> list[str]:
    """An image id looks like one."""
    image = group.given.image_id
    if image is None or unresolved(image) or limits.IMAGE_ID.fullmatch(image):
        return []
    return [f"'image_id' of group {group.name!r} must be an AMI id (ami-…) or 'default', got {image!r}"]


def update_problems(group: ResolvedGroup) -> list[str]:
    """Schedules and rolling updates are within the service's limits."""
    scheduled, patch = group.given.scheduled_update, group.given.auto_patch
    problems = []
    if scheduled:
        schedule = scheduled.schedule
        legal = limits.SCHEDULE.fullmatch(schedule) and len(schedule) <= limits.SCHEDULE_LENGTH
        if not unresolved(schedule) and not legal:
            problems.append(
                f"'schedule' of group {group.name!r} must be a cron expression of at most {limits.SCHEDULE_LENGTH} "
                f"characters, as cron(0 4 ? * SUN *), got {schedule!r}"
            )
    for keyword, rolling in (
        ("scheduled_update", scheduled and scheduled.rolling),
        ("auto_patch", patch and patch.rolling),
    ):
        if rolling:
            problems += _rolling_problems(f"of {keyword!r} of group {group.name!r}", rolling)
    return problems


def _rolling_problems(where: str, rolling: RollingUpdate) -> Iterator[str]:
    for keyword, batch in (("batch", rolling.batch), ("rollback_batch", rolling.rollback_batch)):
        if batch and not unresolved(batch.value):
            yield from _batch_problems(f"{keyword!r} {where}", batch)
    wait = rolling.wait
    if wait and not wait.is_unresolved() and wait.to_seconds() not in limits.WAIT_SECONDS:
        yield f"'wait' {where} must be at most one hour, got {wait.to_human_string()}"
    if rolling.rollback_alarms and len(rolling.rollback_alarms) not in limits.ROLLBACK_ALARMS:
        yield (
            f"'rollback_alarms' {where} must be at most {limits.ROLLBACK_ALARMS[-1]}, "
            f"got {len(rolling.rollback_alarms)}"
        )


def _batch_problems(what: str, batch: BatchSize) -> Iterator[str]:
    if batch.unit is BatchUnit.PERCENT and batch.value not in limits.PERCENT:
        yield f"{what} must be 1 to 100 percent, got {batch.value}"
    if batch.unit is BatchUnit.INSTANCES and batch.value < 1:
        yield f"{what} must be at least 1 instance, got {batch.value}"


def script_problems(group: ResolvedGroup) -> list[str]:
    """The bundle holds the file that is to run (R9)."""
    lifecycle = group.lifecycle
    if lifecycle.scripts is None or lifecycle.file is None:
        return []
    return [
        f"lifecycle of group {group.name!r}: {problem}" for problem in lifecycle.scripts.entry_problems(lifecycle.file)
    ]


def mount_problems(group: ResolvedGroup) -> list[str]:
    """One Lustre and one OpenZFS file system at the most, at different and legal paths (R10)."""
    problems = []
    for kind in ("Lustre", "OpenZFS"):
        number = sum(mount.kind == kind for mount in group.mounts)
        if number > 1:
            problems.append(f"'mounts' of group {group.name!r} must hold at most one {kind} file system, got {number}")
    paths = [mount.path for mount in group.mounts if not unresolved(mount.path)]
    problems += [
        f"'at' of a mount of group {group.name!r} must be an absolute path of letters, digits, '.', '_' and '-' "
        f"without a slash at the end, got {path!r}"
        for path in paths
        if not MOUNT_PATH.fullmatch(path) or len(path) > MOUNT_PATH_LENGTH
    ]
    problems += [
        f"'dns_name' of a file system of group {group.name!r} must be fs-…, a dot and its domain, got {name!r}"
        for name in (mount.file_system.dns_name for mount in group.mounts)
        if not unresolved(name) and not limits.FILE_SYSTEM_DNS_NAME.fullmatch(name)
    ]
    if len(set(paths)) < len(paths):
        problems.append(f"'mounts' of group {group.name!r} must be at different paths, got {', '.join(paths)}")
    return problems


def raw_override_problems(group: ResolvedGroup) -> list[str]:
    """An override never writes what the service writes (R18)."""
    return [
        f"'raw_overrides' of group {group.name!r} must not hold {path!r}; the service writes it"
        for path in group.given.raw_overrides or {}
        if path.rpartition(".")[2] in limits.READ_ONLY
    ]
