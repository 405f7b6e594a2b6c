"""Policies for everybody, of whatever type has one."""

import json
from typing import Any

import pytest

from cdk_trainyard.report.public_policies import public_policies

ALL = {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*"}]}
BLOCKED = {"PublicAccessBlockConfiguration": {"BlockPublicPolicy": True}}
OPEN = {"PublicAccessBlockConfiguration": {"BlockPublicPolicy": False}}


@pytest.mark.parametrize(
    ("kind", "properties", "is_public"),
    [
        ("ApiGateway::RestApi", {"Policy": ALL}, False),
        ("APS::ResourcePolicy", {"WorkspaceArn": "arn:1", "PolicyDocument": json.dumps(ALL)}, True),
        ("CodeArtifact::Repository", {"PermissionsPolicyDocument": ALL}, True),
        ("DynamoDB::Table", {"ResourcePolicy": {"PolicyDocument": ALL}}, True),
        ("EC2::VPCEndpoint", {"PolicyDocument": ALL}, False),
        ("ECR::Repository", {"RepositoryPolicyText": ALL}, True),
        ("IAM::Role", {"Policies": [{"PolicyDocument": ALL}]}, False),
        ("KMS::Key", {"KeyPolicy": ALL}, True),
        ("Kinesis::ResourcePolicy", {"ResourceArn": "arn:1", "ResourcePolicy": ALL}, True),
        ("Logs::ResourcePolicy", {"PolicyDocument": json.dumps(ALL)}, True),
        ("Logs::ResourcePolicy", {"PolicyDocument": "no JSON"}, False),
        ("OpenSearchService::Domain", {"AccessPolicies": ALL}, True),
        ("OpenSearchService::Domain", {"AccessPolicies": ALL, "VPCOptions": {}}, False),
        ("S3::AccessPoint", {"Policy": ALL}, False),
        ("S3::AccessPoint", {"Policy": ALL} | OPEN, True),
        ("S3::AccessPoint", {"Policy": ALL} | BLOCKED, False),
        ("SQS::QueueInlinePolicy", {"Queue": "q", "PolicyDocument": ALL}, True),
        ("SQS::QueueInlinePolicy", {"Queue": "q", "PolicyDocument": ["odd", {"Statement": 1}]}, False),
    ],
)
def test_who_is_let_in_by_a_policy(graph: Any, kind: str, properties: dict[str, Any], is_public: bool) -> None:
    found = public_policies(graph(S={"One": {"Type": f"AWS::{kind}", "Properties": properties}}))
    assert [resource.name for resource, _, _ in found] == ["One"] * is_public


def test_a_policy_opens_what_it_names(graph: Any) -> None:
    policy = {"Type": "AWS::S3Express::BucketPolicy", "Properties": {"Bucket": {"Ref": "Data"}, "PolicyDocument": ALL}}
    found = public_policies(graph(S={"Data": {"Type": "AWS::S3Express::DirectoryBucket"}, "Policy": policy}))
    assert [(resource.name, actions) for resource, actions, _ in found] == [("Data", "*")]
