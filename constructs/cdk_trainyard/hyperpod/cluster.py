"""A HyperPod cluster with Slurm."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import jsii
from aws_cdk import Names, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.aws_sagemaker import CfnCluster
from constructs import Construct

from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import ConfigurationError, did_you_mean, raise_problems
from cdk_trainyard.hyperpod import render, wiring
from cdk_trainyard.hyperpod.bundle import upload_bundle
from cdk_trainyard.hyperpod.cluster_base import HyperPodClusterBase
from cdk_trainyard.hyperpod.execution_role import ControllerRole, ExecutionRole
from cdk_trainyard.hyperpod.gate import open_gate
from cdk_trainyard.hyperpod.resolved import ResolvedGroup, resolve
from cdk_trainyard.hyperpod.rules import cluster_problems
from cdk_trainyard.hyperpod.spec import (
    HyperPodSpec,
    MultiHead,
    NodeProvisioning,
    NodeRecovery,
    SlurmConfigStrategy,
)
from cdk_trainyard.hyperpod.spec_groups import InstanceGroup, Lifecycle
from cdk_trainyard.hyperpod.warnings import WARNINGS
from cdk_trainyard.hyperpod.wiring import acknowledge_prices, distinct, wired
from cdk_trainyard.lifecycle import GroupRole, LifecycleScripts, NodeSetup, SlurmTopology
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import either, warnings_of
from cdk_trainyard.storage import AccountingDatabase, AccountingDatabaseBase, Lustre, Mount, OpenZfs, TrainingBuckets
from cdk_trainyard.surroundings import others, surroundings
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:  # a large module: only who names a repository waits for it
    from aws_cdk import aws_ecr as ecr


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
        scope: Where it belongs.
        construct_id: Its id there.
        network: The network whose accelerator subnet the nodes are in.
            Default - HyperPod's own VPC, which reaches no file system of yours.
        security_group: Security group of the nodes. Default - a new one in ``network``.
        extra_security_groups: Up to four more, each with its self rules too, or EFA fails. Default - none.
        scripts_bucket: Bucket to which the project's own lifecycle scripts are uploaded with this cluster's settings,
            for every lifecycle that names no scripts of its own. Default - none is needed.
        mounts: File systems of every group. Default - none.
        accounting: Database for Slurm's accounting. HyperPod sets it up with continuous provisioning, the project's own
            scripts where they configure the controller.
            Default - a MariaDB on the controller where HyperPod's image configures it; else ``node_setup`` says.
        buckets: Buckets that its jobs use, as ``use`` says; what is mounted of them needs no permissions of its own.
            Default - none, until ``use`` is called.
        metrics: Where its metrics go. Every node then runs exporters, and the controller the agent that asks them; the
            project's own scripts set both up. Default - nowhere, and ``node_setup`` says which exporters run.
        removal_policy: What becomes of the cluster when it leaves the stack. Default: DESTROY, since nodes keep nothing
            that should outlive them and cost by the hour.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        groups: The instance groups by name: one controller, at most one login group, one or more of compute.
        cluster_name: Its name, at most 63 letters, digits and inner hyphens; another name is another cluster.
            Default - a unique name made of the stack's and the construct's path: the API needs one, and whether
            CloudFormation would make one up is not documented.
        lifecycle: What runs when a node starts. Default - HyperPod's image alone.
        node_setup: What the project's own scripts set up on every node beside mounts, users and Slurm.
            Default - the defaults of its options.
        topology: Where the Slurm topology is written: in the cluster's configuration (api), as AWS recommends and which
            cannot be turned back; or in a file beside the scripts of every group (legacy).
            Default: API_DRIVEN.
        slurm_config_strategy: Who owns the partitions in slurm.conf. Documentation contradicts itself about the
            service's own default, so it is always written.
            Default - Merge; with continuous provisioning the service takes none, it merges.
        multi_head: Several controller nodes, which only the legacy topology knows. Default - one controller.
        provisioning: How nodes come: with Continuous, what there is starts and the rest comes later.
            Default - each group whole, or the operation fails and rolls back.
        node_recovery: What happens to a node that fails: replaced by HyperPod (Automatic), or left to you (None).
            Default: AUTOMATIC.
        role: An IAM role of yours for the nodes; a managed policy is attached to it. Default - one is made.
        controller_role: An IAM role of yours for the controllers, which alone read the accounting database's password;
            it gets the nodes' policy attached too, and must be given beside ``role`` when there is such a database.
            Default - ``role``; one is made where that is not given.
        aws_managed_policy: Whether roles that are made have AWS's AmazonSageMakerClusterInstanceRolePolicy, as its
            guide wants it; it lets nodes read every bucket sagemaker-* of the account.
            Default: True.
        raw_overrides: CloudFormation properties of the cluster by dotted path: the escape hatch for what CloudFormation
            has and this library has not.
            Default - none.
        image_repositories: Private repositories (ECR) from which nodes pull container images; in a file names, ARNs, or
            "*" for all of the account in its Region.
            Default - none.
        prometheus_workspace_arn: A workspace of Amazon Managed Service for Prometheus to which jobs may write metrics
            of their own, beside that of the nodes' metrics.
            Default - none.

    Attributes:
        cluster_arn: Its ARN.
        cluster_name: Its name.
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
        network: Network | None = None,
        security_group: EfaSecurityGroup | ec2.ISecurityGroup | None = None,
        extra_security_groups: Sequence[EfaSecurityGroup | ec2.ISecurityGroup] = (),
        scripts_bucket: s3.IBucket | None = None,
        mounts: Sequence[Mount] = (),
        accounting: AccountingDatabaseBase | None = None,
        buckets: TrainingBuckets | None = None,
        metrics: ClusterMonitoring | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.DESTROY,
        names: Naming | None = None,
        groups: Sequence[InstanceGroup],
        cluster_name: str | None = None,
        lifecycle: Lifecycle | None = None,
        node_setup: NodeSetup | None = None,
        topology: SlurmTopology = SlurmTopology.API_DRIVEN,
        slurm_config_strategy: SlurmConfigStrategy | None = None,
        multi_head: MultiHead | None = None,
        provisioning: NodeProvisioning | None = None,
        node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC,
        role: iam.IRole | None = None,
        controller_role: iam.IRole | None = None,
        aws_managed_policy: bool = True,
        raw_overrides: Mapping[str, Any] | None = None,
        image_repositories: "Sequence[ecr.IRepository]" = (),
        prometheus_workspace_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        said: dict[str, Any] = {
            "cluster_name": cluster_name or self._unique_name(),
            "lifecycle": lifecycle or Lifecycle(),
        }
        spec = judge.judged(given(HyperPodSpec, locals() | said))
        given_groups = (*([security_group] if security_group else []), *extra_security_groups)
        facts = wired(
            spec,
            judge.environment,
            network=network,
            mounts=mounts,
            security_groups=len(given_groups),
            accounting=accounting,
            scripts_bucket=scripts_bucket is not None,
            metrics=metrics,
        )
        if accounting is not None and not isinstance(accounting, AccountingDatabase):
            facts = replace(facts, existing_schema=accounting.schema_name)
        if cluster_name is not None:  # nobody else has a name that is made of the path
            facts = replace(facts, other_names=[other.cluster_name for other in others(self)])
        cluster = resolve(spec, facts)
        raise_problems(self, [*judge.problems, *cluster_problems(cluster)])
        say_warnings(self, warnings_of("hyperpod", WARNINGS, cluster))

        security_groups = tuple(EfaSecurityGroup.of(group) for group in given_groups)
        if network and not security_groups:
            security_groups = (EfaSecurityGroup(self, "SecurityGroup", vpc=network.vpc),)
        self.security_groups: tuple[EfaSecurityGroup, ...] = security_groups
        self._connections = ec2.Connections(security_groups=[group.security_group for group in security_groups])
        self.groups: tuple[InstanceGroup, ...] = tuple(groups)
        self.cluster_name: str = str(spec.cluster_name)
        self._cluster, self._network, self._mounts = cluster, network, tuple(mounts)
        self._databases = distinct([accounting, multi_head.database if multi_head else None])
        self._scripts = None
        if scripts_bucket:
            self._scripts = upload_bundle(
                self,
                cluster,
                scripts_bucket,
                mounts=mounts,
                accounting=accounting,
                schema_name=self._schema_name(),
                metrics=metrics,
            )
        self.execution_role = ExecutionRole(
            self, "ExecutionRole", cluster_name=self.cluster_name, role=role, aws_managed_policy=aws_managed_policy
        )
        self.execution_role.allow_pull(image_repositories)
        self.execution_role.allow_remote_write(prometheus_workspace_arn)
        self.controller_role = ControllerRole(
            self, "ControllerRole", nodes=self.execution_role, role=controller_role or role
        )
        if metrics:
            self.controller_role.allow_remote_write(metrics.workspace.workspace_arn)
        self._resource = CfnCluster(
            self,
            "Resource",
            cluster_name=self.cluster_name,
            instance_groups=self._instance_groups(),
            node_provisioning_mode=provisioning and provisioning.value,
            node_recovery=node_recovery.value,
            orchestrator=render.orchestrator(cluster, accounting, schema_name=self._schema_name()),
            vpc_config=render.vpc(network, security_groups) if network else None,
        )
        self._resource.apply_removal_policy(removal_policy)
        self.cluster_arn: str = self._resource.attr_cluster_arn
        acknowledge_prices(self._resource, cluster)
        render.override(self._resource, cluster)
        render.series(self._resource, cluster, self.metrics_sources)
        self._gate = open_gate(
            self,
            cluster,
            role=self.execution_role,
            controller_role=self.controller_role,
            network=network,
            security_groups=security_groups,
            scripts=self._scripts,
            databases=self._databases,
            buckets=buckets,
            metrics=metrics is not None,
        )
        self._resource.node.add_dependency(self._gate)
        self._reach()
        if buckets:
            self.use(buckets)

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

    @property
    def metrics_sources(self) -> Sequence[MetricsSource]:
        """Whose metrics its nodes give, when they go anywhere."""
        return wiring.metrics_sources(self._cluster)

    @property
    def update_schedules(self) -> Sequence[str]:
        """When updates of its groups begin, each once: cron expressions, in UTC."""
        return wiring.update_schedules(self._cluster)

    def connect_command(self, group: str, *, instance_id: str = "<instance-id>") -> str:
        """Return the command that opens a session on a node.

        Args:
            group: Name of the node's group.
            instance_id: The node's instance id, from ``aws sagemaker list-cluster-nodes``.
                Default - ``<instance-id>``, as it stands.

        Raises:
            ConfigurationError: The cluster has no such group.
        """
        names = [known.name for known in self.groups]
        if not unresolved(group) and group not in names:
            problem = f"'group' must be {either(names)}, got {group!r}{did_you_mean(group, names)}"
            raise ConfigurationError(self.node.path, [problem])
        return super().connect_command(group, instance_id=instance_id)

    @property
    def outputs(self) -> Mapping[str, str]:
        """Name to value of what people ask for first, to be made outputs of a stack."""
        return {
            "ClusterName": self.cluster_name,
            "ClusterArn": self.cluster_arn,
            "LogGroupName": self.log_group_name,
            "ConnectCommand": self.connect_command(self.groups[0].name),
        }

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
        mounts = (*self._mounts, Mount(file_system=file_system, at=at))
        facts = replace(self._cluster.facts, mounts=[mount.facts for mount in mounts])
        cluster = resolve(self._cluster.spec, facts)
        raise_problems(self, [*cluster_problems(cluster)])
        self._cluster, self._mounts = cluster, mounts
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

    # ---------------------------------------------------------------- rendering
    def _instance_groups(self) -> list[CfnCluster.ClusterInstanceGroupProperty]:
        controllers, others = self.controller_role.role, self.execution_role.role
        return [
            render.instance_group(
                group,
                legacy=self._cluster.legacy,
                role=group.spec.execution_role or (controllers if group.role is GroupRole.CONTROLLER else others),
                source_of=self._source_of,
                mounts=self._mounts_of(group),
                vpc=self._own_vpc(group),
            )
            for group in self._cluster.groups
        ]

    def _source_of(self, lifecycle: Lifecycle) -> str:
        return (lifecycle.scripts or cast("LifecycleScripts", self._scripts)).s3_uri

    def _mounts_of(self, group: ResolvedGroup) -> Sequence[Mount]:
        return self._mounts if group.spec.mounts is None else group.spec.mounts

    def _own_vpc(self, group: ResolvedGroup) -> CfnCluster.VpcConfigProperty | None:
        network = group.spec.network or self._network
        if network is None or not (group.spec.network or group.spec.security_groups):
            return None
        return render.vpc(network, tuple(group.spec.security_groups) or self.security_groups)

    # ---------------------------------------------------------------- order
    def _reach(self) -> None:
        """Let the nodes see and reach their file systems, and start after them."""
        for group in self._cluster.groups:
            clients = tuple(group.spec.security_groups) or self.security_groups
            for mount in self._mounts_of(group):
                self.execution_role.allow_file_systems()
                self._gate.reach(mount.file_system, clients)
