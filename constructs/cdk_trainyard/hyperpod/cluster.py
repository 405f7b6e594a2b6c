"""A HyperPod cluster with Slurm."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, cast

import jsii
from aws_cdk import Annotations, Names, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.aws_sagemaker import CfnCluster
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError, did_you_mean, raise_problems
from cdk_trainyard.hyperpod import render
from cdk_trainyard.hyperpod.bundle import own_file, upload_bundle
from cdk_trainyard.hyperpod.checks import everything_wrong
from cdk_trainyard.hyperpod.cluster_base import HyperPodClusterBase
from cdk_trainyard.hyperpod.execution_role import ControllerRole, ExecutionRole
from cdk_trainyard.hyperpod.instance_group import InstanceGroup
from cdk_trainyard.hyperpod.lifecycle_mode import Lifecycle
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup, distinct, resolve_group
from cdk_trainyard.hyperpod.topology import ApiTopology, LegacyTopology
from cdk_trainyard.hyperpod.warnings import WARNINGS
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.lifecycle import GroupRole, LifecycleScripts, NodeSetup
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import AccountingDatabaseBase, Lustre, Mount, OpenZfs, TrainingBuckets
from cdk_trainyard.storage.reach import open_database, open_lustre
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:  # a large module: only who names a repository waits for it
    from aws_cdk import aws_ecr as ecr


class NodeRecovery(StrEnum):
    """What happens to a node that fails."""

    AUTOMATIC = "Automatic"
    """HyperPod reboots or replaces it."""
    NONE = "None"
    """An administrator decides."""


class NodeProvisioning(StrEnum):
    """How nodes come."""

    ALL_OR_NOTHING = "AllOrNothing"
    """A group comes whole, or the operation fails and rolls back."""
    CONTINUOUS = "Continuous"
    """What is there starts, and what is missing is tried again in the background."""


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class HyperPodCluster(HyperPodClusterBase):
    """A HyperPod cluster with Slurm.

    Defines the cluster, its execution role with a managed policy, a security group when none is given, and the upload
    of the lifecycle scripts when a bucket is given. Nodes start only after security group rules, the route out, the
    role's policy, the scripts and the file systems are there.

    The service never moves a cluster: another ``network``, security group or ``cluster_name`` is another cluster. Since
    the name is fixed, CloudFormation refuses such a replacement ("already exists") instead of building a second cluster
    beside the first; give another ``cluster_name`` in the same change if that is what you want.

    Args:
        groups: The instance groups: one controller, at most one login group, one or more of compute.
        network: The network whose accelerator subnet the nodes are in.
            Default - HyperPod's own VPC, which reaches no file system of yours.
        security_group: Security group of the nodes. Default - a new one in ``network``.
        extra_security_groups: Up to four more, each with its self rules too, or EFA fails. Default - none.
        cluster_name: Its name, at most 63 letters, digits and inner hyphens.
            Default - unique name made of stack and construct path: the API needs one, and whether CloudFormation would
            make one up is not documented.
        topology: Where the Slurm topology is written. Default - in the cluster's configuration, merged.
        provisioning: How nodes come. Default: ALL_OR_NOTHING.
        node_recovery: What happens to a node that fails. Default: AUTOMATIC.
        lifecycle: What runs when a node starts. Default - HyperPod's image alone.
        scripts_bucket: Bucket to which the project's own lifecycle scripts are uploaded with this cluster's settings,
            for every lifecycle that names no scripts of its own. Default - none is needed.
        node_setup: What the project's own scripts set up on every node. Default - the defaults of ``NodeSetup``.
        mounts: File systems of every group. Default - none.
        accounting: Database for Slurm's accounting. HyperPod sets it up with continuous provisioning, the project's own
            scripts where they configure the controller.
            Default - a MariaDB on the controller where HyperPod's image configures it; else ``node_setup`` says.
        role: A role of yours for the nodes; it gets the same managed policy attached.
            Default - a new one.
        controller_role: A role of yours for the controllers, which alone may read the accounting database's password;
            it gets the nodes' policy attached too. Default - ``role``; a new one where that is new.
        aws_managed_policy: Whether new roles have AWS's ``AmazonSageMakerClusterInstanceRolePolicy`` beside the policy
            made here. Default: True, as AWS's guide wants it.
        image_repositories: Private repositories (ECR) from which nodes pull container images. Default - none.
        prometheus_workspace_arn: The workspace of Amazon Managed Service for Prometheus to which nodes write metrics.
            Default - none.
        removal_policy: What becomes of the cluster when it leaves the stack. Default: DESTROY, since nodes keep nothing
            that should outlive them and cost by the hour.
        raw_overrides: CloudFormation properties of the cluster, by dotted path: the escape hatch for what the service
            has and this class does not. Default - none.

    Attributes:
        groups: The instance groups as they were given.
        execution_role: The role with its policy.
        controller_role: The controllers' role, with what only they may do.
        security_groups: The security groups of the nodes.

    Raises:
        ConfigurationError: The cluster cannot work; names everything that was found.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        groups: Sequence[InstanceGroup],
        network: Network | None = None,
        security_group: EfaSecurityGroup | None = None,
        extra_security_groups: Sequence[EfaSecurityGroup] = (),
        cluster_name: str | None = None,
        topology: ApiTopology | LegacyTopology | None = None,
        provisioning: NodeProvisioning = NodeProvisioning.ALL_OR_NOTHING,
        node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC,
        lifecycle: Lifecycle | None = None,
        scripts_bucket: s3.IBucket | None = None,
        node_setup: NodeSetup | None = None,
        mounts: Sequence[Mount] = (),
        accounting: AccountingDatabaseBase | None = None,
        role: iam.IRole | None = None,
        controller_role: iam.IRole | None = None,
        aws_managed_policy: bool = True,
        image_repositories: "Sequence[ecr.IRepository]" = (),
        prometheus_workspace_arn: str | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.DESTROY,
        raw_overrides: JsonObject | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        region = Stack.of(self).region
        default_lifecycle = lifecycle or Lifecycle.image()
        cluster = ResolvedCluster(
            name=cluster_name or self._unique_name(),
            region=None if unresolved(region) else region,
            groups=tuple(resolve_group(group, lifecycle=default_lifecycle, mounts=mounts) for group in groups),
            topology=topology or ApiTopology(),
            continuous=provisioning is NodeProvisioning.CONTINUOUS,
            network=network,
            security_groups=(*([security_group] if security_group else []), *extra_security_groups),
            mounts=tuple(mounts),
            accounting=accounting,
            scripts_bucket=scripts_bucket is not None,
            node_setup=node_setup,
            shared_role=role is not None and controller_role is None,
            raw_overrides=dict(raw_overrides or {}),
        )
        raise_problems(self.node.path, everything_wrong(cluster))
        self._warn(cluster)

        groups_given = cluster.security_groups
        if network and not groups_given:
            groups_given = (EfaSecurityGroup(self, "SecurityGroup", vpc=network.vpc),)
        self.security_groups: tuple[EfaSecurityGroup, ...] = groups_given
        self._connections = ec2.Connections(security_groups=[group.security_group for group in groups_given])
        self.groups: tuple[InstanceGroup, ...] = tuple(groups)
        self.cluster_name: str = cluster.name
        self._cluster = cluster
        self._reached: set[tuple[int, int]] = set()
        self._scripts = (
            upload_bundle(self, cluster, scripts_bucket, schema_name=self._schema_name()) if scripts_bucket else None
        )
        self.execution_role = ExecutionRole(
            self, "ExecutionRole", cluster_name=cluster.name, role=role, aws_managed_policy=aws_managed_policy
        )
        self.execution_role.allow_pull(image_repositories)
        self.execution_role.allow_remote_write(prometheus_workspace_arn)
        self.controller_role = ControllerRole(
            self, "ControllerRole", nodes=self.execution_role, role=controller_role or role
        )
        self._resource = CfnCluster(
            self,
            "Resource",
            cluster_name=cluster.name,
            instance_groups=self._instance_groups(),
            node_provisioning_mode="Continuous" if cluster.continuous else None,
            node_recovery=node_recovery.value,
            orchestrator=render.orchestrator(cluster, schema_name=self._schema_name()),
            vpc_config=self._vpc(network, groups_given) if network else None,
        )
        self._resource.apply_removal_policy(removal_policy)
        self.cluster_arn: str = self._resource.attr_cluster_arn
        self._override()
        self._allow_and_wait()

    @staticmethod
    def from_attributes(
        scope: Construct,
        construct_id: str,
        *,
        cluster_arn: str,
        cluster_name: str,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> HyperPodClusterBase:
        """Use a cluster that exists already.

        Args:
            scope: Where it belongs.
            construct_id: Its id there.
            cluster_arn: Its ARN.
            cluster_name: Its name.
            security_groups: Security groups of its nodes. Default - none are known, and nothing can be opened to it.
        """
        imported = HyperPodClusterBase(scope, construct_id)
        imported.cluster_arn = cluster_arn
        imported.cluster_name = cluster_name
        imported._connections = ec2.Connections(security_groups=list(security_groups))  # noqa: SLF001
        return imported

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The nodes' role; grants land in its managed policy."""
        return self.execution_role.grant_principal

    @property
    def role(self) -> iam.IRole:
        """The nodes' role."""
        return self.execution_role.role

    def connect_command(self, group: str, *, instance_id: str = "<instance-id>") -> str:
        """Return the command that opens a session on a node.

        Args:
            group: Name of the node's group.
            instance_id: The node's instance id, from ``aws sagemaker list-cluster-nodes``.
                Default - a placeholder.

        Raises:
            ConfigurationError: The cluster has no such group.
        """
        names = [known.name for known in self.groups]
        if not unresolved(group) and group not in names:
            problem = f"'group' must be one of {', '.join(names)}, got {group!r}{did_you_mean(group, names)}"
            raise ConfigurationError(self.node.path, [problem])
        return super().connect_command(group, instance_id=instance_id)

    def mount(self, file_system: Lustre | OpenZfs, *, at: str | None = None) -> None:
        """Mount a file system on every group that has no ``mounts`` of its own. Only new nodes mount it.

        Args:
            file_system: The file system.
            at: Where, an absolute path. Default - ``/fsx`` for Lustre, ``/home`` for OpenZFS.

        Raises:
            ConfigurationError: The cluster cannot take it; or its scripts were written without it.
        """
        if self._scripts or self._cluster.legacy:
            problem = "'mount' must be the keyword 'mounts' here; the uploaded scripts were written without it"
            raise ConfigurationError(self.node.path, [problem])
        mount = Mount(file_system=file_system, at=at)
        mounts = (*self._cluster.mounts, mount)
        groups = (
            group if group.given.mounts is not None else replace(group, mounts=mounts) for group in self._cluster.groups
        )
        cluster = replace(self._cluster, mounts=mounts, groups=tuple(groups))
        raise_problems(self.node.path, everything_wrong(cluster))
        self._cluster = cluster
        self._resource.instance_groups = [*self._instance_groups()]
        self._reach()

    def use(self, buckets: TrainingBuckets) -> None:
        """Let jobs read the datasets, and read and write checkpoints and models. They cannot delete.

        Args:
            buckets: The buckets of the training environment.
        """
        self.execution_role.allow_buckets(read=[buckets.datasets], read_write=[buckets.checkpoints, buckets.models])

    # ---------------------------------------------------------------- resolving
    def _unique_name(self) -> str:
        return Names.unique_resource_name(self, max_length=63, separator="-", allowed_special_characters="-")

    def _schema_name(self) -> str:
        return "slurm_acct_db_" + Names.unique_resource_name(self, max_length=50, separator="_")

    def _warn(self, cluster: ResolvedCluster) -> None:
        annotations = Annotations.of(self)
        for slug, warning in WARNINGS.items():
            for text in warning(cluster):
                annotations.add_warning_v2(f"@cdk-trainyard/hyperpod:{slug}", text)

    # ---------------------------------------------------------------- rendering
    def _instance_groups(self) -> list[CfnCluster.ClusterInstanceGroupProperty]:
        controllers, others = self.controller_role.role, self.execution_role.role
        return [
            render.instance_group(
                group,
                legacy=self._cluster.legacy,
                role=group.given.execution_role or (controllers if group.role is GroupRole.CONTROLLER else others),
                script_of=self._script_of,
                vpc=self._own_vpc(group),
            )
            for group in self._cluster.groups
        ]

    def _script_of(self, lifecycle: Lifecycle) -> tuple[str, str]:
        if lifecycle.scripts:
            return lifecycle.scripts.s3_uri, lifecycle.file or lifecycle.scripts.entry
        return cast("LifecycleScripts", self._scripts).s3_uri, own_file(lifecycle)

    def _own_vpc(self, group: ResolvedGroup) -> CfnCluster.VpcConfigProperty | None:
        network = group.given.network or self._cluster.network
        if network is None or not (group.given.network or group.given.security_groups):
            return None
        return self._vpc(network, tuple(group.given.security_groups) or self.security_groups)

    @staticmethod
    def _vpc(network: Network, security_groups: Sequence[EfaSecurityGroup]) -> CfnCluster.VpcConfigProperty:
        return CfnCluster.VpcConfigProperty(
            subnets=[network.accelerator_subnet.subnet_id],
            security_group_ids=[group.security_group_id for group in security_groups],
        )

    def _override(self) -> None:
        for path, value in self._cluster.raw_overrides.items():
            self._resource.add_property_override(path, value)
        for index, group in enumerate(self._cluster.groups):
            for path, value in (group.given.raw_overrides or {}).items():
                self._resource.add_property_override(f"InstanceGroups.{index}.{path}", value)

    # ---------------------------------------------------------------- permissions and order
    def _allow_and_wait(self) -> None:
        """Grant what the parts need, and let the nodes start after it (R2, R24)."""
        cluster, role, groups = self._cluster, self.execution_role, [group.given for group in self._cluster.groups]
        networks = distinct([cluster.network, *(group.network for group in groups)])
        security_groups = distinct([*self.security_groups, *(own for group in groups for own in group.security_groups)])
        if networks:
            role.allow_network(
                subnets=[network.accelerator_subnet for network in networks],
                security_groups=[group.security_group for group in security_groups],
            )
        if keys := distinct(volume.key for group in groups for volume in group.volumes):
            role.allow_volume_keys(keys)
        bundles = distinct([self._scripts, *(group.lifecycle.scripts for group in cluster.groups)])
        for scripts in bundles:
            role.allow_scripts(scripts)
        if self._scripts and cluster.node_setup:
            role.allow_setup(cluster.node_setup)
        multi_head = cluster.topology.multi_head if isinstance(cluster.topology, LegacyTopology) else None
        for database in cluster.databases:
            self.controller_role.allow_secret(database.secret)
        if multi_head and multi_head.topic:
            self.controller_role.allow_topic(multi_head.topic)
        self._resource.node.add_dependency(
            role.policy,
            *([self.controller_role.policy] if cluster.databases else []),
            *(network.route_out for network in networks),
            *(group.self_rules for group in security_groups),
            *(scripts.uploaded for scripts in bundles),
            *self._doors(),
        )
        self._reach()

    def _doors(self) -> list[Construct]:
        """Let the controllers reach their databases."""
        controllers = self._cluster.of_role(GroupRole.CONTROLLER)
        clients = distinct(
            one for group in controllers for one in (group.given.security_groups or self.security_groups)[:1]
        )
        groups = [client.security_group for client in clients]
        return [
            door
            for one in self._cluster.databases
            for door in open_database(self, one.connections, groups, port=one.port)
        ]

    def _reach(self) -> None:
        """Let the nodes see and reach their file systems, and start after them."""
        for group in self._cluster.groups:
            clients = tuple(group.given.security_groups) or self.security_groups
            for mount in group.mounts:
                self.execution_role.allow_file_systems()
                if isinstance(mount.file_system, Lustre):
                    self._reach_lustre(mount.file_system, clients)

    def _reach_lustre(self, file_system: Lustre, clients: Sequence[EfaSecurityGroup]) -> None:
        pair = (id(file_system), id(clients[0]))
        if pair in self._reached:
            return
        self._reached.add(pair)
        rules = open_lustre(self, file_system, clients)
        self._resource.node.add_dependency(file_system.ready, *([rules] if rules else []))
