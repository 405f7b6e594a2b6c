"""The deletion protection of a database, and the function that switches it on: its text is what Lambda runs."""

from typing import Any
from unittest.mock import MagicMock

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Match, Template
from aws_cdk.aws_rds import CfnDBInstance

from cdk_trainyard.storage import deletion_protection_handler
from cdk_trainyard.storage.deletion_protection import DeletionProtection
from tests.support import catch_answers

ARN = "arn:aws:rds:us-west-2:111111111111:db:accounting"
EVENT = {
    "StackId": "stack",
    "RequestId": "request",
    "LogicalResourceId": "DeletionProtection",
    "ResponseURL": "https://answer",
    "ResourceProperties": {"DBInstanceIdentifier": "accounting"},
}
MINUTES = 60_000


class Refused(Exception):  # noqa: N818  stands for any refusal
    """A refusal of RDS."""


class Gone(Refused):
    """There is no such database."""


class Busy(Refused):
    """The database is being backed up."""


@pytest.fixture(scope="module")
def template() -> Template:
    stack = Stack(App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))
    database = CfnDBInstance(stack, "Database")
    DeletionProtection(stack, "Protection", database=database, database_arn=ARN)
    return Template.from_stack(stack)


def test_it_is_undone_only_when_the_first_creation_is(template: Template) -> None:
    template.has_resource(
        "Custom::DeletionProtection",
        {
            "Properties": {"DBInstanceIdentifier": {"Ref": "Database"}, "ServiceTimeout": "840"},
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
            "DependsOn": [Match.string_like_regexp("ProtectionPolicy.*")],
        },
    )


def test_the_function_may_change_this_database_and_has_time_to_wait_for_it(template: Template) -> None:
    own = {"Fn::Join": ["", [{"Ref": "AWS::StackName"}, "/StackDatabaseB0B7A87A"]]}
    template.has_resource_properties("AWS::RDS::DBInstance", {"Tags": [{"Key": "trainyard:protection", "Value": own}]})
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Statement": [
                    {"Action": "rds:ModifyDBInstance", "Effect": "Allow", "Resource": ARN},
                    {
                        "Action": "rds:ModifyDBInstance",
                        "Condition": {"StringEquals": {"rds:db-tag/trainyard:protection": own}},
                        "Effect": "Allow",
                        "Resource": {"Fn::Join": ["", Match.array_with([":rds:us-west-2:111111111111:db:*"])]},
                    },
                    Match.object_like({"Action": ["logs:CreateLogStream", "logs:PutLogEvents"]}),
                ]
            }
        },
    )
    template.has_resource_properties("AWS::Lambda::Function", {"Timeout": 600})


def test_the_function_runs_the_text_that_is_tested_here(template: Template) -> None:
    (function,) = template.find_resources("AWS::Lambda::Function").values()
    code = function["Properties"]["Code"]["ZipFile"]
    assert len(code) <= 4096
    assert code == deletion_protection_handler.__spec__.loader.get_source(deletion_protection_handler.__name__)


@pytest.fixture
def rds(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    client = MagicMock()
    client.exceptions = MagicMock(DBInstanceNotFoundFault=Gone, InvalidDBInstanceStateFault=Busy)
    monkeypatch.setattr("boto3.client", lambda service: {"rds": client}[service])
    monkeypatch.setattr("time.sleep", lambda _: None)
    return client


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    return catch_answers(monkeypatch)


def handle(request_type: str, *, minutes_left: float = 10) -> None:
    context = MagicMock(log_stream_name="stream")
    context.get_remaining_time_in_millis.return_value = minutes_left * MINUTES
    deletion_protection_handler.handler({**EVENT, "RequestType": request_type}, context)


@pytest.mark.parametrize(("request_type", "protect"), [("Create", True), ("Update", True), ("Delete", False)])
def test_the_handler_protects_and_on_a_rollback_releases(
    rds: MagicMock, answers: list[dict[str, Any]], request_type: str, *, protect: bool
) -> None:
    handle(request_type)
    rds.modify_db_instance.assert_called_once_with(
        DBInstanceIdentifier="accounting", DeletionProtection=protect, ApplyImmediately=True
    )
    assert answers == [
        {
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "DeletionProtection",
            "Status": "SUCCESS",
            "PhysicalResourceId": "accounting-deletion-protection",
        }
    ]


def test_the_handler_waits_for_a_database_that_is_busy(rds: MagicMock, answers: list[dict[str, Any]]) -> None:
    rds.modify_db_instance.side_effect = [Busy("backing-up"), Busy("backing-up"), None]
    handle("Create")
    assert rds.modify_db_instance.call_count == 3
    assert answers[0]["Status"] == "SUCCESS"


def test_the_handler_gives_up_in_time_to_say_so(rds: MagicMock, answers: list[dict[str, Any]]) -> None:
    rds.modify_db_instance.side_effect = Busy("backing-up")
    handle("Create", minutes_left=0.9)
    assert (answers[0]["Status"], answers[0]["Reason"]) == ("FAILED", "Busy: backing-up (stream)")


def test_a_database_that_is_gone_needs_no_release(rds: MagicMock, answers: list[dict[str, Any]]) -> None:
    rds.modify_db_instance.side_effect = Gone("accounting")
    handle("Delete")
    handle("Create")
    assert [answer["Status"] for answer in answers] == ["SUCCESS", "FAILED"]
