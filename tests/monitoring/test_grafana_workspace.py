"""Grafana's workspace: what of it CloudFormation is given, what its role may, and what is refused."""

from typing import Any

import pytest
from aws_cdk import App, Environment, RemovalPolicy, Stack, Token
from aws_cdk.assertions import Template
from botocore.session import Session

from cdk_trainyard import ConfigurationError, GrafanaAuthentication, GrafanaSaml, GrafanaWorkspace, MetricsWorkspace
from cdk_trainyard.data_files import load
from tests.monitoring.test_workspace import REGION, new_stack, only
from tools import cfn_lint

LISTED: Any = {"prefix_list_ids": ["pl-0123456789abcdef0"]}
IDP = "https://idp.example/metadata"


def workspace(stack: Stack, **said: Any) -> GrafanaWorkspace:
    return GrafanaWorkspace(stack, "Grafana", workspace=MetricsWorkspace(stack, "Metrics"), **said)


def test_the_least_is_private_kept_and_signed_in_by_identity_center() -> None:
    stack = new_stack()
    made = workspace(stack, **LISTED)
    found = only(Template.from_stack(stack), "AWS::Grafana::Workspace")
    (role,) = Template.from_stack(stack).find_resources("AWS::IAM::Role")
    assert found["Properties"] == {
        "Name": "Stack",
        "AccountAccessType": "CURRENT_ACCOUNT",
        "PermissionType": "CUSTOMER_MANAGED",
        "RoleArn": {"Fn::GetAtt": [role, "Arn"]},
        "AuthenticationProviders": ["AWS_SSO"],
        "DataSources": ["PROMETHEUS"],
        "NetworkAccessControl": {"PrefixListIds": ["pl-0123456789abcdef0"], "VpceIds": []},
    }
    assert (found["DeletionPolicy"], found["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    address = stack.resolve(made.endpoint)["Fn::Join"][1]
    assert (address[0], address[1]["Fn::GetAtt"][1]) == ("https://", "Endpoint")


def test_its_role_queries_this_workspace_alone_and_is_taken_by_grafana_of_this_account_alone() -> None:
    stack = new_stack()
    workspace(stack, **LISTED)
    template = Template.from_stack(stack)
    (metrics,) = template.find_resources("AWS::APS::Workspace")
    (allowed,) = only(template, "AWS::IAM::ManagedPolicy")["Properties"]["PolicyDocument"]["Statement"]
    assert allowed == {
        "Effect": "Allow",
        "Action": ["aps:QueryMetrics", "aps:GetSeries", "aps:GetLabels", "aps:GetMetricMetadata"],
        "Resource": {"Fn::GetAtt": [metrics, "Arn"]},
    }
    role = only(template, "AWS::IAM::Role")["Properties"]
    (policy,) = template.find_resources("AWS::IAM::ManagedPolicy")
    assert role["ManagedPolicyArns"] == [{"Ref": policy}]
    (trusted,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Principal"] == {"Service": "grafana.amazonaws.com"}
    assert trusted["Condition"]["StringEquals"] == {"aws:SourceAccount": "111111111111"}
    parts = trusted["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::Join"][1]
    assert parts == ["arn:", {"Ref": "AWS::Partition"}, f":grafana:{REGION}:111111111111:/workspaces/*"]


def test_everything_that_can_be_said_is_written() -> None:
    stack = new_stack()
    workspace(
        stack,
        removal_policy=RemovalPolicy.DESTROY,
        authentication=[GrafanaAuthentication.AWS_SSO, GrafanaAuthentication.SAML],
        saml=GrafanaSaml(metadata_url=IDP, role_attribute="role", admin_roles=["ops"], editor_roles=["ml"]),
        prefix_list_ids=["pl-0123456789abcdef0"],
        vpc_endpoint_ids=["vpce-0123456789abcdef0"],
    )
    found = only(Template.from_stack(stack), "AWS::Grafana::Workspace")
    assert found["DeletionPolicy"] == "Delete"
    said = found["Properties"]
    assert said["AuthenticationProviders"] == ["AWS_SSO", "SAML"]
    assert said["SamlConfiguration"] == {
        "IdpMetadata": {"Url": IDP},
        "AssertionAttributes": {"Role": "role"},
        "RoleValues": {"Admin": ["ops"], "Editor": ["ml"]},
    }
    assert said["NetworkAccessControl"] == {
        "PrefixListIds": ["pl-0123456789abcdef0"],
        "VpceIds": ["vpce-0123456789abcdef0"],
    }


def test_every_address_reaches_it_only_when_that_is_asked() -> None:
    stack = new_stack()
    workspace(stack, public_access=True)
    assert "NetworkAccessControl" not in only(Template.from_stack(stack), "AWS::Grafana::Workspace")["Properties"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({}, "must say who reaches Grafana, got nobody; give 'prefix_list_ids' or 'vpc_endpoint_ids', or 'public_acc"),
        (LISTED | {"public_access": True}, "'prefix_list_ids' must be left out beside 'public_access'"),
        (
            {"vpc_endpoint_ids": [f"vpce-0123456789abcde{number:02}" for number in range(6)]},
            "'vpc_endpoint_ids' must name 5 at most, got 6",
        ),
        ({"prefix_list_ids": ["sg-0123456789abcdef0"]}, "must be the id of a prefix list, as pl-0123456789abcdef0"),
        (LISTED | {"authentication": []}, "'authentication' must name AWS_SSO or SAML, got nothing: nobody could sign"),
        (LISTED | {"authentication": ["SSO"]}, "must be GrafanaAuthentication.AWS_SSO or GrafanaAuthentication.SAML"),
        (
            LISTED | {"saml": GrafanaSaml(metadata_url=IDP, role_attribute="role", admin_roles=["ops"])},
            "'saml' must be left out, or 'authentication' must name SAML",
        ),
        (
            LISTED
            | {
                "authentication": [GrafanaAuthentication.SAML],
                "saml": GrafanaSaml(metadata_url="http://idp", role_attribute="role", admin_roles=[]),
            },
            "'saml.admin_roles' must name one or more, got none",
        ),
        (
            LISTED | {"saml": GrafanaSaml(metadata_url=IDP, role_attribute="role", admin_roles=['["ops"]'])},
            "'saml.admin_roles[0]' must be one item, and no list in quotes, got '[\"ops\"]'; write each as one",
        ),
        (
            LISTED
            | {
                "authentication": [GrafanaAuthentication.SAML],
                "saml": GrafanaSaml(
                    metadata_url=IDP, role_attribute="role", admin_roles=["ops"], editor_roles=["ml", "ops"]
                ),
            },
            "'saml.editor_roles[1]' must be none of 'admin_roles', got 'ops'; leave it out of one of the two",
        ),
        (
            LISTED
            | {
                "authentication": [GrafanaAuthentication.SAML],
                "saml": GrafanaSaml(metadata_url="https://10.1.1.1/m", role_attribute="role", admin_roles=["ops"]),
            },
            "'saml.metadata_url' must be at a domain of the internet, got 'https://10.1.1.1/m': Amazon Managed Grafana",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(said: dict[str, Any], answer: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        workspace(new_stack(), **said)
    assert answer in str(refused.value)


@pytest.mark.parametrize(
    ("region", "why"),
    [
        ("eu-north-1", "Amazon Managed Grafana is"),
        ("us-gov-west-1", "CloudFormation has no"),
        ("us-west-2", ""),
    ],
)
def test_it_is_made_where_aws_offers_it(region: str, why: str) -> None:
    stack = Stack(App(), "Stack", env=Environment(account="111111111111", region=region))
    if not why:
        workspace(stack, **LISTED)
        return
    with pytest.raises(ConfigurationError, match=f"must be left out in {region}: {why}") as refused:
        workspace(stack)
    assert "who reaches Grafana" not in str(refused.value)  # what is to be left out is not told what it lacks


def test_regions_are_those_of_botocore_with_the_resource_type() -> None:
    session = Session()
    known = {
        region
        for partition in session.get_available_partitions()
        for region in session.get_available_regions("grafana", partition)
    }
    typed = {region for region in known if "AWS::Grafana::Workspace" in cfn_lint.read("providers", f"{region}.json")}
    data = load("monitoring", "grafana_regions")
    assert (set(data["regions"]), set(data["without_type"])) == (typed, known - typed)


def test_of_what_is_not_known_yet_nothing_is_said() -> None:
    stack = Stack(App(), "Stack")
    workspace(stack, prefix_list_ids=Token.as_list({"Ref": "Lists"}))
    found = only(Template.from_stack(stack), "AWS::Grafana::Workspace")
    assert found["Properties"]["NetworkAccessControl"]["PrefixListIds"] == {"Ref": "Lists"}
