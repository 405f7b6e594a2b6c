"""How nodes reach what they need: Lustre servers with a security group of their own, and DynamoDB without NAT."""

from aws_cdk import Aws, Names
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.network import EfaSecurityGroup, Network, TrainingNetwork
from cdk_trainyard.storage import Lustre

_LUSTRE_PORTS = (("tcp", 988, 988), ("tcp", 1018, 1023))
_EFA_PORTS = (("-1", -1, -1),)
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


def open_storage(scope: Construct, file_system: Lustre, client: EfaSecurityGroup) -> Construct | None:
    """Let nodes reach a file system whose security group is not theirs, and the servers reach them back.

    Ports: 988 and 1018 to 1023 both ways, or everything for EFA (``limit-access-security-groups`` and
    ``efa-file-systems`` in the FSx for Lustre user guide).

    Args:
        scope: Where the rules belong: with the nodes, so that the file system's stack stays as it is.
        file_system: The file system.
        client: The security group of the nodes.

    Returns:
        The rules, or None when the file system shares the security group.
    """
    servers = file_system.security_group
    if servers.security_group_id == client.security_group_id:
        return None
    rules = Construct(scope, f"To{Names.node_unique_id(file_system.node)}")
    ports = _EFA_PORTS if file_system.efa_enabled else _LUSTRE_PORTS
    for name, group, peer in (("Servers", servers, client), ("Clients", client, servers)):
        for protocol, first, last in ports:
            ec2.CfnSecurityGroupIngress(
                rules,
                f"{name}In{first}",
                group_id=group.security_group_id,
                source_security_group_id=peer.security_group_id,
                ip_protocol=protocol,
                from_port=first,
                to_port=last,
                description="Lustre between a ParallelCluster and its file system",
            )
            ec2.CfnSecurityGroupEgress(
                rules,
                f"{name}Out{first}",
                group_id=group.security_group_id,
                destination_security_group_id=peer.security_group_id,
                ip_protocol=protocol,
                from_port=first,
                to_port=last,
                description="Lustre between a ParallelCluster and its file system",
            )
    return rules


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
