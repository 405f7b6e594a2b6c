"""Flow logs: kept for a stated time, written by a role that can do nothing else."""

import pytest
from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Match, Template

from tests.network.parts import new_network, new_stack, resources, warnings

QUIET = {"restrict_default_security_group": False}


@pytest.fixture(scope="module")
def template() -> Template:
    stack = new_stack()
    new_network(stack, **QUIET)
    return Template.from_stack(stack)


def test_all_traffic_of_the_vpc_is_logged(template: Template) -> None:
    template.has_resource(
        "AWS::EC2::FlowLog",
        {
            "Properties": {
                "ResourceType": "VPC",
                "TrafficType": "ALL",
                "LogDestinationType": "cloud-watch-logs",
                "LogGroupName": {"Ref": Match.string_like_regexp("NetworkFlowLogsLogGroup.*")},
                "DeliverLogsPermissionArn": {"Fn::GetAtt": [Match.string_like_regexp("NetworkFlowLogsRole.*"), "Arn"]},
            },
            "DependsOn": [Match.string_like_regexp("NetworkFlowLogsPolicy.*")],
        },
    )


def test_entries_are_kept_for_three_months_and_the_group_outlives_the_network(template: Template) -> None:
    template.has_resource(
        "AWS::Logs::LogGroup",
        {"Properties": {"RetentionInDays": 90, "KmsKeyId": Match.absent()}, "DeletionPolicy": "RetainExceptOnCreate"},
    )


def test_the_role_writes_to_this_group_for_flow_logs_of_this_account(template: Template) -> None:
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                        "Resource": {"Fn::GetAtt": [Match.string_like_regexp("NetworkFlowLogsLogGroup.*"), "Arn"]},
                    }
                ]
            }
        },
    )
    template.has_resource_properties(
        "AWS::IAM::Role",
        {
            "AssumeRolePolicyDocument": {
                "Statement": [
                    {
                        "Action": "sts:AssumeRole",
                        "Effect": "Allow",
                        "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
                        "Condition": {
                            "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
                            "ArnLike": {"aws:SourceArn": Match.any_value()},
                        },
                    }
                ]
            },
            "Policies": Match.absent(),
        },
    )


def test_they_can_be_kept_longer_and_encrypted_with_an_own_key() -> None:
    stack = new_stack()
    key = kms.Key(stack, "Key", removal_policy=RemovalPolicy.RETAIN)
    new_network(stack, flow_logs_retention=logs.RetentionDays.ONE_YEAR, flow_logs_key=key, **QUIET)
    (group,) = resources(stack, "AWS::Logs::LogGroup").values()
    assert group["RetentionInDays"] == 365
    assert group["KmsKeyId"] == stack.resolve(key.key_arn)
    (properties,) = resources(stack, "AWS::KMS::Key").values()
    statement = properties["KeyPolicy"]["Statement"][-1]
    assert statement["Principal"] == {
        "Service": {"Fn::Join": ["", ["logs.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]}
    }
    assert "kms:EncryptionContext:aws:logs:arn" in statement["Condition"]["ArnLike"]
    assert warnings(stack) == []


def test_a_key_whose_policy_is_elsewhere_is_warned_about() -> None:
    stack = new_stack()
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-east-1:111111111111:key/0123")
    new_network(stack, flow_logs_key=key, **QUIET)
    (warning,) = warnings(stack)
    assert warning.startswith("the policy of the key cannot be changed from here (Stack/Key)")
    assert warning.endswith("[ack: @cdk-trainyard/network:flow-logs-key]")


def test_a_key_of_another_stack_makes_no_cycle() -> None:
    stack = new_stack()
    storage = Stack(stack.node.scope, "Storage", env={"region": "us-east-1"})
    new_network(stack, flow_logs_key=kms.Key(storage, "Key"), **QUIET)
    assert [each.node.path for each in stack.dependencies] == []
    Template.from_stack(stack)
    assert [each.node.path for each in stack.dependencies] == ["Storage"]


def test_they_can_be_left_out() -> None:
    stack = new_stack()
    network = new_network(stack, flow_logs_retention=None, **QUIET)
    assert network.flow_log_group is None
    for kind in ("AWS::EC2::FlowLog", "AWS::Logs::LogGroup", "AWS::IAM::Role", "AWS::IAM::ManagedPolicy"):
        assert resources(stack, kind) == {}
