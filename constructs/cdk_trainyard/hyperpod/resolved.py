"""What the user wrote, with every default worked out: the rules judge it, and the rendering writes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cdk_trainyard.hyperpod.instance_group import InstanceGroup
from cdk_trainyard.hyperpod.lifecycle_mode import Lifecycle, LifecycleTrigger
from cdk_trainyard.hyperpod.topology import ApiTopology, LegacyTopology
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.lifecycle import GroupRole, NodeSetup
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import AccountingDatabaseBase, Mount

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedGroup:
    """One group with its defaults.

    Attributes:
        given: What the user wrote.
        types: The facts of its instance types that are known; a name that is not known is a problem already.
        partition: Slurm partition; None for a group that has none.
        lifecycle: What runs when a node starts.
        mounts: Its file systems.
    """

    given: InstanceGroup
    types: tuple[InstanceType, ...]
    partition: str | None
    lifecycle: Lifecycle
    mounts: tuple[Mount, ...]

    @property
    def name(self) -> str:
        """The group's name."""
        return self.given.name

    @property
    def role(self) -> GroupRole:
        """What its nodes are for."""
        return self.given.role


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedCluster:
    """A whole cluster with its defaults.

    Attributes:
        name: The cluster's name.
        region: The Region, or None when it is settled at deployment.
        groups: The groups, in the user's order.
        topology: Where the Slurm topology is written.
        continuous: Whether provisioning is continuous.
        network: Where the nodes are, or None for HyperPod's own VPC.
        security_groups: The security groups of the nodes as far as the user gave them.
        mounts: The file systems of all groups that say nothing else.
        accounting: The accounting database, or None for the one on the controller.
        scripts_bucket: Whether the cluster may upload a bundle of its own.
        node_setup: What the bundle sets up beyond the rest, or None for its defaults.
        shared_role: Whether controllers have the role of all other nodes.
        raw_overrides: CloudFormation properties by dotted path.
    """

    name: str
    region: str | None
    groups: tuple[ResolvedGroup, ...]
    topology: ApiTopology | LegacyTopology
    continuous: bool
    network: Network | None
    security_groups: tuple[EfaSecurityGroup, ...]
    mounts: tuple[Mount, ...]
    accounting: AccountingDatabaseBase | None
    scripts_bucket: bool
    node_setup: NodeSetup | None = None
    shared_role: bool = False
    raw_overrides: JsonObject

    @property
    def legacy(self) -> bool:
        """Whether the topology is a file."""
        return isinstance(self.topology, LegacyTopology)

    @property
    def scripts_account(self) -> bool:
        """Whether the project's own scripts can set the accounting up: they configure the one controller alone."""
        if isinstance(self.topology, LegacyTopology) and self.topology.multi_head:
            return False
        return self._configured_by_scripts(GroupRole.CONTROLLER)

    @property
    def scripts_hook_jobs(self) -> bool:
        """Whether prolog and epilog of jobs can be the project's own.

        A node without a prolog that ``slurm.conf`` speaks of is drained by its first job. The partition ``dev`` has
        every node, and after HyperPod's image Slurm runs before a script does: so its own scripts alone configure all.
        """
        return self._configured_by_scripts(*GroupRole)

    def _configured_by_scripts(self, *roles: GroupRole) -> bool:
        modes = [group.lifecycle for group in self.groups if group.role in roles]
        return bool(modes) and all(mode.trigger is LifecycleTrigger.ON_CREATE and not mode.scripts for mode in modes)

    @property
    def databases(self) -> tuple[AccountingDatabaseBase, ...]:
        """The databases whose passwords the controllers read."""
        multi_head = self.topology.multi_head if isinstance(self.topology, LegacyTopology) else None
        return tuple(distinct([self.accounting, multi_head.database if multi_head else None]))

    def of_role(self, role: GroupRole) -> tuple[ResolvedGroup, ...]:
        """Return the groups of one role."""
        return tuple(group for group in self.groups if group.role is role)


def resolve_group(group: InstanceGroup, *, lifecycle: Lifecycle, mounts: Sequence[Mount]) -> ResolvedGroup:
    """Work out a group's defaults.

    Args:
        group: What the user wrote.
        lifecycle: The cluster's lifecycle.
        mounts: The cluster's file systems.
    """
    return ResolvedGroup(
        given=group,
        types=tuple(known for name in type_names(group) if (known := InstanceType.find(name))),
        partition=group.name if group.role is GroupRole.COMPUTE and group.partition is None else group.partition,
        lifecycle=group.lifecycle or lifecycle,
        mounts=tuple(mounts if group.mounts is None else group.mounts),
    )


def type_names(group: InstanceGroup) -> tuple[str | InstanceType, ...]:
    """Return the instance types as the user wrote them, one or several."""
    return (*([] if group.instance_type is None else [group.instance_type]), *group.instance_types)


def distinct(values: Iterable[_T | None]) -> list[_T]:
    """Return every object once, in the order of its first appearance, without the missing ones.

    Args:
        values: The objects; two are the same when they are one.
    """
    return list({id(value): value for value in values if value is not None}.values())
