"""The log group of a cluster, and the function that makes it: its text is what Lambda runs."""

from typing import Any
from unittest.mock import MagicMock

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Match, Template

from cdk_trainyard.hyperpod import log_group_handler
from cdk_trainyard.hyperpod.health_log import HealthLog
from tests.support import catch_answers

NAME = "/aws/sagemaker/Clusters/train/abcdefghijkl"
EVENT = {
    "StackId": "stack",
    "RequestId": "request",
    "LogicalResourceId": "LogGroup",
    "ResponseURL": "https://answer",
    "ResourceProperties": {"LogGroupName": NAME},
}


class AlreadyExists(Exception):  # noqa: N818  stands for the refusal of that name
    """There is such a log group."""


@pytest.fixture(scope="module")
def template() -> Template:
    stack = Stack(App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))
    HealthLog(stack, "Health", cluster_name="train", log_group_name=NAME)
    return Template.from_stack(stack)


def test_the_function_may_make_log_groups_of_this_cluster(template: Template) -> None:
    arn = ":logs:us-west-2:111111111111:log-group:/aws/sagemaker/Clusters/train/*"
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Statement": [
                    {
                        "Action": "logs:CreateLogGroup",
                        "Effect": "Allow",
                        "Resource": {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, arn]]},
                    },
                    Match.object_like({"Action": ["logs:CreateLogStream", "logs:PutLogEvents"]}),
                ]
            }
        },
    )


def test_the_function_runs_the_text_that_is_tested_here(template: Template) -> None:
    (function,) = template.find_resources("AWS::Lambda::Function").values()
    code = function["Properties"]["Code"]["ZipFile"]
    assert len(code) <= 4096
    assert code == log_group_handler.__spec__.loader.get_source(log_group_handler.__name__)


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    client = MagicMock()
    client.exceptions = MagicMock(ResourceAlreadyExistsException=AlreadyExists)
    monkeypatch.setattr("boto3.client", lambda service: {"logs": client}[service])
    return client


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    return catch_answers(monkeypatch)


def handle(request_type: str) -> None:
    log_group_handler.handler({**EVENT, "RequestType": request_type}, MagicMock(log_stream_name="stream"))


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_the_handler_makes_the_log_group(logs: MagicMock, answers: list[dict[str, Any]], request_type: str) -> None:
    handle(request_type)
    logs.create_log_group.assert_called_once_with(logGroupName=NAME)
    assert answers == [
        {
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "LogGroup",
            "Status": "SUCCESS",
            "PhysicalResourceId": NAME,
        }
    ]


def test_the_service_may_have_been_first(logs: MagicMock, answers: list[dict[str, Any]]) -> None:
    logs.create_log_group.side_effect = AlreadyExists(NAME)
    handle("Create")
    assert answers[0]["Status"] == "SUCCESS"


def test_the_log_stays(logs: MagicMock, answers: list[dict[str, Any]]) -> None:
    handle("Delete")
    assert logs.mock_calls == []
    assert answers[0]["Status"] == "SUCCESS"


def test_the_handler_answers_when_it_is_refused(logs: MagicMock, answers: list[dict[str, Any]]) -> None:
    logs.create_log_group.side_effect = ValueError("no such service")
    handle("Create")
    assert (answers[0]["Status"], answers[0]["Reason"]) == ("FAILED", "ValueError: no such service (stream)")
