"""A workspace of Amazon Managed Service for Prometheus: where the metrics of clusters are."""

from string import Template

from aws_cdk import Annotations, ArnFormat, Aws, RemovalPolicy, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError, raise_problems
from cdk_trainyard.monitoring.render import alert_manager
from cdk_trainyard.monitoring.spec import MetricsWorkspaceSpec
from cdk_trainyard.names import Naming, fitting, named
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.retention import KEPT
from cdk_trainyard.surroundings import surroundings

_SERVICE = "aps.amazonaws.com"
_ENDPOINT = Template("https://aps-workspaces.${region}.${suffix}/workspaces/${id}/")
_LATE_SECONDS = 600
"""How late a sample may come after younger ones of its series: the most that there is; a minute unless asked for.

An agent that is stopped puts what it was about to send at the end of its queue (VictoriaMetrics,
app/vmagent/remotewrite/client.go, ``runWorker``). Sources of the numbers: What's New with AWS, 11 June 2026, "Amazon
Managed Service for Prometheus now supports out of order sample ingestion"; hashicorp/terraform-provider-aws, pull
request 48652, 0 to 600."""
_LONGEST_ALIAS = 100  # CreateWorkspace, botocore 1.44.5
_ANOTHER = "'topic' must be the topic that the workspace tells already: it has one alert manager"


class MetricsWorkspaceBase(Construct):
    """What writers and readers need of a workspace, made here or elsewhere.

    Attributes:
        workspace_arn: Its ARN.
        workspace_id: Its id.
        endpoint: Its address, which ends with a slash: ``https://aps-workspaces.…/workspaces/<id>/``.
    """

    workspace_arn: str
    workspace_id: str
    endpoint: str

    @property
    def region(self) -> str:
        """Its Region: the stack's."""
        return Stack.of(self).region

    @property
    def remote_write_url(self) -> str:
        """Where Prometheus writes to, signed with Signature Version 4 for the service ``aps``."""
        return f"{self.endpoint}api/v1/remote_write"

    def grant_remote_write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody write metrics to this workspace, and read none.

        Args:
            grantee: Who.
        """
        return self._grant(grantee, ["aps:RemoteWrite"])

    def grant_query(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody read metrics, as Grafana does.

        Args:
            grantee: Who.
        """
        names = ("QueryMetrics", "GetSeries", "GetLabels", "GetMetricMetadata")
        return self._grant(grantee, [f"aps:{name}" for name in names])

    def _grant(self, grantee: iam.IGrantable, actions: list[str]) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=[self.workspace_arn])


class MetricsWorkspace(MetricsWorkspaceBase):
    """A workspace (AWS::APS::Workspace): encrypted, and kept when the stack goes.

    Several clusters may write to one: the label ``cluster`` tells their metrics apart. What it keeps is encrypted
    with a key that AWS owns, or with ``key`` (Amazon Managed Service for Prometheus user guide, "Encryption at rest").

    Args:
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        removal_policy: What becomes of it when it leaves the stack. Default: RETAIN_ON_UPDATE_OR_DELETE.
        retention_days: How many days metrics are kept. Default: 150.
        key: KMS key of what is kept; another one is another workspace. Default - a key that AWS owns.

    Attributes:
        workspace_arn: Its ARN.
        workspace_id: Its id.
        endpoint: Its address, which ends with a slash.

    Raises:
        ConfigurationError: A value is out of its bounds.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        names: Naming | None = None,
        removal_policy: RemovalPolicy = KEPT,
        retention_days: int = 150,
        key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(MetricsWorkspaceSpec, locals()))
        raise_problems(self, judge.problems)
        self._topic: sns.ITopic | None = None
        self._resource = aps.CfnWorkspace(
            self,
            "Resource",
            alias=fitting(Stack.of(self).stack_name, _LONGEST_ALIAS),
            kms_key_arn=key.key_arn if key else None,
            workspace_configuration=aps.CfnWorkspace.WorkspaceConfigurationProperty(
                retention_period_in_days=spec.retention_days,
                out_of_order_time_window_in_seconds=_LATE_SECONDS,
            ),
        )
        self._resource.apply_removal_policy(removal_policy)
        self.workspace_arn = self._resource.attr_arn
        self.workspace_id = self._resource.attr_workspace_id
        self.endpoint = self._resource.attr_prometheus_endpoint

    @staticmethod
    def from_workspace_arn(scope: Construct, construct_id: str, workspace_arn: str) -> MetricsWorkspaceBase:
        """Use a workspace that exists already, in the stack's Region.

        Args:
            scope: Where it belongs.
            construct_id: Its id there.
            workspace_arn: Its ARN.
        """
        imported = MetricsWorkspaceBase(scope, construct_id)
        imported.workspace_arn = workspace_arn
        parts = Stack.of(scope).split_arn(workspace_arn, ArnFormat.SLASH_RESOURCE_NAME)
        imported.workspace_id = str(parts.resource_name)
        imported.endpoint = _ENDPOINT.substitute(
            region=Stack.of(scope).region, suffix=Aws.URL_SUFFIX, id=imported.workspace_id
        )
        return imported

    def tell(self, topic: sns.ITopic) -> None:
        """Tell a topic what rings: the workspace's alert manager does.

        Args:
            topic: The topic, of the same account. One that exists already must let the service publish, and the key
                that encrypts it must let the service use it ("Giving Amazon Managed Service for Prometheus permission
                to send alert messages to your Amazon SNS topic" in its user guide). The alert manager is kept with the
                workspace; a topic that is not is told nothing more.

        Raises:
            ConfigurationError: It tells another topic already.
        """
        if self._topic is topic:
            return
        if self._topic is not None:
            raise ConfigurationError(self.node.path, [_ANOTHER])
        self._topic = topic
        self._resource.alert_manager_definition = alert_manager(topic.topic_arn, Stack.of(self).region)
        account = Stack.of(self).account
        of_account = {"StringEquals": {"aws:SourceAccount": account}}
        added = topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsOfMetrics",
                principals=[iam.ServicePrincipal(_SERVICE)],
                actions=["sns:Publish", "sns:GetTopicAttributes"],
                resources=[topic.topic_arn],
                conditions=of_account | {"ArnEquals": {"aws:SourceArn": self.workspace_arn}},
            )
        )
        if not added.statement_added:
            Annotations.of(self).add_warning_v2(
                "@cdk-trainyard/monitoring:topic-policy",
                f"the policy of the topic cannot be changed from here ({topic.node.path}): let {_SERVICE} publish and "
                "read its attributes (sns:Publish, sns:GetTopicAttributes), and use the key that encrypts it, or no "
                "alarm on metrics arrives",
            )
        if topic.master_key:
            topic.master_key.add_to_resource_policy(
                iam.PolicyStatement(
                    sid="AlarmsOfMetrics",
                    principals=[iam.ServicePrincipal(_SERVICE)],
                    actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                    resources=["*"],  # in a key policy: this key
                )
            )
