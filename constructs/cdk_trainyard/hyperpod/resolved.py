"""A cluster as it will be: what was said with every default filled in, and what is known of what it is wired to. Pure.

The constructor and the deployment file make the same value; the rules judge it, and the rendering writes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cdk_trainyard.hyperpod.spec import HyperPodSpec, NodeProvisioning
from cdk_trainyard.hyperpod.spec_groups import InstanceGroup, Lifecycle
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.lifecycle.settings import NodeGroup
from cdk_trainyard.lifecycle.spec import Exporters, GroupRole, NodeSetup, SlurmTopology
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import At
from cdk_trainyard.reach import Place
from cdk_trainyard.storage.mount_facts import MountFacts
from cdk_trainyard.tokens import unresolved


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetFacts:
    """A subnet that nodes are in.

    Attributes:
        identity: What tells it from others.
        zone: Its zone. None: not known.
        cidr: Its block. None: not known.
        endpoint_addresses: How many of its addresses interface endpoints take, as far as it is known.
    """

    identity: str
    zone: str | None = None
    cidr: str | None = None
    endpoint_addresses: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupFacts:
    """What one group is wired to instead of what the cluster is wired to.

    Attributes:
        subnet: Its own subnet. None: the cluster's.
        mounts: Its own file systems. None: the cluster's.
        security_groups: How many security groups of its own it has.
    """

    subnet: SubnetFacts | None = None
    mounts: Sequence[MountFacts] | None = None
    security_groups: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodFacts:
    """What is known of what a cluster is wired to.

    Attributes:
        environment: Where it is deployed.
        subnet: The nodes' subnet. None: HyperPod's own VPC.
        mounts: File systems of all groups that say nothing else.
        security_groups: How many security groups were given.
        accounting: Whether there is a database for Slurm's accounting.
        accounting_host: Where that is; empty where it is made.
        existing_schema: The schema that was named of a database that exists. None: none was.
        scripts_bucket: Whether there is a bucket for the project's own scripts.
        scrape_seconds: How many seconds lie between two samples of its metrics. None: they go nowhere.
        exporters: What its nodes were said to run for them. None: nothing was said.
        groups: What groups are wired to, by their names.
        place: What the nodes' network lets them reach. None: nobody knows.
        endpoints_known: Whether ``place`` knows every endpoint of the network.
    """

    environment: Environment
    subnet: SubnetFacts | None = None
    mounts: Sequence[MountFacts] = ()
    security_groups: int = 0
    accounting: bool = False
    accounting_host: str = ""
    existing_schema: str | None = None
    scripts_bucket: bool = False
    scrape_seconds: int | None = None
    exporters: Exporters | None = None
    groups: Mapping[str, GroupFacts] = field(default_factory=dict)
    place: Place | None = None
    endpoints_known: bool = False
    other_names: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedGroup:
    """One group with its defaults.

    Attributes:
        spec: What was said.
        at: Where that stands.
        facts: What it is wired to.
        types: The facts of its instance types that are known; a name that is not known is a problem already.
        partition: Slurm partition; None for a group that has none.
        lifecycle: What runs when a node starts.
        subnet: Its subnet. None: in HyperPod's own VPC.
        mounts: Its file systems.
    """

    spec: InstanceGroup
    at: At
    facts: GroupFacts
    types: tuple[InstanceType, ...]
    partition: str | None
    lifecycle: Lifecycle
    subnet: SubnetFacts | None
    mounts: Sequence[MountFacts]

    @property
    def name(self) -> str:
        """Its name."""
        return self.spec.name

    @property
    def role(self) -> GroupRole:
        """What its nodes are for."""
        return self.spec.role


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedCluster:
    """A whole cluster with its defaults.

    Attributes:
        spec: What was said.
        facts: What it is wired to.
        groups: The groups whose form is right, in the order in which they were written.
    """

    spec: HyperPodSpec
    facts: HyperPodFacts
    groups: tuple[ResolvedGroup, ...]

    @property
    def has_multi_head(self) -> bool:
        """Whether the legacy topology's multi-head block is said, as far as that is known."""
        return self.spec.multi_head is not None and not unresolved(self.spec.multi_head)

    @property
    def is_whole(self) -> bool:
        """Whether every group has the right form, so that the groups can be judged together."""
        spec = self.spec
        return not unresolved(spec.groups, *(group.role for group in self.groups)) and len(self.groups) == len(
            spec.groups
        )

    @property
    def legacy(self) -> bool:
        """Whether the topology is a file."""
        return self.spec.topology is SlurmTopology.LEGACY

    @property
    def continuous(self) -> bool:
        """Whether provisioning is continuous."""
        return self.spec.provisioning is NodeProvisioning.CONTINUOUS

    @property
    def setup(self) -> NodeSetup:
        """What the project's own scripts set up."""
        setup = self.spec.node_setup or NodeSetup()
        if self.facts.scrape_seconds is None or setup.exporters is not None:
            return setup
        return replace(setup, exporters=Exporters(neuron=self.has_neuron))

    @property
    def has_neuron(self) -> bool:
        """Whether some node has Neuron devices."""
        kinds = (device.kind for group in self.groups for known in group.types for device in known.accelerators)
        return AcceleratorKind.NEURON in kinds

    @property
    def runs_own_scripts(self) -> bool:
        """Whether any node runs the project's own scripts."""
        return any(group.lifecycle.is_own for group in self.groups)

    @property
    def scripts_account(self) -> bool:
        """Whether the project's own scripts can set the accounting up: they configure the one controller alone."""
        return self.spec.multi_head is None and self._configured_by_scripts(GroupRole.CONTROLLER)

    @property
    def scripts_hook_jobs(self) -> bool:
        """Whether prolog and epilog of jobs can be the project's own.

        A node without a prolog that ``slurm.conf`` speaks of is drained by its first job. The partition ``dev`` has
        every node, and after HyperPod's image Slurm runs before a script does: so its own scripts alone configure all.
        """
        return self._configured_by_scripts(*GroupRole)

    def of_role(self, role: GroupRole) -> tuple[ResolvedGroup, ...]:
        """Return the groups of one role."""
        return tuple(group for group in self.groups if group.role is role)

    def _configured_by_scripts(self, *roles: GroupRole) -> bool:
        modes = [group.lifecycle for group in self.groups if group.role in roles]
        return bool(modes) and all(mode.on_create is not None and mode.is_own for mode in modes)


def resolve(spec: HyperPodSpec, facts: HyperPodFacts) -> ResolvedCluster:
    """Return a cluster with its defaults.

    Args:
        spec: What was said.
        facts: What it is wired to.
    """
    groups = () if unresolved(spec.groups) else enumerate(spec.groups)
    return ResolvedCluster(
        spec=spec,
        facts=facts,
        groups=tuple(_group(group, index, spec, facts) for index, group in groups if not unresolved(group)),
    )


def _group(group: InstanceGroup, index: int, spec: HyperPodSpec, facts: HyperPodFacts) -> ResolvedGroup:
    own = facts.groups.get(group.name, GroupFacts())
    names: Sequence[Any] = group.names_of_types
    return ResolvedGroup(
        spec=group,
        at=("groups", index if unresolved(group.name) else group.name),
        facts=own,
        types=tuple(known for name in names if not unresolved(name) and (known := InstanceType.find(name))),
        partition=group.name if group.role is GroupRole.COMPUTE and group.partition is None else group.partition,
        lifecycle=group.lifecycle or spec.lifecycle,
        subnet=own.subnet or facts.subnet,
        mounts=facts.mounts if own.mounts is None else own.mounts,
    )


def node_group(group: ResolvedGroup) -> NodeGroup:
    """Return a group as the project's own scripts know it.

    Args:
        group: The group.
    """
    return NodeGroup(
        name=group.name,
        role=group.role,
        instance_types=group.spec.names_of_types,
        runs_scripts=group.lifecycle.is_own,
    )
