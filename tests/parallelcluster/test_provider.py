"""The provider: one for each version, with the role and policies that it was given."""

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.parallelcluster import ParallelClusterProvider


def policies(stack: Stack, count: int) -> list[iam.IManagedPolicy]:
    return [iam.ManagedPolicy.from_managed_policy_name(stack, f"P{index}", f"p{index}") for index in range(count)]


def test_defaults(stack: Stack) -> None:
    provider = ParallelClusterProvider(stack, "Provider")
    assert provider.version == "3.16.1"
    ((logical_id, nested),) = Template.from_stack(stack).find_resources("AWS::CloudFormation::Stack").items()
    assert "Parameters" not in nested["Properties"]
    assert stack.resolve(provider.service_token) == {"Fn::GetAtt": [logical_id, "Outputs.ServiceToken"]}
    assert stack.resolve(provider.log_group_arn) == {"Fn::GetAtt": [logical_id, "Outputs.LogGroupArn"]}


def test_a_role_of_yours(stack: Stack) -> None:
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::111111111111:role/mine")
    ParallelClusterProvider(stack, "Provider", role=role, version="3.15.0")
    Template.from_stack(stack).has_resource_properties(
        "AWS::CloudFormation::Stack", {"Parameters": {"CustomLambdaRole": "arn:aws:iam::111111111111:role/mine"}}
    )


def test_policies_are_joined(stack: Stack) -> None:
    provider = ParallelClusterProvider(stack, "Provider", policies=policies(stack, 1))
    provider.add_policy(iam.ManagedPolicy.from_managed_policy_name(stack, "More", "more"))
    (nested,) = Template.from_stack(stack).find_resources("AWS::CloudFormation::Stack").values()
    assert str(nested["Properties"]["Parameters"]["AdditionalIamPolicies"]).count(":policy/") == 2


def test_fails_with_too_many_policies(stack: Stack) -> None:
    with pytest.raises(ConfigurationError, match="'policies' must be at most 4, got 5; IAM attaches ten to a role"):
        ParallelClusterProvider(stack, "Provider", policies=policies(stack, 5))


def test_fails_to_add_a_policy_to_a_role_of_yours(stack: Stack) -> None:
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::111111111111:role/mine")
    provider = ParallelClusterProvider(stack, "Provider", role=role)
    with pytest.raises(ConfigurationError, match="'policies' must be left out with 'role'"):
        provider.add_policy(policies(stack, 1)[0])


@pytest.mark.parametrize("version", ["3.16", "latest", "2.11.0"])
def test_fails_with_a_version_that_is_none(stack: Stack, version: str) -> None:
    with pytest.raises(ConfigurationError, match=r"'version' must be ParallelCluster's version 3, as 3\.16\.1"):
        ParallelClusterProvider(stack, "Provider", version=version)


@pytest.mark.parametrize("version", ["3.10.1", "3.14.3", "3.16.9", "3.99.0"])
def test_takes_versions_that_may_be_out_by_now(stack: Stack, version: str) -> None:
    assert ParallelClusterProvider(stack, "Provider", version=version).version == version
