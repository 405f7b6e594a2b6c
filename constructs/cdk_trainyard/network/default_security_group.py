"""The default security group of a VPC, closed.

CloudFormation has no property for its rules, so a function revokes them. ``ec2.Vpc`` brings one of its own for that,
a part of that class and out of reach here: minified JavaScript as an asset, with a policy of AWS for its logs. This one
stands in the template for reviewers to read, may revoke rules of this one group and nothing else, needs no asset, and
keeps its logs for a stated time. The resource has the same type and properties as CDK's.
"""

from importlib.resources import files

from aws_cdk import Aws, CfnResource, CustomResource, Duration, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import NIST_800_53_R5, acknowledge_cfn_lint, acknowledge_checkov, acknowledge_nag

_FUNCTION_REASONS = (
    (
        "LambdaConcurrency",
        "CKV_AWS_115",
        "runs once, when the VPC is created; reserved concurrency would be taken from others",
    ),
    (
        "LambdaDLQ",
        "CKV_AWS_116",
        "CloudFormation calls it and waits for its answer: a failure fails the deployment, there is nothing to requeue",
    ),
    (
        "LambdaInsideVPC",
        "CKV_AWS_117",
        "calls the EC2 API and CloudFormation's answer address over TLS, and reaches nothing in the VPC",
    ),
)
_LOGS_REASON = "holds at most the error message of one EC2 call: the id of a security group, no data and no secret"
_DEPENDS_REASON = "CDK makes every function wait for its role beside referring to it; both are right"
_VPC_REASON = "its default security group is closed by the resource beside it, which the rule cannot see"


class ClosedDefaultSecurityGroup(Construct):
    """Revokes both rules of a VPC's default security group. Deleting it leaves the group closed.

    Args:
        vpc: The VPC.
    """

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.CfnVPC) -> None:
        super().__init__(scope, construct_id)
        group_id = vpc.attr_default_security_group
        log_group = logs.LogGroup(
            self, "Logs", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=RemovalPolicy.DESTROY
        )
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            description="Revokes rules of one default security group, and logs that it did",
            statements=[
                iam.PolicyStatement(
                    actions=["ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"],
                    resources=[
                        Stack.of(self).format_arn(service="ec2", resource="security-group", resource_name=group_id)
                    ],
                ),
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log_group.log_group_arn]
                ),
            ],
        )
        role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"), managed_policies=[policy]
        )
        function = lambda_.Function(
            self,
            "Function",
            description="Closes the default security group of a VPC",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            code=lambda_.Code.from_inline(
                files(__package__).joinpath("default_security_group_handler.py").read_text(encoding="utf-8")
            ),
            role=role,
            log_group=log_group,
            timeout=Duration.minutes(1),
        )
        closed = CustomResource(
            self,
            "Resource",
            resource_type="Custom::VpcRestrictDefaultSG",
            service_token=function.function_arn,
            service_timeout=Duration.minutes(5),
            properties={"DefaultSecurityGroupId": group_id, "Account": Aws.ACCOUNT_ID},
        )
        closed.node.add_dependency(policy)
        acknowledge_nag(vpc, pack=NIST_800_53_R5, rule="VPCDefaultSecurityGroupClosed", reason=_VPC_REASON)
        _acknowledge(function, log_group)


def _acknowledge(function: lambda_.Function, log_group: logs.LogGroup) -> None:
    for rule, check, reason in _FUNCTION_REASONS:
        acknowledge_nag(_l1(function), pack=NIST_800_53_R5, rule=rule, reason=reason)
        acknowledge_checkov(_l1(function), check=check, reason=reason)
    acknowledge_cfn_lint(_l1(function), check="W3005", reason=_DEPENDS_REASON)
    acknowledge_nag(_l1(log_group), pack=NIST_800_53_R5, rule="CloudWatchLogGroupEncrypted", reason=_LOGS_REASON)
    acknowledge_checkov(_l1(log_group), check="CKV_AWS_158", reason=_LOGS_REASON)


def _l1(construct: Construct) -> CfnResource:
    resource = construct.node.default_child
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{construct.node.path} has no L1 resource")
    return resource
