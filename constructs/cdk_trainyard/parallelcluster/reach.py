"""How nodes reach DynamoDB without NAT."""

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.network import Network, TrainingNetwork

_TABLES = "table/parallelcluster-*"
_TABLE_ACTIONS = (
    "dynamodb:BatchWriteItem",
    "dynamodb:DeleteItem",
    "dynamodb:DescribeTable",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)


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


def _has_dynamodb(network: Network) -> bool:
    return any(
        isinstance(child, ec2.CfnVPCEndpoint) and str(child.service_name).endswith(".dynamodb")
        for child in network.node.find_all()
    )
