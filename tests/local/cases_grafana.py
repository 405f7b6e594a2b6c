"""How the types of Amazon Managed Grafana are tried."""

from typing import Any

from cdk_trainyard.local import LocalAws
from tests.local.cases import Case
from tests.local.support import TRUST

_ROLE = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}}
_SAML = {
    "IdpMetadata": {"Url": "https://idp.example/metadata"},
    "AssertionAttributes": {"Role": "role"},
    "RoleValues": {"Admin": ["platform"], "Editor": []},
}


def _workspace(aws: LocalAws, physical_id: str) -> list[Any]:
    grafana = aws.client("grafana")
    found = grafana.describe_workspace(workspaceId=physical_id)["workspace"]
    signed_in = grafana.describe_workspace_authentication(workspaceId=physical_id)["authentication"]
    saml = signed_in.get("saml", {}).get("configuration", {})
    assert found["workspaceRoleArn"].startswith("arn:aws:iam::")
    assert found["endpoint"].startswith(f"{physical_id}.grafana-workspace.")
    return [
        found["name"],
        found["status"],
        found["dataSources"],
        found.get("networkAccessControl"),
        found["authentication"],
        saml.get("roleValues"),
        found["tags"]["Name"],
    ]


CASES = (
    Case(
        type="AWS::Grafana::Workspace",
        needs={"Role": _ROLE},
        properties={
            "Name": "first",
            "AccountAccessType": "CURRENT_ACCOUNT",
            "PermissionType": "CUSTOMER_MANAGED",
            "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
            "AuthenticationProviders": ["AWS_SSO"],
            "DataSources": ["PROMETHEUS"],
            "NetworkAccessControl": {"PrefixListIds": ["pl-0123456789abcdef0"], "VpceIds": []},
            "Tags": [{"Key": "Name", "Value": "first"}],
        },
        look=_workspace,
        made=[
            "first",
            "ACTIVE",
            ["PROMETHEUS"],
            {"prefixListIds": ["pl-0123456789abcdef0"], "vpceIds": []},
            {"providers": ["AWS_SSO"]},
            None,
            "first",
        ],
        change={
            "Name": "second",
            "AuthenticationProviders": ["SAML"],
            "SamlConfiguration": _SAML,
            "NetworkAccessControl": {"PrefixListIds": [], "VpceIds": ["vpce-0123456789abcdef0"]},
            "Tags": [{"Key": "Name", "Value": "second"}],
        },
        changed=[
            "second",
            "ACTIVE",
            ["PROMETHEUS"],
            {"prefixListIds": [], "vpceIds": ["vpce-0123456789abcdef0"]},
            {"providers": ["SAML"], "samlConfigurationStatus": "CONFIGURED"},
            {"admin": ["platform"], "editor": []},
            "second",
        ],
        attributes=("Id", "Endpoint", "GrafanaVersion", "Status", "CreationTimestamp", "ModificationTimestamp"),
    ),
)
