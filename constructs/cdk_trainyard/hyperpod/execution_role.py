"""The role that a cluster's nodes run as, with what its parts need and nothing else."""

from collections.abc import Mapping, Sequence
from typing import cast

import jsii
from aws_cdk import ArnFormat, Aws, CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge_wildcards
from cdk_trainyard.lifecycle import LifecycleScripts
from cdk_trainyard.managed_policy import ManagedPolicyPrincipal
from cdk_trainyard.storage.grants import objects_arn, read_statements, read_write_statements

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
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DetachNetworkInterface",
)
_SSM_MESSAGES = (
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)


@jsii.implements(iam.IGrantable)
class ExecutionRole(Construct):
    """The role that a cluster's nodes run as.

    It holds the statements of AWS's managed policy ``AmazonSageMakerClusterInstanceRolePolicy`` narrowed to this
    cluster (its log groups; its scripts instead of every bucket ``sagemaker-*``), and what the attached parts need. All
    of it is in one managed policy, and what you grant to the cluster (``bucket.grant_read(cluster)``) lands there too.
    The ec2 actions are those of ``sagemaker-hyperpod-prerequisites-iam`` in the SageMaker developer guide.

    The trust policy has no ``aws:SourceAccount`` condition: the guide lists what sends it, and HyperPod is not in the
    list. A role can be passed only inside its own account.

    Args:
        cluster_name: Name of the cluster.
        role: A role of yours that gets the policy attached. Default - a new one that only SageMaker can assume.
        managed_policies: Further policies for a new role, for example AWS's own. Default - none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        role: iam.IRole | None = None,
        managed_policies: Sequence[iam.IManagedPolicy] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.role: iam.IRole = role or iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"),
            description="Nodes of a HyperPod cluster",
            managed_policies=list(managed_policies),
        )
        self.policy = iam.ManagedPolicy(
            self, "Policy", roles=[self.role], description="What the nodes of a HyperPod cluster need"
        )
        self._principal = ManagedPolicyPrincipal(self.role, self.policy)
        self._allowed: set[str] = set()
        self._acknowledged: set[str] = set()
        self._allow_the_node(cluster_name)

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, whose grants land in the managed policy."""
        return cast("iam.IPrincipal", self._principal)

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
        self._allow("DetachFromInstances", ["ec2:DetachNetworkInterface"], [instances])
        self._allow("TagInterfaces", ["ec2:CreateTags"], [interfaces])
        self._acknowledge(
            "the Describe actions know no resources; interfaces get ids from EC2 and are changed only in the cluster's "
            "subnets, which may be shared by another account; the instances belong to the service's account",
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
        self._acknowledge("a bundle is everything under its content-hashed prefix", scripts.objects_arn)

    def allow_buckets(self, *, read: Sequence[s3.IBucket], read_write: Sequence[s3.IBucket]) -> None:
        """Let jobs read some buckets, and read and write others; nothing is ever deleted.

        Args:
            read: The buckets that are read.
            read_write: The buckets that are read and written.
        """
        statements = [statement for bucket in read for statement in read_statements(bucket)]
        statements += [statement for bucket in read_write for statement in read_write_statements(bucket)]
        self.policy.add_statements(*statements)
        objects = [objects_arn(bucket) for bucket in (*read, *read_write)]
        self._acknowledge("jobs name their own keys in the buckets that were made for them", *objects)

    def allow_file_systems(self) -> None:
        """Let the nodes look up the file systems that they mount."""
        self._allow("DescribeFileSystems", ["fsx:DescribeFileSystems"], ["*"])
        self._acknowledge("the Describe actions know no resources", "*")

    def allow_volume_keys(self, keys: Sequence[kms.IKey]) -> None:
        """Let HyperPod encrypt the nodes' volumes with these keys (``smcluster-cmk`` in the SageMaker developer guide).

        Args:
            keys: The keys.
        """
        arns = [key.key_arn for key in keys]
        via = {"StringEquals": {"kms:ViaService": f"sagemaker.{Aws.REGION}.{Aws.URL_SUFFIX}"}}
        self._allow("EncryptVolumes", ["kms:CreateGrant"], arns, {**via, "Bool": {"kms:GrantIsForAWSResource": "true"}})
        self._allow("DescribeVolumeKeys", ["kms:DescribeKey"], arns, via)

    def allow_secret(self, secret: secretsmanager.ISecret) -> None:
        """Let the controller read the accounting database's password.

        Args:
            secret: The secret.
        """
        secret.grant_read(self)

    def allow_topic(self, topic: sns.ITopic) -> None:
        """Let controllers say which of them is active.

        Args:
            topic: The topic.
        """
        topic.grant_publish(self)

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
        self._allow("OpenSessions", _SSM_MESSAGES, ["*"])
        self._acknowledge(
            "sessions and metrics know no resources (metrics are held to one namespace), and the service numbers the "
            "cluster's log groups and streams itself",
            "*",
            log_groups,
            streams,
        )

    def _allow(
        self,
        sid: str,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: Mapping[str, Mapping[str, object]] | None = None,
    ) -> None:
        if sid in self._allowed:
            return
        self._allowed.add(sid)
        self.policy.add_statements(
            iam.PolicyStatement(sid=sid, actions=list(actions), resources=list(resources), conditions=conditions)
        )

    def _acknowledge(self, reason: str, *resources: str) -> None:
        new = [arn for arn in resources if arn not in self._acknowledged]
        self._acknowledged.update(new)
        if new:
            policy = cast("CfnResource", self.policy.node.default_child)
            acknowledge_wildcards(policy, reason=reason, resources=new)

    def _arn(self, service: str, resource: str, name: str, *, account: str | None = None) -> str:
        return Stack.of(self).format_arn(service=service, resource=resource, resource_name=name, account=account)

    def _log_arn(self, name: str) -> str:
        return Stack.of(self).format_arn(
            service="logs", resource="log-group", resource_name=name, arn_format=ArnFormat.COLON_RESOURCE_NAME
        )
