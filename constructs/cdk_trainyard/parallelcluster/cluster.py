"""A cluster of AWS ParallelCluster."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import jsii
from aws_cdk import Names, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.cluster import Gate
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.parallelcluster import render
from cdk_trainyard.parallelcluster.accounting import AccountingClient
from cdk_trainyard.parallelcluster.calls import NodeCalls
from cdk_trainyard.parallelcluster.cluster_base import ParallelClusterBase
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.custom_resource import custom_resource
from cdk_trainyard.parallelcluster.facts_of import place_of
from cdk_trainyard.parallelcluster.metrics import monitored, say_series
from cdk_trainyard.parallelcluster.node_policy import NodePolicy
from cdk_trainyard.parallelcluster.provider import ParallelClusterProvider
from cdk_trainyard.parallelcluster.provider_policy import provider_policy
from cdk_trainyard.parallelcluster.reach import dynamodb_endpoint, open_efs
from cdk_trainyard.parallelcluster.resolve import resolve_cluster
from cdk_trainyard.parallelcluster.rules import cluster_problems
from cdk_trainyard.parallelcluster.spec import (
    ClusterIam,
    OperatingSystem,
    ParallelClusterMonitoring,
    ParallelClusterSpec,
    SlurmAccounting,
    SlurmSettings,
    Timeouts,
)
from cdk_trainyard.parallelcluster.spec_nodes import HeadNode, LoginPool
from cdk_trainyard.parallelcluster.spec_queues import Queue
from cdk_trainyard.parallelcluster.spec_storage import SharedStorage
from cdk_trainyard.parallelcluster.volume_keys import node_key_statements
from cdk_trainyard.parallelcluster.warnings import WARNINGS
from cdk_trainyard.problems import Problem, warnings_of
from cdk_trainyard.retention import keep_with
from cdk_trainyard.storage import Lustre, Mount, TrainingBuckets
from cdk_trainyard.storage.grants import JOBS_NAME_KEYS, job_statements
from cdk_trainyard.storage.node_grants import PULL_REASON, pull_statements, remote_write_statements
from cdk_trainyard.storage.spec import OpenZfs
from cdk_trainyard.surroundings import others, surroundings
from cdk_trainyard.tokens import Unknown, unresolved

if TYPE_CHECKING:  # a large module: only who names a repository waits for it
    from aws_cdk import aws_ecr as ecr

_NAME_LENGTH = 40  # with accounting, which may come later, while the name may not change
_PROVIDER_POLICY = "ProviderPolicy"
_STANDS_ON = ("AWS::EC2::", "AWS::IAM::ManagedPolicy")
"""What a cluster that is kept is kept with: security groups and their rules, DynamoDB's endpoint, its nodes' policies.

IAM deletes no policy that is attached, EC2 no group of a network interface."""
_ORDER_REASON = (
    "the nodes wait for all that belongs to a file system, which is more than the file system that is referred to"
)


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class ParallelCluster(ParallelClusterBase):
    """A cluster of AWS ParallelCluster: Slurm, a head node, queues of nodes that come and go.

    Defines AWS's provider of this version (unless given), the cluster as its custom resource, a managed policy of the
    nodes, a security group when none is given, the upload of the scripts' plans, and an endpoint of DynamoDB where
    there is no NAT. The cluster is made after routes, security group rules, scripts and file systems, and deleted
    before them.

    What an update may change is ParallelCluster's to say; ``make plan-update`` asks it. The version is one of the
    things that never change: a new version is a new cluster with another id and another name beside the old one.

    Never give the name of a cluster that exists to a new one, and never move a cluster with a ``cluster_name`` to
    another construct id: when the provider cannot make the second cluster, CloudFormation has it deleted by that name.

    Args:
        network: The network whose accelerator subnet the nodes are in.
        mounts: FSx for Lustre file systems that every node mounts. Default - none.
        security_group: Security group of every node, beside ParallelCluster's own. Default - a new one.
        provider: A provider that several clusters share. Default - a new one.
        metrics: Where its metrics go: head node and queues run exporters, and the head node the agent that asks them.
            Default - nowhere.
        scripts_bucket: Where the scripts of the metrics are uploaded; needed with ``metrics``. Default - none.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        head_node: The head node.
        queues: The queues, one to 50.
        login_pools: Login nodes. Default - none; users log in to the head node.
        shared_storage: Shared directories beside the file systems that are mounted.
            Default - ``/home`` of the head node alone, over NFS.
        operating_system: Operating system of every node; Rocky Linux needs an image of yours. Default: ALINUX2023.
        image_id: An image of yours that ParallelCluster built, for every node; cannot be changed.
            Default - ParallelCluster's, which is the same for ever for a version.
        cluster_name: Its name, at most 60 characters (40 with accounting); another name is another cluster.
            Default - a unique name made of stack and construct path.
        version: Version of ParallelCluster; never changed, a new version is a new cluster.
            Default - the provider's, or the one whose rules are checked here.
        slurm: Settings of Slurm. Default - as each says.
        monitoring: What it tells about itself. Default - as each says.
        iam: Limits of the roles that ParallelCluster makes. Default - none.
        timeouts: How long nodes may take to come up. Default - as each says.
        tags: Tags of everything that ParallelCluster makes, beside those of the stack. Default - none.
        suppress_validators: Checks of ParallelCluster to leave out when it makes the cluster, as
            ``type:HeadNodeMemorySizeValidator``, or ``ALL``.
            Default - none.
        removal_policy: What becomes of the cluster when it leaves the stack; its nodes keep nothing that should outlive
            them, and cost by the hour.
            Default: DESTROY.
        raw_overrides: Keys of ParallelCluster's configuration that have no option here; checked against its schema,
            they add to what options say, and change none of it.
            Default - none.

    Attributes:
        cluster_name: Its name, and that of the stack that ParallelCluster makes.
        head_node_instance_id: Instance id of the head node.
        head_node_private_ip: Private address of the head node.
        head_node_public_ip: Its Elastic IP. None: it has none.
        cluster_stack_arn: ARN of the stack that ParallelCluster makes.
        validation_messages: What ParallelCluster's validators said of the configuration.
        config: The configuration as ParallelCluster gets it; it may hold Tokens.
        provider: The provider.
        security_group: The security group of every node.
        node_policy: The managed policy of every node.

    Raises:
        ConfigurationError: The cluster cannot work; names everything that was found.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network,
        mounts: Sequence[Mount] = (),
        security_group: EfaSecurityGroup | ec2.ISecurityGroup | None = None,
        provider: ParallelClusterProvider | None = None,
        metrics: ClusterMonitoring | None = None,
        scripts_bucket: s3.IBucket | None = None,
        names: Naming | None = None,
        head_node: HeadNode,
        queues: Sequence[Queue],
        login_pools: Sequence[LoginPool] = (),
        shared_storage: SharedStorage | None = None,
        operating_system: str = OperatingSystem.ALINUX2023,
        image_id: str | None = None,
        cluster_name: str | None = None,
        version: str | None = None,
        slurm: SlurmSettings | None = None,
        monitoring: ParallelClusterMonitoring | None = None,
        iam: ClusterIam | None = None,
        timeouts: Timeouts | None = None,
        tags: Mapping[str, str] | None = None,
        suppress_validators: Sequence[str] = (),
        removal_policy: RemovalPolicy = RemovalPolicy.DESTROY,
        raw_overrides: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        said = judge.judged(given(ParallelClusterSpec, locals()))
        self._context = ParallelClusterFacts(
            place=place_of(network),
            mounts=[mount.facts for mount in mounts],
            region=judge.environment.region,
            default_name=self._unique_name(),
            stack_name=None if unresolved(name := Stack.of(self).stack_name) else name,
            other_names=tuple(other.cluster_name for other in others(self)),
            provider_version=provider.version if provider else None,
            scrape_seconds=None if metrics is None else metrics.scrape_seconds,
            exporters=None if metrics is None else metrics.judged(judge),
            scripts_bucket=scripts_bucket is not None,
        )
        self._spec = resolve_cluster(said, self._context)
        self.cluster_name = str(self._spec.cluster_name)
        raise_problems(self, [*judge.problems, *self._problems(self._context)])
        say_warnings(self, warnings_of("parallelcluster", WARNINGS, self._spec, self._context))
        self._network = network
        group = security_group or EfaSecurityGroup(self, "SecurityGroup", vpc=network.vpc)
        self.security_group: EfaSecurityGroup = EfaSecurityGroup.of(group)
        self._connections = ec2.Connections(security_groups=[self.security_group.security_group])
        self._monitored = monitored(self, self._spec, metrics, scripts_bucket)
        self._spec = self._monitored.spec if self._monitored else self._spec
        self._scripts = NodeCalls(self, self._spec)
        self._nodes = NodePolicy(self, "NodePolicy")
        self._allow_nodes()
        self._accounting = AccountingClient(
            self,
            "Accounting",
            accounting=cast("SlurmAccounting | None", self._spec.slurm.accounting),
            vpc=network.vpc,
        )
        self.provider: ParallelClusterProvider = provider or self._own_provider()
        self._removal_policy = removal_policy
        self._resource = custom_resource(self, self._spec, self.config, self.provider, removal_policy)
        self.node.default_child = main_resource(self._resource)
        say_series(self._monitored, self._resource, self._context)
        self._gate = self._new_gate()
        self._resource.node.add_dependency(self._gate)
        self._gate.add(*open_efs(self._spec, self.security_group))
        self._reach([mount.file_system for mount in mounts])
        self._set_attributes()

    @staticmethod
    def from_attributes(
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        head_node_instance_id: str,
        head_node_private_ip: str,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> ParallelClusterBase:
        """Use a cluster that exists already.

        Args:
            scope: Where it belongs.
            construct_id: Its id there.
            cluster_name: Its name.
            head_node_instance_id: Instance id of the head node.
            head_node_private_ip: Private address of the head node.
            security_groups: Security groups of its nodes. Default - none are known, and nothing can be opened to it.
        """
        imported = ParallelClusterBase(scope, construct_id)
        imported.cluster_name = cluster_name
        imported.head_node_instance_id = head_node_instance_id
        imported.head_node_private_ip = head_node_private_ip
        imported._connections = ec2.Connections(security_groups=list(security_groups))  # noqa: SLF001
        return imported

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration as ParallelCluster gets it; it may hold Tokens."""
        return render.cluster_config(self._spec, self._context, self._wiring())

    @property
    def node_policy(self) -> iam.ManagedPolicy:
        """The managed policy of every node, beside what ParallelCluster gives them."""
        return self._nodes.policy

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The nodes; grants land in their managed policy."""
        return self._nodes.policy.grant_principal

    @property
    def outputs(self) -> Mapping[str, str]:
        """Name to value of what people ask for first, to be made outputs of a stack."""
        public = {"HeadNodePublicAddress": self.head_node_public_ip} if self.head_node_public_ip else {}
        by_key = {"SshCommand": self.ssh_command} if self._spec.head_node.key_pair else {}
        return {
            **super().outputs,
            **public,
            **by_key,
            "ValidationMessages": self.validation_messages,
            "ProviderLogGroup": self.provider.log_group_name,
        }

    @property
    def metrics_sources(self) -> Sequence[MetricsSource]:
        """Whose metrics its nodes give, when they go anywhere."""
        return self._monitored.sources(self._context) if self._monitored else ()

    def mount(self, file_system: Lustre, *, at: str = "/fsx") -> None:
        """Mount a file system on every node.

        Args:
            file_system: The file system.
            at: Where, an absolute path. Default: ``/fsx``.

        Raises:
            ConfigurationError: The cluster cannot take it.
        """
        mounts = [*self._context.mounts, Mount(file_system=file_system, at=at).facts]
        context = replace(self._context, mounts=mounts)
        raise_problems(self, self._problems(context))
        self._context = context
        main_resource(self._resource).add_property_override("ClusterConfiguration", self.config)
        say_series(self._monitored, self._resource, self._context)
        self._reach([file_system])

    def use(self, buckets: TrainingBuckets) -> None:
        """Let jobs read the datasets, and read and write checkpoints and models. They cannot delete.

        The permissions are in the managed policy that head node, login nodes and queues have: ParallelCluster's own
        ``S3Access`` knows no login nodes and no KMS keys, and lets whoever may write delete.

        Args:
            buckets: The buckets of the training environment.
        """
        statements, wildcards = job_statements(
            read=[buckets.datasets], read_write=[buckets.checkpoints, buckets.models]
        )
        self._nodes.allow(statements, reason=JOBS_NAME_KEYS, wildcards=wildcards)

    def allow_pull(self, repositories: "Sequence[ecr.IRepository]") -> None:
        """Let every node pull container images from private registries (ECR).

        Args:
            repositories: The repositories; one that is named ``*`` stands for all of its account and Region.
        """
        statements, wildcards = pull_statements(repositories)
        # the policy's own reason stands for what knows no resources
        self._nodes.allow(statements, reason=PULL_REASON, wildcards=[arn for arn in wildcards if arn != "*"])

    def allow_remote_write(self, workspace_arn: str | None) -> None:
        """Let every node write metrics to a workspace of Amazon Managed Service for Prometheus.

        Args:
            workspace_arn: The workspace's ARN. None: nowhere.
        """
        self._nodes.allow(remote_write_statements(workspace_arn), reason=PULL_REASON, wildcards=())

    # ---------------------------------------------------------------- parts
    def _unique_name(self) -> str:
        name = Names.unique_resource_name(self, max_length=_NAME_LENGTH, separator="-", allowed_special_characters="-")
        return name if name[:1].isalpha() else f"c{name[1:]}"

    def _problems(self, context: ParallelClusterFacts) -> list[Problem]:
        found = cluster_problems(self._spec, context)
        if not isinstance(self._spec.slurm.accounting, SlurmAccounting | Unknown | None):
            text = "must be SlurmAccounting(…), as SlurmAccounting.of(database): a new database stands by itself"
            found.append(Problem(("slurm", "accounting"), text))
        return found

    def _wiring(self) -> render.Wiring:
        policy, client = self._nodes.policy.managed_policy_arn, self._accounting
        writing = self._monitored.policies if self._monitored else []
        head = [policy, *(own.managed_policy_arn for own in (*client.policies, *writing))]
        return render.Wiring(
            security_groups=(self.security_group.security_group_id,),
            policies={render.HEAD: head, render.LOGIN: [policy], render.COMPUTE: [policy]},
            calls=self._scripts.calls,
            region=Stack.of(self).region,
            head_security_groups=tuple(group.security_group_id for group in client.security_groups),
        )

    def _own_provider(self) -> ParallelClusterProvider:
        policy, version = provider_policy(self, _PROVIDER_POLICY, self._spec, self._scripts), self._spec.version
        return ParallelClusterProvider(self, f"Provider{version}", version=version, policies=[policy] if policy else [])

    def _set_attributes(self) -> None:
        attribute = self._resource.get_att_string
        self.head_node_instance_id = attribute("headNode.instanceId")
        self.head_node_private_ip = attribute("headNode.privateIpAddress")
        head = self._spec.head_node
        # an attribute that a private head node does not have would fail the deployment
        has_address = bool(head.elastic_ip or head.elastic_ip_id)
        self.head_node_public_ip: str | None = attribute("headNode.publicIpAddress") if has_address else None
        self.cluster_stack_arn: str = attribute("cloudformationStackArn")
        self.validation_messages: str = attribute("validationMessages")

    # ---------------------------------------------------------------- permissions and order
    def _allow_nodes(self) -> None:
        for scripts in self._scripts.readable:
            wildcards = [scripts.objects_arn]
            self._nodes.allow(
                scripts.read_statements(), reason="a folder is everything under its prefix", wildcards=wildcards
            )
        self._nodes.policy.add_statements(*node_key_statements(self._spec))

    def _new_gate(self) -> Gate:
        endpoint = dynamodb_endpoint(self, self._network)
        return Gate(
            self,
            networks=[self._network],
            security_groups=[self.security_group],
            policies=[],  # the configuration names them, which is a dependency already
            scripts=self._scripts.uploaded,
            also=[*([endpoint] if endpoint else []), *self._accounting.needs],
        )

    def _reach(self, file_systems: "Sequence[Lustre | OpenZfs]") -> None:
        """Let the nodes reach their file systems, and start after them; what they stand on is kept as they are."""
        for file_system in file_systems:
            if self._gate.reach(file_system, [self.security_group]):
                acknowledge(main_resource(self._resource), {"W3005": _ORDER_REASON})
        for part in self.node.children:
            if part.node.id != _PROVIDER_POLICY:
                keep_with(self._removal_policy, part, *_STANDS_ON)
