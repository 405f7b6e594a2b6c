"""Dashboards of one cluster in CloudWatch, and what fetches for them from its workspace."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from aws_cdk import Duration, RemovalPolicy, Stack, Tags
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.log_groups import acknowledge_logs_own_key
from cdk_trainyard.monitoring.cloudwatch import body, shown
from cdk_trainyard.monitoring.spec import ClusterDashboardsSpec, MetricsSource
from cdk_trainyard.monitoring.workspace import MetricsWorkspaceBase
from cdk_trainyard.names import Naming, named
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.surroundings import surroundings

_CLOUDWATCH: Final = "lambda.datasource.cloudwatch.amazonaws.com"
_FUNCTION_REASONS: Final = {
    **dict.fromkeys(
        ("NIST.800.53.R5-LambdaConcurrency", "CKV_AWS_115"),
        "runs while somebody looks at a dashboard; reserved concurrency would be taken from others",
    ),
    **dict.fromkeys(
        ("NIST.800.53.R5-LambdaDLQ", "CKV_AWS_116"),
        "CloudWatch waits for its answer and shows what went wrong: there is nothing to requeue",
    ),
    **dict.fromkeys(
        ("NIST.800.53.R5-LambdaInsideVPC", "CKV_AWS_117"),
        "asks a workspace of Amazon Managed Service for Prometheus over TLS, and reaches nothing in the VPC",
    ),
    "CKV_AWS_173": "its one variable is the address of the workspace, which only signed requests open",
    "W3005": "CDK makes every function wait for its role beside referring to it; both are right",
}
_LOGS_REASON: Final = "holds queries that failed and why: names of metrics, no values and no secret"


class ClusterDashboards(Construct):
    """CloudWatch dashboards on the metrics of one cluster (AWS::CloudWatch::Dashboard).

    CloudWatch reads a workspace of Amazon Managed Service for Prometheus through a Lambda function, the data source
    connector, which is made here: its role may query this workspace alone, and CloudWatch of this account alone may
    call it. Panels are those of the Grafana dashboards that ``trainyard dashboards`` writes; one for which there are no
    metrics is left out.

    Args:
        workspace: The workspace.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        cluster_name: The cluster, as the label ``cluster`` of its metrics says it.
        sources: Whose metrics there are. Default - everybody's.

    Attributes:
        connector: The function.
        dashboards: The dashboards, by what they show: ``cluster``, ``jobs``, ``nodes``, ``fabric``, ``accelerators``,
            ``storage``, ``idle``, ``serving``.

    Raises:
        ConfigurationError: The name is none of a cluster, or a source is none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        workspace: MetricsWorkspaceBase,
        names: Naming | None = None,
        cluster_name: str,
        sources: Sequence[MetricsSource] = (
            MetricsSource.CONTROLLER,
            MetricsSource.SLURM,
            MetricsSource.NODE,
            MetricsSource.EFA,
            MetricsSource.LUSTRE,
            MetricsSource.NEURON,
            MetricsSource.GPU,
            MetricsSource.ENGINE,
            MetricsSource.VLLM,
            MetricsSource.TGI,
        ),
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(ClusterDashboardsSpec, locals()))
        raise_problems(self, judge.problems)
        self.connector: lambda_.Function = _connector(self, workspace)
        stack = Stack.of(self)
        self.dashboards: Mapping[str, cloudwatch.CfnDashboard] = {
            each.name: cloudwatch.CfnDashboard(
                self,
                each.name.title(),
                dashboard_body=stack.to_json_string(
                    body(
                        each,
                        cluster_name=spec.cluster_name,
                        function_name=self.connector.function_name,
                        region=stack.region,
                    )
                ),
            )
            for each in shown(spec.sources)
        }


def _connector(scope: Construct, workspace: MetricsWorkspaceBase) -> lambda_.Function:
    """Define the function, its role and its log, and let CloudWatch call it."""
    log_group = logs.LogGroup(
        scope, "Logs", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=RemovalPolicy.DESTROY
    )
    policy = iam.ManagedPolicy(
        scope,
        "Policy",
        description="Queries one workspace for dashboards, and logs what failed",
        statements=[
            iam.PolicyStatement(actions=["aps:QueryMetrics"], resources=[workspace.workspace_arn]),
            iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log_group.log_group_arn]
            ),
        ],
    )
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"), managed_policies=[policy])
    with TemporaryDirectory() as folder:  # this one file, whatever else is beside it
        Path(folder, "index.py").write_bytes(Path(__file__).with_name("connector.py").read_bytes())
        function = lambda_.Function(
            scope,
            "Connector",
            description="Answers CloudWatch's dashboards from a workspace of Amazon Managed Service for Prometheus",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            code=lambda_.Code.from_asset(folder),
            role=role,
            log_group=log_group,
            environment={"WORKSPACE_ENDPOINT": workspace.endpoint},
            memory_size=256,
            timeout=Duration.seconds(10),  # CloudWatch waits no longer
        )
    function.add_permission(
        "CloudWatch", principal=iam.ServicePrincipal(_CLOUDWATCH), source_account=Stack.of(scope).account
    )
    Tags.of(function).add("cloudwatch:datasource", "custom", include_resource_types=["AWS::Lambda::Function"])
    acknowledge(main_resource(function), _FUNCTION_REASONS)
    acknowledge_logs_own_key(log_group, _LOGS_REASON)
    return function
