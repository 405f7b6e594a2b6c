"""A custom resource whose function stands in the template: for what CloudFormation has no property for.

Reviewers read the function where they read everything else; it needs no asset, has exactly the permissions that it is
given, and keeps its log for a stated time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import CustomResource, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.log_groups import acknowledge_logs_own_key

_FUNCTION_REASONS = {
    **dict.fromkeys(
        ("NIST.800.53.R5-LambdaConcurrency", "CKV_AWS_115"),
        "runs when the resource is created or changed, once; reserved concurrency would be taken from others",
    ),
    **dict.fromkeys(
        ("NIST.800.53.R5-LambdaDLQ", "CKV_AWS_116"),
        "CloudFormation calls it and waits for its answer: a failure fails the deployment, there is nothing to requeue",
    ),
    **dict.fromkeys(
        ("NIST.800.53.R5-LambdaInsideVPC", "CKV_AWS_117"),
        "calls an AWS API and CloudFormation's answer address over TLS, and reaches nothing in the VPC",
    ),
    "W3005": "CDK makes every function wait for its role beside referring to it; both are right",
}
_LOGS_REASON = "holds at most the error message of one API call: the id of a resource, no data and no secret"


class InlineFunction(Construct):
    """A Python function, its role and log, and the custom resource that calls it.

    Args:
        code: Its text, at most 4096 characters, whose ``handler(event, context)`` answers CloudFormation.
        description: What it does, for the function and for its policy.
        statements: What it may do, beside writing its log.
        resource_type: Type of the custom resource, ``Custom::…``.
        properties: Properties of the custom resource; a change of them calls the function again.
        timeout: How long the function may take, at most 10 minutes. Default: 1 minute.

    Attributes:
        resource: The custom resource.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        code: str,
        description: str,
        statements: Sequence[iam.PolicyStatement],
        resource_type: str,
        properties: Mapping[str, Any],
        timeout: Duration | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        patience = timeout or Duration.minutes(1)
        log_group = logs.LogGroup(
            self, "Logs", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=RemovalPolicy.DESTROY
        )
        write_log = iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log_group.log_group_arn]
        )
        policy = iam.ManagedPolicy(
            self, "Policy", description=f"{description}, and logs that it did", statements=[*statements, write_log]
        )
        role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"), managed_policies=[policy]
        )
        function = lambda_.Function(
            self,
            "Function",
            description=description,
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            code=lambda_.Code.from_inline(code),
            role=role,
            log_group=log_group,
            timeout=patience,
        )
        self.resource = CustomResource(
            self,
            "Resource",
            resource_type=resource_type,
            service_token=function.function_arn,
            service_timeout=patience.plus(Duration.minutes(4)),
            properties=dict(properties),
        )
        self.resource.node.add_dependency(policy)
        acknowledge(main_resource(function), _FUNCTION_REASONS)
        acknowledge_logs_own_key(log_group, _LOGS_REASON)
