"""What can be wrong with a cluster as a whole, and how to put it right. Pure: nothing is created here."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.capacity import CapacityKind
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.hyperpod.rules_groups import name_problems
from cdk_trainyard.hyperpod.topology import ApiTopology, LegacyTopology
from cdk_trainyard.lifecycle import GroupRole, SlurmTopology
from cdk_trainyard.tokens import unresolved


def cluster_name_problems(cluster: ResolvedCluster) -> list[str]:
    """The name follows the service's pattern (R3)."""
    return name_problems("'cluster_name'", cluster.name)


def group_list_problems(cluster: ResolvedCluster) -> list[str]:
    """There are groups, not too many, each with a name of its own (R3)."""
    if len(cluster.groups) not in limits.GROUPS:
        return [f"'groups' must be 1 to {limits.GROUPS[-1]}, got {len(cluster.groups)}"]
    counts = Counter(group.name for group in cluster.groups)
    return [
        f"'name' of a group must be unique, got {name!r} {count} times" for name, count in counts.items() if count > 1
    ]


def role_problems(cluster: ResolvedCluster) -> list[str]:
    """One controller group, at most one login group, at least one compute group (R4)."""
    names = {role: [group.name for group in cluster.of_role(role)] for role in GroupRole}
    problems = []
    if len(names[GroupRole.CONTROLLER]) != 1:
        problems.append(f"'groups' must hold exactly one controller group, got {_listed(names[GroupRole.CONTROLLER])}")
    if len(names[GroupRole.LOGIN]) > 1:
        problems.append(f"'groups' must hold at most one login group, got {_listed(names[GroupRole.LOGIN])}")
    if not names[GroupRole.COMPUTE]:
        problems.append(
            "'groups' must hold at least one compute group, got none; there would be nothing to run jobs on"
        )
    return problems


def partition_problems(cluster: ResolvedCluster) -> list[str]:
    """Compute groups have a partition, no other group has one, and the API accepts its name (R4)."""
    problems = []
    for group in cluster.groups:
        partition = group.given.partition
        if partition is None:
            continue
        if group.role is not GroupRole.COMPUTE:
            problems.append(
                f"'partition' of group {group.name!r} must not be given for a {group.role.name.lower()} group, "
                f"got {partition!r}; partitions hold compute nodes"
            )
        elif not cluster.legacy:
            problems += name_problems(f"'partition' of group {group.name!r}", partition)
    return problems


def strategy_problems(cluster: ResolvedCluster) -> list[str]:
    """With continuous provisioning the service rejects every strategy (R6)."""
    match cluster.topology:
        case ApiTopology(strategy=strategy) if strategy and cluster.continuous:
            rule = "'strategy' must not be given with continuous provisioning"
            return [f"{rule}, got {strategy.name}; the service merges and rejects the field"]
    return []


def continuous_problems(cluster: ResolvedCluster) -> list[str]:
    """Some things exist only with continuous provisioning, and that only with the API's topology (R7)."""
    if cluster.continuous:
        if cluster.legacy:
            return ["'provisioning' must not be CONTINUOUS with LegacyTopology; use ApiTopology"]
        return []
    problems: list[str] = []
    if cluster.accounting and not cluster.legacy and not cluster.scripts_account:
        problems.append(
            "'accounting' needs 'provisioning' CONTINUOUS, or Lifecycle.on_create() for the controller, whose scripts "
            "set it up"
        )
    for group in cluster.groups:
        problems += _needing_continuous(group)
    return problems


def _needing_continuous(group: ResolvedGroup) -> Iterator[str]:
    given = group.given
    needs = {
        "min_count": given.min_count is not None,
        "capacity": given.capacity is not None and given.capacity.kind is CapacityKind.SPOT,
        "key": any(volume.key is not None for volume in given.volumes),
    }
    labels = {"min_count": "'min_count'", "capacity": "'capacity' Spot", "key": "'key' of a volume"}
    for keyword, present in needs.items():
        if present:
            yield f"{labels[keyword]} of group {group.name!r} needs 'provisioning' CONTINUOUS"


def password_problems(cluster: ResolvedCluster) -> list[str]:
    """Only controllers read the password of the accounting database."""
    served = any(group.given.execution_role is None for group in cluster.of_role(GroupRole.CONTROLLER))
    if not (cluster.shared_role and cluster.databases and served):
        return []
    why = "with one role for all, every node could read its password"
    return [f"'controller_role' must be given beside a role of yours when there is an accounting database; {why}"]


def controller_count_problems(cluster: ResolvedCluster) -> list[str]:
    """One controller node; several only with the legacy topology's multi-head block (R8)."""
    multi_head = isinstance(cluster.topology, LegacyTopology) and cluster.topology.multi_head is not None
    problems = []
    for group in cluster.of_role(GroupRole.CONTROLLER):
        count = group.given.count
        if unresolved(count):
            continue
        if multi_head and count < 2:  # noqa: PLR2004  several means two
            problems.append(f"'count' of controller group {group.name!r} must be 2 or more with MultiHead, got {count}")
        elif not multi_head and count != 1:
            problems.append(
                f"'count' of controller group {group.name!r} must be 1, got {count}; several controllers need "
                f"LegacyTopology(multi_head=MultiHead(…))"
            )
    return problems


def legacy_problems(cluster: ResolvedCluster) -> list[str]:
    """The legacy file comes with the scripts of every group, and knows one set of mounts (R5)."""
    if not cluster.legacy:
        return []
    problems: list[str] = []
    if cluster.accounting and not cluster.scripts_account:
        problems.append(
            "'accounting' must not be given with LegacyTopology; use MultiHead(database=…), or Lifecycle.on_create() "
            "for one controller, whose scripts set it up"
        )
    for group in cluster.groups:
        if not group.lifecycle.runs_scripts:
            problems.append(
                f"'lifecycle' of group {group.name!r} must run scripts with LegacyTopology, got Lifecycle.image(); "
                f"the topology is a file beside the scripts"
            )
        if group.given.mounts is not None:
            problems.append(
                f"'mounts' of group {group.name!r} must not be given with LegacyTopology; "
                f"the file knows one set of mounts for all, give them to the cluster"
            )
    return problems


def bundle_topology_problems(cluster: ResolvedCluster) -> list[str]:
    """A bundle holds the legacy file when the topology is legacy, and only then (R5)."""
    expected = SlurmTopology.LEGACY if cluster.legacy else SlurmTopology.API_DRIVEN
    return [
        f"'lifecycle' of group {group.name!r} must run scripts made for the cluster's topology, "
        f"SlurmTopology.{expected.name}, got ones for SlurmTopology.{scripts.topology.name}"
        for group in cluster.groups
        if (scripts := group.lifecycle.scripts) and scripts.topology is not expected
    ]


def script_source_problems(cluster: ResolvedCluster) -> list[str]:
    """Every script comes from a bundle, and a bundle is uploaded for a script (R9)."""
    using = [group for group in cluster.groups if group.lifecycle.runs_scripts and group.lifecycle.scripts is None]
    if cluster.scripts_bucket:
        unused = "'scripts_bucket' must not be given when no group runs scripts from it; give 'lifecycle' too"
        return [] if using else [unused]
    return [
        f"'lifecycle' of group {group.name!r} must name its scripts; "
        f"give it LifecycleScripts, or give 'scripts_bucket' to the cluster"
        for group in using
    ]


def network_problems(cluster: ResolvedCluster) -> list[str]:
    """Mounts, subnets and security groups of yours need a network of yours (R10)."""
    if cluster.network is not None:
        return []
    problems = ["'security_group' needs 'network'"] * bool(cluster.security_groups)
    problems += ["'mounts' needs 'network'; nodes in HyperPod's own VPC do not reach your file systems"] * bool(
        cluster.mounts
    )
    problems += ["'accounting' needs 'network'; nodes in HyperPod's own VPC do not reach it"] * bool(cluster.accounting)
    for group in cluster.groups:
        for keyword in ("network", "security_groups", "mounts"):
            if getattr(group.given, keyword):
                problems.append(f"{keyword!r} of group {group.name!r} needs the cluster's 'network'")
    return problems


def security_group_problems(cluster: ResolvedCluster) -> list[str]:
    """At most five security groups on a node."""
    problems = _too_many("'security_group' and 'extra_security_groups' together", len(cluster.security_groups))
    for group in cluster.groups:
        problems += _too_many(f"'security_groups' of group {group.name!r}", len(group.given.security_groups))
    return problems


def override_problems(cluster: ResolvedCluster) -> list[str]:
    """Overrides of the cluster leave the groups to the groups' own (R18)."""
    return [
        f"'raw_overrides' must not hold {path!r}; give it to the group, as InstanceGroup(raw_overrides=…)"
        for path in cluster.raw_overrides
        if path.partition(".")[0] == "InstanceGroups"
    ]


def _too_many(what: str, number: int) -> list[str]:
    most = limits.SECURITY_GROUPS[-1]
    return [f"{what} must be at most {most}, got {number}"] if number > most else []


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"
