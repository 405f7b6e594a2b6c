"""The default security group, and the function that closes it: its text is what Lambda runs."""

from typing import Any
from unittest.mock import MagicMock

import boto3
import pytest
from aws_cdk.assertions import Match, Template
from botocore.exceptions import ClientError

from cdk_trainyard.network import default_security_group_handler as handler_module
from tests.network.parts import new_network, new_stack, resources
from tests.support import catch_answers

EVENT = {
    "StackId": "stack",
    "RequestId": "request",
    "LogicalResourceId": "Closed",
    "ResponseURL": "https://answer",
    "ResourceProperties": {"DefaultSecurityGroupId": "sg-0123456789abcdef0", "Account": "111111111111"},
}
FROM_ITSELF = {
    "IpProtocol": "-1",
    "UserIdGroupPairs": [{"GroupId": "sg-0123456789abcdef0", "UserId": "111111111111"}],
}
TO_EVERYWHERE = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


@pytest.fixture(scope="module")
def template() -> Template:
    stack = new_stack()
    new_network(stack, flow_logs_retention=None)
    return Template.from_stack(stack)


def test_the_group_is_closed_by_a_resource_that_waits_for_its_permission(template: Template) -> None:
    group = {"Fn::GetAtt": [Match.string_like_regexp("Network[0-9A-F]{8}"), "DefaultSecurityGroup"]}
    template.has_resource(
        "Custom::VpcRestrictDefaultSG",
        {
            "Properties": {
                "DefaultSecurityGroupId": group,
                "Account": {"Ref": "AWS::AccountId"},
                "ServiceTimeout": "300",
            },
            "DependsOn": [Match.string_like_regexp("NetworkDefaultSecurityGroupPolicy.*")],
        },
    )


def test_the_function_may_revoke_rules_of_this_group_and_nothing_else(template: Template) -> None:
    template.resource_count_is("AWS::IAM::Policy", 0)
    (policy,) = template.find_resources("AWS::IAM::ManagedPolicy").values()
    revoke, log = policy["Properties"]["PolicyDocument"]["Statement"]
    assert revoke["Action"] == ["ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"]
    assert ":security-group/" in str(revoke["Resource"])
    assert "DefaultSecurityGroup" in str(revoke["Resource"])
    assert log["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    assert "*" not in str(policy["Properties"]["PolicyDocument"])


def test_the_template_shows_the_whole_function(template: Template) -> None:
    (function,) = template.find_resources("AWS::Lambda::Function").values()
    text = function["Properties"]["Code"]["ZipFile"]
    assert len(text) <= 4096  # of an inline function
    compile(text, "index.py", "exec")


def test_its_logs_have_a_retention(template: Template) -> None:
    template.has_resource("AWS::Logs::LogGroup", {"Properties": {"RetentionInDays": 90}, "DeletionPolicy": "Delete"})


def test_the_group_can_be_left_as_it_is() -> None:
    stack = new_stack()
    new_network(stack, restrict_default_security_group=False)
    for kind in ("Custom::VpcRestrictDefaultSG", "AWS::Lambda::Function"):
        assert resources(stack, kind) == {}


# ---------------------------------------------------------------- the function
@pytest.fixture
def ec2(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    client = MagicMock()
    monkeypatch.setattr(boto3, "client", lambda _: client)
    return client


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    return catch_answers(monkeypatch)


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "RevokeSecurityGroupIngress")


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_both_rules_are_revoked(ec2: MagicMock, answers: list[dict[str, Any]], kind: str) -> None:
    handler_module.handler({**EVENT, "RequestType": kind}, MagicMock())
    ec2.revoke_security_group_ingress.assert_called_once_with(
        GroupId="sg-0123456789abcdef0", IpPermissions=[FROM_ITSELF]
    )
    ec2.revoke_security_group_egress.assert_called_once_with(
        GroupId="sg-0123456789abcdef0", IpPermissions=[TO_EVERYWHERE]
    )
    assert answers == [
        {
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Closed",
            "Status": "SUCCESS",
            "PhysicalResourceId": "sg-0123456789abcdef0-closed",
        }
    ]


def test_rules_that_are_gone_do_no_harm(ec2: MagicMock, answers: list[dict[str, Any]]) -> None:
    ec2.revoke_security_group_ingress.side_effect = refusal("InvalidPermission.NotFound")
    handler_module.handler({**EVENT, "RequestType": "Create"}, MagicMock())
    ec2.revoke_security_group_egress.assert_called_once()
    assert answers[0]["Status"] == "SUCCESS"


def test_deletion_leaves_the_group_closed(ec2: MagicMock, answers: list[dict[str, Any]]) -> None:
    handler_module.handler({**EVENT, "RequestType": "Delete"}, MagicMock())
    assert ec2.mock_calls == []
    assert answers[0]["Status"] == "SUCCESS"


def test_fails_the_deployment_with_the_reason(ec2: MagicMock, answers: list[dict[str, Any]]) -> None:
    ec2.revoke_security_group_ingress.side_effect = refusal("UnauthorizedOperation")
    handler_module.handler({**EVENT, "RequestType": "Create"}, MagicMock(log_stream_name="stream"))
    assert answers[0]["Status"] == "FAILED"
    assert "UnauthorizedOperation" in answers[0]["Reason"]
    assert answers[0]["Reason"].endswith("(stream)")
