"""The gateway endpoint of DynamoDB for nodes without NAT, and security group rules for an EFS that exists."""

from collections.abc import Iterator

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.network import EfaSecurityGroup, Network, TrainingNetwork
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec

_NFS = 2049
_TABLES = "table/parallelcluster-*"
_TABLE_ACTIONS = (
    "dynamodb:BatchGetItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:DeleteItem",
    "dynamodb:DescribeTable",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""All that aws-parallelcluster 3.16.1 allows nodes on its tables is among them (``templates/``, 2026-11-28)."""


def dynamodb_endpoint(scope: Construct, network: Network) -> ec2.GatewayVpcEndpoint | None:
    """Define an endpoint of DynamoDB where nodes could not reach it: ParallelCluster keeps its state there.

    A network of this library without NAT gets one, unless it has it already; of another nobody knows what it has.

    Args:
        scope: Where the endpoint belongs.
        network: The network.
    """
    if network.has_nat or not isinstance(network, TrainingNetwork) or _has_dynamodb(network):
        return None
    endpoint = ec2.GatewayVpcEndpoint(
        scope,
        "DynamoDbEndpoint",
        vpc=network.vpc,
        service=ec2.GatewayVpcEndpointAwsService.DYNAMODB,
        subnets=[ec2.SubnetSelection(subnets=[network.accelerator_subnet])],
    )
    endpoint.add_to_policy(
        iam.PolicyStatement(
            principals=[iam.AnyPrincipal()],
            actions=list(_TABLE_ACTIONS),
            resources=[
                f"arn:{Aws.PARTITION}:dynamodb:{Aws.REGION}:{Aws.ACCOUNT_ID}:{_TABLES}",
                f"arn:{Aws.PARTITION}:dynamodb:{Aws.REGION}:{Aws.ACCOUNT_ID}:{_TABLES}/index/*",
            ],
            conditions={"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
        )
    )
    return endpoint


def open_efs(spec: ParallelClusterSpec, nodes: EfaSecurityGroup) -> Iterator[ec2.ISecurityGroup]:
    """Let the nodes reach file systems of EFS that exist; yield what they start after.

    Args:
        spec: The resolved cluster.
        nodes: Their security group.
    """
    for efs in spec.shared_storage.efs:
        if efs.security_group is not None:
            let_in = ec2.Port.tcp(_NFS)
            efs.security_group.connections.allow_from(nodes.security_group, let_in, "Nodes of a ParallelCluster")
            yield efs.security_group


def _has_dynamodb(network: Network) -> bool:
    return any(
        isinstance(child, ec2.CfnVPCEndpoint) and str(child.service_name).endswith(".dynamodb")
        for child in network.node.find_all()
    )
