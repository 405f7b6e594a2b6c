"""Protocols of a training cluster (HyperPod, ParallelCluster, EC2 fleet), and the gate that its nodes depend on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct, DependencyGroup, IDependable

from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import AccountingDatabaseBase, Lustre, Mount, TrainingBuckets
from cdk_trainyard.storage.reach import open_lustre
from cdk_trainyard.storage.spec import OpenZfs


@dataclass(frozen=True, kw_only=True, slots=True)
class Publisher:
    """The IAM principal that publishes a cluster's notifications to an SNS topic, beside CloudWatch for alarms.

    Attributes:
        principal: The principal; the key that encrypts the topic must let it use it.
        sid: Its name in the key's policy.
        anybody_because: Why the policy names nobody but in a condition. None: it names the principal.
    """

    principal: iam.IPrincipal
    sid: str
    anybody_because: str | None = None


@runtime_checkable
class Cluster(Protocol):
    """A cluster of nodes that run jobs.

    Its nodes start after what they need: the rules of their security groups, the route out, their roles' policies,
    their scripts and their file systems.
    """

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the nodes."""

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """What grants to the nodes' jobs go to."""

    @property
    def outputs(self) -> Mapping[str, str]:
        """What people need to reach it and to look after it, by the names of a stack's outputs."""

    @property
    def publisher(self) -> Publisher | None:
        """Who publishes to the topic that is told of trouble. None: it tells no topic."""

    def grant_connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody open a shell on the nodes by Session Manager.

        Args:
            grantee: Who: a role of operators, for instance.
        """

    def grant_describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody look at the cluster and its nodes, and change nothing.

        Args:
            grantee: Who.
        """

    def mount(self, file_system: Lustre, *, at: str = ...) -> None:
        """Mount a file system on the nodes, as the keyword ``mounts`` does.

        Args:
            file_system: The file system.
            at: Where, an absolute path. Default: ``/fsx``.

        Raises:
            ConfigurationError: The cluster cannot take it.
        """

    def use(self, buckets: TrainingBuckets) -> None:
        """Let jobs read the datasets, and read and write checkpoints and models.

        Args:
            buckets: The buckets of the training environment.
        """

    def tell(self, topic: sns.ITopic) -> None:
        """Tell a topic of trouble with nodes.

        Args:
            topic: The topic; it must let `publisher` publish, and so must the key of an encrypted one.
        """


@runtime_checkable
class Monitored(Protocol):
    """A cluster whose nodes give metrics."""

    cluster_name: str
    """Its name, and the label ``cluster`` of its metrics."""

    @property
    def metrics_sources(self) -> Sequence[MetricsSource]:
        """Whose metrics there are."""


@runtime_checkable
class Updated(Protocol):
    """A cluster whose nodes are updated on schedules."""

    @property
    def update_schedules(self) -> Sequence[str]:
        """When updates begin: cron expressions, in UTC."""


class Gate(DependencyGroup):
    """The dependencies of a cluster's nodes: routes, security group rules, policies, scripts, file systems.

    They are made before the nodes, and deleted after them.

    Args:
        scope: The cluster.
        networks: Their networks, for the routes out.
        security_groups: Their security groups, for the rules among themselves.
        policies: The policies of their roles.
        scripts: Their scripts, where they are fetched from.
        also: Whatever else. Default - nothing.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        networks: Iterable[Network],
        security_groups: Iterable[EfaSecurityGroup],
        policies: Iterable[IDependable],
        scripts: Iterable[IDependable],
        also: Iterable[IDependable] = (),
    ) -> None:
        routes = (network.route_out for network in networks)
        rules = (group.self_rules for group in security_groups)
        super().__init__(*routes, *rules, *policies, *scripts, *also)
        self._scope = scope
        self._reached: set[tuple[str, str]] = set()

    def reach(self, file_system: Lustre | OpenZfs, clients: Sequence[EfaSecurityGroup]) -> bool:
        """Let nodes reach a file system, and start after it and the rules that let them.

        Args:
            file_system: The file system; one of OpenZFS exists already, and its owner lets them.
            clients: The security groups of the nodes.

        Returns:
            Whether nodes start after something that they did not start after before.
        """
        if not isinstance(file_system, Lustre):
            return False
        pair = (file_system.node.path, clients[0].node.path)
        if pair in self._reached:
            return False
        self._reached.add(pair)
        self.add(file_system.ready)
        if rules := open_lustre(self._scope, file_system, clients):
            self.add(rules)
        return True


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """Network, security group, buckets, mounts, database and metrics of a deployment, as constructs.

    Attributes:
        network: The network.
        security_group: The group that nodes and file systems share.
        buckets: The buckets.
        mounts: What every node mounts.
        accounting: The database of Slurm's accounting that was made for the cluster. None: there is none.
        metrics: Where metrics go. None: nowhere.
    """

    network: Network
    security_group: EfaSecurityGroup
    buckets: TrainingBuckets
    mounts: Sequence[Mount]
    accounting: AccountingDatabaseBase | None
    metrics: ClusterMonitoring | None = None
