"""What can be wrong with a cluster as a whole: pure functions, silent about Tokens."""

from collections.abc import Iterator, Sequence
from typing import Any

from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.kinds import ClusterName
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.hyperpod.rules_groups import (
    lifecycle_problems,
    mount_problems,
)
from cdk_trainyard.hyperpod.rules_overrides import cluster_override_problems
from cdk_trainyard.hyperpod.spec import NodeProvisioning
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.lifecycle.spec import GroupRole, NodeSetup, SlurmTopology
from cdk_trainyard.options.kinds import NOWHERE, Text
from cdk_trainyard.problems import Problem, option, shown, within
from cdk_trainyard.tokens import unresolved

_CONTINUOUS = NodeProvisioning.CONTINUOUS.value
_API, _LEGACY = SlurmTopology.API_DRIVEN.value, SlurmTopology.LEGACY.value
_SEVERAL = 2
_ACCOUNTING_SCRIPT = (
    f"{option('on_create')} in the lifecycle of one controller, of the scripts that come with cdk-trainyard: they "
    "alone set it up"
)
"""What accounting needs where HyperPod does not configure it."""
_ONE_FOR_ALL = "with one role for all, every node could read its password"
_IN_API = ClusterName(longest=limits.PARTITION_LENGTH)
"""``ClusterPartitionName`` of botocore's model, and the provider schema."""
PARTITION_IN_SLURM = Text(
    pattern=r"(?!(?i:default)$)[A-Za-z0-9][A-Za-z0-9._-]*",
    words="a name of letters, digits, '.', '_' and '-' other than DEFAULT",
    example="training",
    longest=limits.PARTITION_LENGTH,
)
"""A partition of the legacy file, from which HyperPod writes ``slurm.conf``: there a blank ends a value, a comma ends a
name, '#' begins a comment, and DEFAULT sets defaults (slurm.conf(5))."""


def group_list_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that there are groups, not too many, each with a name of its own."""
    groups = cluster.spec.groups
    if unresolved(groups):
        return
    if len(groups) not in limits.GROUPS:
        yield Problem(("groups",), f"must be 1 to {limits.GROUPS[-1]}, got {len(groups)}")
    names = [group.name for group in cluster.groups]
    for index, name in enumerate(names):
        if name in names[:index] and not unresolved(name):
            yield Problem(("groups", name, "name"), f"must be a name of its own, got {shown(name)} again")


def name_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that no other cluster of the app has the name."""
    name = cluster.spec.cluster_name
    if name is not None and not unresolved(name) and name in cluster.facts.other_names:
        why = "SageMaker refuses a second cluster of a name in an account and Region"
        yield Problem(("cluster_name",), f"must be another than that of any cluster, got {shown(name)} again: {why}")


def role_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that there is one controller group, at most one login group, and a compute group."""
    if not cluster.is_whole or not cluster.groups:
        return
    names = {role: [group.name for group in cluster.of_role(role)] for role in GroupRole}
    controllers, logins = names[GroupRole.CONTROLLER], names[GroupRole.LOGIN]
    if len(controllers) != 1:
        yield Problem(("groups",), f"must hold exactly one controller group, got {_listed(controllers)}")
    if len(logins) > 1:
        yield Problem(("groups",), f"must hold at most one login group, got {_listed(logins)}")
    if not names[GroupRole.COMPUTE]:
        why = "there would be nothing to run jobs on"
        yield Problem(("groups",), f"must hold at least one compute group, got none; {why}")


def partition_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that compute groups alone have a partition, with a name that the API and Slurm take."""
    taken = _taken_partitions(cluster)
    for group in cluster.groups:
        said, partition = group.spec.partition, group.partition
        if partition is None or unresolved(partition, group.role):
            continue
        at = group.at if said is None else (*group.at, "partition")
        if group.role is not GroupRole.COMPUTE:
            text = f"must be left out for a {group.role} group, got {shown(said)}; partitions hold compute nodes"
            yield Problem(at, text)
        elif partition in taken or partition.lower() == limits.PARTITION_OF_DEFAULTS:
            remedy = "" if said else f"; give it another {option('partition')}, or another name"
            why = "into which HyperPod puts every node" if partition in taken else "a line of slurm.conf's defaults"
            yield Problem(at, f"must not be {shown(partition)} as a partition, {why}{remedy}")
        elif said is not None and (wrong := (PARTITION_IN_SLURM if cluster.legacy else _IN_API).problem(said, NOWHERE)):
            yield wrong.at(at)


def _taken_partitions(cluster: ResolvedCluster) -> set[str]:
    """Return whose names no partition has: the legacy file may say ``dev``, from which our hostfile tells any other."""
    names = [group.partition for group in cluster.of_role(GroupRole.COMPUTE) if not unresolved(group.partition)]
    others = set(names) - {limits.PARTITION_OF_ALL}
    free = cluster.legacy and not (others and cluster.runs_own_scripts)
    return set() if free else {limits.PARTITION_OF_ALL}


def strategy_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that a strategy is given only where the service takes one."""
    strategy, at = cluster.spec.slurm_config_strategy, ("slurm_config_strategy",)
    if strategy is None or unresolved(strategy):
        return
    if cluster.legacy:
        yield Problem(at, f"must be left out with {option('topology')} {_LEGACY}; the file knows no strategy")
    elif cluster.continuous:
        why = "the service merges and rejects the field"
        yield Problem(at, f"must be left out with continuous provisioning, got {strategy}; {why}")


def continuous_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check what exists only with continuous provisioning, and that only with the API's topology."""
    if cluster.continuous and cluster.legacy:
        text = f"must not be {_CONTINUOUS} with {option('topology')} {_LEGACY}; use {_API}"
        yield Problem(("provisioning",), text)
    if cluster.spec.provisioning is not None:
        return
    if cluster.is_whole and cluster.facts.accounting and not cluster.legacy and not cluster.scripts_account:
        yield Problem(("accounting",), f"needs {option('provisioning')} {_CONTINUOUS}, or {_ACCOUNTING_SCRIPT}")
    for group in cluster.groups:
        yield from within(group.at, _needing_continuous(group))


def _needing_continuous(group: ResolvedGroup) -> Iterator[Problem]:
    needs = f"{option('provisioning')} {_CONTINUOUS} of the cluster"
    if group.spec.min_count is not None:
        yield Problem(("min_count",), f"needs {needs}")
    if group.spec.capacity is UsageClass.SPOT and group.spec.training_plan_arn is None:
        yield Problem(("capacity",), f"needs {needs} to be spot")
    for index, volume in enumerate(group.spec.volumes):
        if volume.key is not None and not unresolved(volume):
            yield Problem(("volumes", index, "key"), f"needs {needs}")


def image_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that one AMI is not for two architectures."""
    seen: dict[str, ResolvedGroup] = {}
    for group in cluster.groups:
        image = group.spec.image_id
        if image in {None, limits.IMAGE_BY_DEFAULT} or unresolved(image) or not group.types:
            continue
        first = seen.setdefault(str(image), group)
        one, other = first.types[0], group.types[0]
        if one.architecture != other.architecture:
            got = f"got {shown(image)} for {other.sagemaker_name} of {other.architecture}"
            whose = f"the group {shown(first.name)} has for {one.sagemaker_name} of {one.architecture}"
            yield Problem((*group.at, "image_id"), f"must be another AMI than the one that {whose}, {got}")


def password_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that only controllers read the password of the accounting database, and that a policy has a role."""
    spec = cluster.spec
    if spec.aws_managed_policy is False and spec.role is not None:
        text = f"must be left out beside {option('role')}: only roles that are made have the policy, and none is"
        yield Problem(("aws_managed_policy",), text)
    served = any(group.spec.execution_role is None for group in cluster.of_role(GroupRole.CONTROLLER))
    databases = cluster.facts.accounting or cluster.has_multi_head
    if spec.role is not None and spec.controller_role is None and databases and served:
        text = f"must have {option('controller_role')} beside it when there is an accounting database; {_ONE_FOR_ALL}"
        yield Problem(("role",), text)
    elif spec.role is not None and databases and served and _are_one(spec.role, spec.controller_role):
        text = f"must be another role than {option('role')} when there is an accounting database; {_ONE_FOR_ALL}"
        yield Problem(("controller_role",), f"{text}, got {shown(spec.role.role_arn)} for both")


def _are_one(role: Any, other: Any) -> bool:
    return role is other or (not unresolved(role.role_arn, other.role_arn) and role.role_arn == other.role_arn)


def controller_count_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that there is one controller node; several only with the legacy topology's multi-head block."""
    several = cluster.has_multi_head
    if several and not cluster.legacy and not unresolved(cluster.spec.topology):
        yield Problem(("multi_head",), f"needs {option('topology')} {_LEGACY}")
    for group in cluster.of_role(GroupRole.CONTROLLER):
        count, at = group.spec.count, (*group.at, "count")
        if unresolved(count):
            continue
        if several and count < _SEVERAL:
            yield Problem(at, f"must be 2 or more for several controllers, got {count}")
        elif not several and count != 1:
            remedy = "; several controllers need the legacy topology, and the construct library" if count else ""
            yield Problem(at, f"must be 1 for a controller group, got {count}{remedy}")


def legacy_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that the legacy file can come with the scripts of every group; it knows one set of mounts."""
    if not cluster.legacy:
        return
    if cluster.is_whole and cluster.facts.accounting and not cluster.scripts_account:
        text = f"must be left out with {option('topology')} {_LEGACY}, or come with {_ACCOUNTING_SCRIPT}"
        yield Problem(("accounting",), text)
    for group in cluster.groups:
        if group.lifecycle.script is None:
            own = group.spec.lifecycle is not None
            why = "the topology is a file beside the scripts"
            yield Problem(
                (*group.at, "lifecycle") if own else group.at, f"must run a script in topology {_LEGACY}; {why}"
            )
        if group.spec.mounts is not None:
            why = "the file knows one set of mounts for all, give them to the cluster"
            yield Problem((*group.at, "mounts"), f"must be left out in topology {_LEGACY}; {why}")


def script_source_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that every script comes from a bundle of the cluster's topology, and a bundle is uploaded for a script."""
    yield from within(("lifecycle",), lifecycle_problems(cluster.spec.lifecycle))
    for group in cluster.groups:
        scripts = group.lifecycle.scripts
        if scripts is not None and not unresolved(scripts) and scripts.topology is not cluster.spec.topology:
            text = f"must run scripts for {option('topology')} {cluster.spec.topology}, got ones for {scripts.topology}"
            yield Problem((*group.at, "lifecycle"), text)
        if group.lifecycle.is_own and not cluster.facts.scripts_bucket:
            remedy = "give it 'scripts', or give the cluster a bucket for the project's own"
            yield Problem((*group.at, "lifecycle"), f"must name its scripts; {remedy}")
    if cluster.facts.scripts_bucket and cluster.is_whole and not cluster.runs_own_scripts:
        text = f"must be left out when no group runs scripts from it; give {option('lifecycle')} too"
        yield Problem(("scripts_bucket",), text)


def node_setup_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that somebody heeds what nodes are to be set up with."""
    setup, at = cluster.spec.node_setup, ("node_setup",)
    if setup is None or unresolved(setup) or not cluster.is_whole:
        return
    if not cluster.runs_own_scripts:
        scripts = f"{option('lifecycle')} of a group runs the scripts that come with cdk-trainyard"
        one = f"; give {option('on_create')} of the cluster's {option('lifecycle')} on_create.sh, which is one"
        remedy = "" if any(group.lifecycle.script for group in cluster.groups) else one
        yield Problem(at, f"must be left out when no {scripts}: they alone heed it{remedy}")
    elif setup.local_accounting is True and cluster.facts.accounting:
        why = "Slurm keeps its accounting in one place"
        yield Problem((*at, "local_accounting"), f"must be false beside an accounting database: {why}")
    elif setup.local_accounting is True and not cluster.scripts_account:
        why = "after HyperPod's image, the image's stays"
        yield Problem((*at, "local_accounting"), f"needs {_ACCOUNTING_SCRIPT}; {why}")
    yield from within(at, _module_problems(setup, cluster))
    if cluster.runs_own_scripts:
        yield from within(at, _unheeded_problems(setup, cluster))
        yield from within(at, _wiped_problems(setup, cluster))


def _wiped_problems(setup: NodeSetup, cluster: ResolvedCluster) -> Iterator[Problem]:
    """An update replaces the root volume, where the history is (`ScheduledUpdate`)."""
    for group in cluster.of_role(GroupRole.CONTROLLER):
        if setup.local_accounting is True and group.spec.scheduled_update is not None:
            why = f"each {option('scheduled_update')} of {shown(group.name)} replaces the volume that has its history"
            yield Problem(("local_accounting",), f"must be false: {why}; give {option('accounting')} a database")


def _unheeded_problems(setup: NodeSetup, cluster: ResolvedCluster) -> Iterator[Problem]:
    """``on_init_complete.sh`` has no step for them; of ``job_hooks`` a warning speaks."""
    if _configures(cluster):
        return
    for name in ("ssh", "rotate_logs", "logs"):
        said = getattr(setup, name)
        if not unresolved(said) and said != getattr(NodeSetup(), name):
            why = "after HyperPod's image, the image's own stays"
            yield Problem((name,), f"must be left out when no group runs {option('on_create')}: {why}")


def _module_problems(setup: NodeSetup, cluster: ResolvedCluster) -> Iterator[Problem]:
    """HyperPod's own image has no ``pam_slurm_adopt.so`` (`PamSlurmAdopt`)."""
    asked = setup.pam_slurm_adopt
    if asked is None or unresolved(asked) or asked.in_image is not True:
        return
    for group in cluster.of_role(GroupRole.COMPUTE):
        if group.lifecycle.is_own and group.spec.image_id in {None, limits.IMAGE_BY_DEFAULT}:
            why = "HyperPod's own image has no such module"
            text = f"must be false when the group {shown(group.name)} has no 'image_id' of yours, got true: {why}"
            yield Problem(("pam_slurm_adopt", "in_image"), text)


def network_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that mounts, subnets and security groups of yours have a network of yours."""
    facts = cluster.facts
    if facts.subnet is not None:
        return
    needs, own = f"needs {option('network')}", "nodes in HyperPod's own VPC do not reach"
    for name, given, why in (
        ("security_group", facts.security_groups, ""),
        ("mounts", facts.mounts, f"; {own} your file systems"),
        ("accounting", facts.accounting, f"; {own} it"),
    ):
        if given:
            yield Problem((name,), f"{needs}{why}")
    for group in cluster.groups:
        for name in ("network", "security_groups", "mounts"):
            if getattr(group.spec, name):
                yield Problem((*group.at, name), f"{needs} of the cluster")


def security_group_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that a node has at most five security groups."""
    most, together = limits.SECURITY_GROUPS[-1], cluster.facts.security_groups
    if together > most:
        text = f"must be at most {most - 1} beside {option('security_group')}, got {together - 1}"
        yield Problem(("extra_security_groups",), text)
    for group in cluster.groups:
        if group.facts.security_groups > most:
            yield Problem((*group.at, "security_groups"), f"must be at most {most}, got {group.facts.security_groups}")


def mounts_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check the file systems of the cluster, and of groups that have their own."""
    common = [group for group in cluster.groups if group.facts.mounts is None]
    yield from within(("mounts",), mount_problems(cluster.facts.mounts, any(map(_has_volume, common))))
    for group in cluster.groups:
        if group.facts.mounts is not None:
            found = mount_problems(group.facts.mounts, _has_volume(group))
            yield from within((*group.at, "mounts"), found)


def home_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that ``steps/home.sh`` copies no home into itself; what OpenZFS hides is kept beside (``openzfs.sh``)."""
    mounts = {mount.kind: (index, mount.path) for index, mount in enumerate(cluster.facts.mounts)}
    for kind in [kind for kind in ("OpenZFS", "Lustre") if kind in mounts and _configures(cluster)][:1]:
        index, path = mounts[kind]
        hidden = () if kind == "OpenZFS" else (limits.HOME,)
        if not unresolved(path) and (path in hidden or path.startswith(f"{limits.HOME}/")):
            why = f"{option('on_create')} moves that home to the file system, and would copy it into itself"
            text = f"must not be {limits.HOME} or in it, got {shown(path)}; {why}: mount it elsewhere, as at /fsx"
            yield Problem(("mounts", index, "at"), text)


def _configures(cluster: ResolvedCluster) -> bool:
    """Return whether ``on_create.sh`` configures some nodes."""
    return any(group.lifecycle.is_own and group.lifecycle.on_create is not None for group in cluster.groups)


def _has_volume(group: ResolvedGroup) -> bool:
    return any(volume.root is False for volume in group.spec.volumes)


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"


CLUSTER_RULES = (
    name_problems,
    group_list_problems,
    role_problems,
    partition_problems,
    password_problems,
    strategy_problems,
    continuous_problems,
    image_problems,
    controller_count_problems,
    legacy_problems,
    script_source_problems,
    node_setup_problems,
    network_problems,
    security_group_problems,
    mounts_problems,
    home_problems,
    cluster_override_problems,
)
