"""The root squash, and the function that sets it: its text is what Lambda runs."""

from typing import Any
from unittest.mock import MagicMock

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Match, Template

from cdk_trainyard.storage import RootSquash, root_squash_handler
from cdk_trainyard.storage.root_squash import RootSquashSetting
from tests.support import catch_answers

EVENT = {
    "StackId": "stack",
    "RequestId": "request",
    "LogicalResourceId": "RootSquash",
    "ResponseURL": "https://answer",
    "ResourceProperties": {
        "FileSystemId": "fs-0123456789abcdef0",
        "RootSquash": "365534:65534",
        "NoSquashNids": ["10.1.0.6@tcp"],
    },
}


@pytest.fixture(scope="module")
def template() -> Template:
    stack = Stack(App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))
    RootSquashSetting(
        stack,
        "RootSquash",
        file_system_id="fs-0123456789abcdef0",
        file_system_arn="arn:aws:fsx:us-west-2:111111111111:file-system/fs-0123456789abcdef0",
        root_squash=RootSquash(uid=365534, gid=65534, no_squash_nids=("10.1.0.6@tcp",)),
    )
    return Template.from_stack(stack)


def test_the_setting_is_a_resource_that_waits_for_its_permission(template: Template) -> None:
    template.has_resource(
        "Custom::LustreRootSquash",
        {
            "Properties": {
                "FileSystemId": "fs-0123456789abcdef0",
                "RootSquash": "365534:65534",
                "NoSquashNids": ["10.1.0.6@tcp"],
                "ServiceTimeout": "300",
            },
            "DependsOn": [Match.string_like_regexp("RootSquashPolicy.*")],
        },
    )


def test_the_function_may_do_nothing_else(template: Template) -> None:
    template.resource_count_is("AWS::IAM::Policy", 0)
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Statement": [
                    {
                        "Action": "fsx:UpdateFileSystem",
                        "Effect": "Allow",
                        "Resource": "arn:aws:fsx:us-west-2:111111111111:file-system/fs-0123456789abcdef0",
                    },
                    {
                        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
                        "Effect": "Allow",
                        "Resource": {"Fn::GetAtt": [Match.string_like_regexp("RootSquashLogs.*"), "Arn"]},
                    },
                ]
            }
        },
    )
    template.has_resource_properties("AWS::IAM::Role", {"ManagedPolicyArns": [{"Ref": Match.any_value()}]})


def test_the_function_runs_the_text_that_is_tested_here(template: Template) -> None:
    (function,) = template.find_resources("AWS::Lambda::Function").values()
    code = function["Properties"]["Code"]["ZipFile"]
    assert len(code) <= 4096
    assert code == (root_squash_handler.__spec__.loader.get_source(root_squash_handler.__name__))


@pytest.fixture
def fsx(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    client = MagicMock()
    monkeypatch.setattr("boto3.client", lambda service: {"fsx": client}[service])
    return client


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    return catch_answers(monkeypatch)


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_the_handler_sets_it(fsx: MagicMock, answers: list[dict[str, Any]], request_type: str) -> None:
    root_squash_handler.handler({**EVENT, "RequestType": request_type}, None)
    fsx.update_file_system.assert_called_once_with(
        FileSystemId="fs-0123456789abcdef0",
        LustreConfiguration={
            "RootSquashConfiguration": {"RootSquash": "365534:65534", "NoSquashNids": ["10.1.0.6@tcp"]}
        },
    )
    assert answers == [
        {
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "RootSquash",
            "Status": "SUCCESS",
            "PhysicalResourceId": "fs-0123456789abcdef0-root-squash",
        }
    ]


def test_the_handler_leaves_a_retained_file_system_protected(fsx: MagicMock, answers: list[dict[str, Any]]) -> None:
    root_squash_handler.handler({**EVENT, "RequestType": "Delete"}, None)
    fsx.update_file_system.assert_not_called()
    assert answers[0]["Status"] == "SUCCESS"


def test_the_handler_answers_when_fsx_refuses(fsx: MagicMock, answers: list[dict[str, Any]]) -> None:
    fsx.update_file_system.side_effect = ValueError("file system is updating")
    root_squash_handler.handler({**EVENT, "RequestType": "Create"}, MagicMock(log_stream_name="stream"))
    assert answers[0]["Status"] == "FAILED"
    assert answers[0]["Reason"] == "ValueError: file system is updating (stream)"
