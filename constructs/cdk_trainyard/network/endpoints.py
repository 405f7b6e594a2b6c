"""How a VPC reaches AWS services without the internet: gateway endpoints, and interface endpoints in its subnets."""

from collections.abc import Sequence
from functools import cache

from aws_cdk import Aws, Fn, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.network.bucket_policy import AWS_BUCKETS, PUBLIC_ACTIONS, bucket_arns, public_arns
from cdk_trainyard.network.spec import Endpoint

_HTTPS = 443


class Endpoints(Construct):
    """The endpoints of one VPC.

    Args:
        vpc: The VPC. Gateway endpoints go into all its route tables; interface endpoints into one private subnet of
            each zone.
        group: The name of the subnets where interface endpoints stand. None: all private ones.
        cidrs: The VPC's blocks: where HTTPS may come from.
        endpoints: Which services beside S3.
        s3_statements: What may pass through the S3 endpoint, beside the use of AWS's own buckets. None: whatever
            principals of this account may do.
        public_buckets: Buckets that everybody may list and read through it.

    Attributes:
        s3: The endpoint of S3.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        group: str | None = None,
        cidrs: Sequence[str],
        endpoints: Sequence[Endpoint],
        s3_statements: Sequence[iam.PolicyStatement] | None,
        public_buckets: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.s3 = self._gateway(
            "S3",
            vpc,
            ec2.GatewayVpcEndpointAwsService.S3,
            [
                *(s3_statements if s3_statements is not None else [_account_statement("s3")]),
                *aws_bucket_statements(Stack.of(self)),
                *public_bucket_statements(Stack.of(self), public_buckets),
            ],
        )
        if Endpoint.DYNAMODB in endpoints:
            service = ec2.GatewayVpcEndpointAwsService.DYNAMODB
            self._gateway("DynamoDb", vpc, service, [_account_statement("dynamodb")])
        interfaces = [endpoint for endpoint in endpoints if endpoint is not Endpoint.DYNAMODB]
        if interfaces:
            self._interfaces(vpc, ec2.SubnetSelection(subnet_group_name=group, one_per_az=True), cidrs, interfaces)

    def _gateway(
        self,
        construct_id: str,
        vpc: ec2.IVpc,
        service: ec2.GatewayVpcEndpointAwsService,
        statements: Sequence[iam.PolicyStatement],
    ) -> ec2.GatewayVpcEndpoint:
        gateway = ec2.GatewayVpcEndpoint(self, construct_id, vpc=vpc, service=service)
        for statement in statements:
            gateway.add_to_policy(statement)
        return gateway

    def _interfaces(
        self, vpc: ec2.IVpc, subnets: ec2.SubnetSelection, cidrs: Sequence[str], endpoints: Sequence[Endpoint]
    ) -> None:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="HTTPS from the VPC to endpoints of AWS services",
            allow_all_outbound=False,
        )
        for cidr in cidrs:
            group.add_ingress_rule(ec2.Peer.ipv4(cidr), ec2.Port.tcp(_HTTPS), f"HTTPS from {cidr}")
        for endpoint in endpoints:
            ec2.InterfaceVpcEndpoint(
                self,
                "".join(word.capitalize() for word in endpoint.name.split("_")),
                vpc=vpc,
                service=_services()[endpoint],
                subnets=subnets,
                security_groups=[group],
                open=False,
            )


def _account_statement(service: str) -> iam.PolicyStatement:
    """Whatever principals of this account may do, and nobody else: credentials from elsewhere do not pass.

    An endpoint's policy grants nothing: it is the upper bound of what roles and buckets grant, so the service's
    actions are not listed one by one.
    """
    return iam.PolicyStatement(
        sid="ThisAccount",
        principals=[iam.StarPrincipal()],
        actions=[f"{service}:*"],
        resources=["*"],
        conditions={"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
    )


def aws_bucket_statements(stack: Stack) -> list[iam.PolicyStatement]:
    """Return the statements that let everybody use the buckets of AWS and of registries that nodes need.

    Package managers and downloads of tools ask without credentials, layers of container images come without them or
    by links that ECR has signed, and CloudFormation is answered by links that it has signed, so the account's own
    statement does not cover them.

    Args:
        stack: The stack, for its Region and partition.
    """
    partition, region = stack.partition, stack.region
    without_dashes = Fn.join("", Fn.split("-", region))
    return [
        iam.PolicyStatement(
            sid=sid,
            principals=[iam.StarPrincipal()],
            actions=[action],
            resources=bucket_arns(action, partition, region, without_dashes),
        )
        for action, sid in AWS_BUCKETS.items()
    ]


def public_bucket_statements(stack: Stack, names: Sequence[str]) -> list[iam.PolicyStatement]:
    """Return the statement that lets everybody list and read buckets, without credentials too; none for no bucket.

    Args:
        stack: The stack, for its partition.
        names: The buckets.
    """
    if not names:
        return []
    return [
        iam.PolicyStatement(
            sid="PublicBuckets",
            principals=[iam.StarPrincipal()],
            actions=[*PUBLIC_ACTIONS],
            resources=public_arns(names, stack.partition),
        )
    ]


@cache
def _services() -> dict[Endpoint, ec2.InterfaceVpcEndpointAwsService]:
    service = ec2.InterfaceVpcEndpointAwsService
    return {
        Endpoint.AUTOSCALING: service.AUTOSCALING,
        Endpoint.CLOUDFORMATION: service.CLOUDFORMATION,
        Endpoint.EC2: service.EC2,
        Endpoint.EC2_MESSAGES: service.EC2_MESSAGES,
        Endpoint.ECR_API: service.ECR,
        Endpoint.ECR_DKR: service.ECR_DOCKER,
        Endpoint.ELASTIC_LOAD_BALANCING: service.ELASTIC_LOAD_BALANCING,
        Endpoint.FSX: service.FSX,
        Endpoint.LOGS: service.CLOUDWATCH_LOGS,
        Endpoint.MONITORING: service.CLOUDWATCH_MONITORING,
        Endpoint.PROMETHEUS: service.PROMETHEUS_WORKSPACES,
        Endpoint.SAGEMAKER_API: service.SAGEMAKER_API,
        Endpoint.SECRETS_MANAGER: service.SECRETS_MANAGER,
        Endpoint.SSM: service.SSM,
        Endpoint.SSM_MESSAGES: service.SSM_MESSAGES,
        Endpoint.STS: service.STS,
    }
