"""A ParallelCluster deployment's cluster as a construct, with its scripts and its database, for the stacks."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.exchange import REMOVAL
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.parallelcluster import values
from cdk_trainyard.deployment.parallelcluster.model import ParallelClusterDeployment
from cdk_trainyard.deployment.parallelcluster.section import SubnetName
from cdk_trainyard.deployment.values import plain
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.parallelcluster import CustomAction, NodeScripts, ParallelCluster
from cdk_trainyard.storage import AccountingDatabaseBase, Lustre, Mount


def parallelcluster(
    scope: Construct,
    construct_id: str,
    deployment: ParallelClusterDeployment,
    *,
    network: Network,
    security_group: EfaSecurityGroup,
    scripts_bucket: s3.IBucket,
    mounts: Sequence[Mount],
    accounting: AccountingDatabaseBase | None = None,
) -> ParallelCluster:
    """Define the cluster with its scripts; ``accounting`` is the database that was made for it, if any."""
    section = deployment.cluster
    around = _Surroundings(scope, deployment, network, security_group, scripts_bucket, accounting)
    lustre = {mount.path: mount.file_system for mount in mounts if isinstance(mount.file_system, Lustre)}
    cluster = ParallelCluster(
        scope,
        construct_id,
        network=network,
        head_node=values.head_node(section.head_node, around),
        queues=[values.queue(queue, around) for queue in section.queues],
        login_pools=[values.login_pool(pool, around) for pool in section.login_pools],
        storage=values.shared_storage(section.storage, around, lustre),
        operating_system=section.operating_system,
        slurm=values.slurm(section.slurm, around),
        security_group=security_group,
        cluster_name=section.cluster_name,
        version=section.version,
        image_id=section.image_id,
        monitoring=values.monitoring(section.monitoring),
        iam=values.cluster_iam(section.iam, around),
        timeouts=values.timeouts(section.timeouts),
        tags=values.tags(section, deployment.tags),
        suppress_validators=section.suppress_validators,
        extra=plain(section.extra) or None,
        removal_policy=REMOVAL[section.removal_policy],
    )
    cluster.allow_pull(around.repositories(section.image_repositories))
    cluster.allow_remote_write(section.prometheus_workspace_arn)
    # the nodes alone wait for the rules that let them in: some of these refer to security groups of the cluster
    cluster.node.find_child("Resource").node.add_dependency(around)
    return cluster


class _Surroundings(Existing):
    """What the sections refer to, as constructs: the scripts folder is uploaded once, when a node runs a file of it."""

    def __init__(
        self,
        scope: Construct,
        deployment: ParallelClusterDeployment,
        network: Network,
        nodes: EfaSecurityGroup,
        bucket: s3.IBucket,
        accounting: AccountingDatabaseBase | None,
    ) -> None:
        super().__init__(Construct(scope, "Surroundings"))
        self._scope, self._accounting = scope, accounting
        self._deployment, self._network, self._nodes, self._bucket = deployment, network, nodes, bucket
        self._scripts: NodeScripts | None = None

    def policy(self, arn: str) -> iam.IManagedPolicy:
        """Take a managed policy."""
        return iam.ManagedPolicy.from_managed_policy_arn(self, self._next("Policy"), arn)

    def key_pair(self, name: str) -> ec2.IKeyPair:
        """Take a key pair."""
        return ec2.KeyPair.from_key_pair_name(self, self._next("KeyPair"), name)

    def database(self, security_group_id: str, port: int) -> ec2.IConnectable:
        """Take a database as something that can be connected to."""
        group = self.security_group(security_group_id)
        return ec2.Connections(security_groups=[group], default_port=ec2.Port.tcp(port))

    def file_system(self, file_system_id: str, security_group_id: str) -> efs.IFileSystem:
        """Take an EFS file system, and let the nodes in."""
        found = efs.FileSystem.from_file_system_attributes(
            self,
            self._next("FileSystem"),
            file_system_id=file_system_id,
            security_group=self.security_group(security_group_id),
        )
        found.connections.allow_default_port_from(self._nodes, "Nodes of a ParallelCluster")
        return found

    def new_database(self, section: AccountingSection) -> AccountingDatabaseBase:
        """Return the database of the deployment's own, which stands with the storage."""
        if self._accounting is None:
            raise TypeError(f"nobody made the database of {section!r}")
        return self._accounting

    def subnets(self, name: SubnetName) -> Sequence[ec2.ISubnet]:
        """Return the subnets of a kind."""
        match name:
            case "accelerator":
                return [self._network.accelerator_subnet]
            case "public":
                return self._network.public_subnets
            case "service":
                return self._network.service_subnets

    def run(self, script: str, args: Sequence[str]) -> CustomAction:
        """Return the action that runs a file of the scripts folder."""
        if self._scripts is None:
            own = self._deployment.cluster.scripts.folder
            folder = None if own is None else self._deployment.resolve_path(own)
            self._scripts = NodeScripts(self._scope, "Scripts", bucket=self._bucket, folder=folder)
        return self._scripts.action(script, *args)
