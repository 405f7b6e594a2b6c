"""A workspace of Amazon Managed Grafana that looks at the metrics of one workspace."""

from collections.abc import Sequence

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_grafana as grafana
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import main_resource
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.monitoring.rules import grafana_problems
from cdk_trainyard.monitoring.spec import GrafanaAuthentication, GrafanaSaml, GrafanaWorkspaceSpec
from cdk_trainyard.monitoring.workspace import MetricsWorkspaceBase
from cdk_trainyard.names import Naming, named
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.retention import KEPT
from cdk_trainyard.surroundings import surroundings


class GrafanaWorkspace(Construct):
    """A workspace of Amazon Managed Grafana (AWS::Grafana::Workspace), whose role queries one workspace for metrics.

    Nobody reaches it who is not listed, unless it is public; users sign in all the same. It is kept when its stack
    goes, and its role with it: what its users make there is nowhere else. Its role may query and not list workspaces:
    who adds the data source types its address, `MetricsWorkspaceBase.endpoint` (Amazon Managed Grafana user guide,
    "Amazon Managed Grafana permissions and policies for AWS data sources": listing is for discovery alone).

    Args:
        workspace: Where the metrics are.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        removal_policy: What becomes of it when it leaves the stack. Default: RETAIN_ON_UPDATE_OR_DELETE.
        authentication: Who says who a user is. Default - IAM Identity Center.
        saml: The identity provider, with SAML. Default - it is set up in Grafana's console, before anybody signs in.
        prefix_list_ids: Prefix lists of the addresses that reach it, 5 at most. Default - none.
        vpc_endpoint_ids: Interface endpoints (``com.amazonaws.<region>.grafana-workspace``) that reach it, 5 at most.
            Default - none.
        public_access: Whether every address reaches it; users sign in all the same. Default: False.

    Attributes:
        workspace_id: Its id.
        endpoint: Its address: ``https://g-….grafana-workspace.<region>.amazonaws.com``.
        role: What it queries as; grants to it let it see more.

    Raises:
        ConfigurationError: Nobody could reach it or sign in, or Amazon Managed Grafana is not offered in the Region.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        workspace: MetricsWorkspaceBase,
        names: Naming | None = None,
        removal_policy: RemovalPolicy = KEPT,
        authentication: Sequence[GrafanaAuthentication] = (GrafanaAuthentication.AWS_SSO,),
        saml: GrafanaSaml | None = None,
        prefix_list_ids: Sequence[str] = (),
        vpc_endpoint_ids: Sequence[str] = (),
        public_access: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(GrafanaWorkspaceSpec, locals()))
        raise_problems(self, [*judge.problems, *grafana_problems(spec, judge.environment.region)])
        policy = iam.ManagedPolicy(self, "Policy", description="Queries metrics for Grafana")
        workspace.grant_query(policy)
        self.role: iam.Role = _role(self, policy)
        resource = grafana.CfnWorkspace(
            self,
            "Resource",
            name=Stack.of(self).stack_name,
            account_access_type="CURRENT_ACCOUNT",
            permission_type="CUSTOMER_MANAGED",
            role_arn=self.role.role_arn,
            authentication_providers=[each.value for each in spec.authentication],
            saml_configuration=_saml(spec.saml),
            data_sources=["PROMETHEUS"],
            network_access_control=_access(spec),
        )
        for part in (resource, main_resource(self.role), main_resource(policy)):
            part.apply_removal_policy(removal_policy)
        self.workspace_id: str = resource.attr_id
        self.endpoint: str = f"https://{resource.attr_endpoint}"


def _role(scope: Construct, policy: iam.ManagedPolicy) -> iam.Role:
    """Return a role that workspaces of this account and Region alone take.

    No workspace has its ARN before it has its role. Source: Service Authorization Reference, "Actions, resources, and
    condition keys for Amazon Managed Grafana", resource type ``workspace``.
    """
    stack = Stack.of(scope)
    ours = stack.format_arn(service="grafana", resource="/workspaces/*")
    return iam.Role(
        scope,
        "Role",
        managed_policies=[policy],
        assumed_by=iam.ServicePrincipal(
            "grafana.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": stack.account}, "ArnLike": {"aws:SourceArn": ours}},
        ),
    )


def _saml(said: GrafanaSaml | None) -> grafana.CfnWorkspace.SamlConfigurationProperty | None:
    if said is None:
        return None
    return grafana.CfnWorkspace.SamlConfigurationProperty(
        idp_metadata=grafana.CfnWorkspace.IdpMetadataProperty(url=said.metadata_url),
        assertion_attributes=grafana.CfnWorkspace.AssertionAttributesProperty(role=said.role_attribute),
        role_values=grafana.CfnWorkspace.RoleValuesProperty(
            admin=list(said.admin_roles), editor=list(said.editor_roles)
        ),
    )


def _access(spec: GrafanaWorkspaceSpec) -> grafana.CfnWorkspace.NetworkAccessControlProperty | None:
    """Return who reaches it: an empty list lets nobody in, and none at all lets everybody."""
    if spec.public_access:
        return None
    return grafana.CfnWorkspace.NetworkAccessControlProperty(
        prefix_list_ids=list(spec.prefix_list_ids), vpce_ids=list(spec.vpc_endpoint_ids)
    )
