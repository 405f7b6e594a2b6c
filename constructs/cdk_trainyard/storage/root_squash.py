"""The root squash of a Lustre file system, set after its creation: CloudFormation has no property for it.

Source: ``AWS::FSx::FileSystem`` in the resource schemas of cfn-lint 1.58.0 and of aws-cdk-lib 2.275.0; the FSx API has
``RootSquashConfiguration`` in ``UpdateFileSystem``.
"""

from importlib.resources import files

from aws_cdk import CfnResource, CustomResource, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import NIST_800_53_R5, acknowledge_cfn_lint, acknowledge_checkov, acknowledge_nag
from cdk_trainyard.storage.lustre_values import RootSquash

_ORDER_REASON = "CDK makes every function wait for its role beside referring to it; both are right"
_FUNCTION_REASONS = (
    (
        "LambdaConcurrency",
        "CKV_AWS_115",
        "runs when the setting changes, during a deployment, once; reserved concurrency would be taken from others",
    ),
    (
        "LambdaDLQ",
        "CKV_AWS_116",
        "CloudFormation calls it and waits for its answer: a failure fails the deployment, there is nothing to requeue",
    ),
    (
        "LambdaInsideVPC",
        "CKV_AWS_117",
        "calls the FSx API and CloudFormation's answer address over TLS, and reaches nothing in the VPC",
    ),
)
_LOGS_REASON = "holds at most the error message of one FSx call: the id of the file system, no data and no secret"


class RootSquashSetting(Construct):
    """Sets the root squash of a file system when it is created, and whenever the setting changes.

    Deleting the setting leaves the file system as it is, so that a retained file system stays protected.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, file_system_id: str, file_system_arn: str, root_squash: RootSquash
    ) -> None:
        super().__init__(scope, construct_id)
        log_group = logs.LogGroup(
            self, "Logs", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=RemovalPolicy.DESTROY
        )
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            description="Sets the root squash of one file system, and logs that it did",
            statements=[
                iam.PolicyStatement(actions=["fsx:UpdateFileSystem"], resources=[file_system_arn]),
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
            description="Sets the root squash of an FSx for Lustre file system",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            code=lambda_.Code.from_inline(files(__package__).joinpath("root_squash_handler.py").read_text()),
            role=role,
            log_group=log_group,
            timeout=Duration.minutes(1),
        )
        self.setting = CustomResource(
            self,
            "Resource",
            resource_type="Custom::LustreRootSquash",
            service_token=function.function_arn,
            service_timeout=Duration.minutes(5),
            properties={
                "FileSystemId": file_system_id,
                "RootSquash": root_squash.text,
                "NoSquashNids": list(root_squash.no_squash_nids),
            },
        )
        self.setting.node.add_dependency(policy)
        _acknowledge(function, log_group)


def _acknowledge(function: lambda_.Function, log_group: logs.LogGroup) -> None:
    for rule, check, reason in _FUNCTION_REASONS:
        acknowledge_nag(_l1(function), pack=NIST_800_53_R5, rule=rule, reason=reason)
        acknowledge_checkov(_l1(function), check=check, reason=reason)
    acknowledge_cfn_lint(_l1(function), check="W3005", reason=_ORDER_REASON)
    acknowledge_nag(_l1(log_group), pack=NIST_800_53_R5, rule="CloudWatchLogGroupEncrypted", reason=_LOGS_REASON)
    acknowledge_checkov(_l1(log_group), check="CKV_AWS_158", reason=_LOGS_REASON)


def _l1(construct: Construct) -> CfnResource:
    resource = construct.node.default_child
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{construct.node.path} has no L1 resource")
    return resource
