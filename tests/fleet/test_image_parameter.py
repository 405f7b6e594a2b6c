"""The parameter of an image, and the function that makes it before the image is built: its text is what Lambda runs."""

from typing import Any
from unittest.mock import MagicMock

import pytest
from aws_cdk.assertions import Match, Template

from cdk_trainyard.fleet import NodeImage, TrainingImage, image_parameter_handler
from tests.fleet.parts import GPU_IMAGE, new_fleet, new_master, new_stack, resources
from tests.parts import existing_network
from tests.support import catch_answers

NAME = "/imagebuilder/trainyard/Stack-Image"
EVENT = {
    "StackId": "stack",
    "RequestId": "request",
    "LogicalResourceId": "Parameter",
    "ResponseURL": "https://answer",
    "ResourceProperties": {"Name": NAME, "ImageId": "ami-1"},
}


def image_of(base: str) -> tuple[Template, str]:
    stack = new_stack()
    made = TrainingImage(stack, "Image", base=base, network=existing_network(stack))
    return Template.from_stack(stack), made.parameter_name


@pytest.mark.parametrize(("base", "begins"), [(GPU_IMAGE, {"Ref": Match.any_value()}), ("ami-0123456789abcdef0",) * 2])
def test_it_begins_with_the_base(base: str, begins: Any) -> None:
    template, name = image_of(base)
    template.has_resource_properties("Custom::ImageParameter", {"Name": name, "ImageId": begins})


def test_the_function_may_touch_this_parameter_alone_and_look_for_amis() -> None:
    template, name = image_of(GPU_IMAGE)
    (policy,) = template.find_resources("AWS::IAM::ManagedPolicy").values()
    parameter, images, _ = policy["Properties"]["PolicyDocument"]["Statement"]
    assert parameter["Action"] == ["ssm:DeleteParameter", "ssm:GetParameter", "ssm:PutParameter"]
    assert str(parameter["Resource"]).endswith(f":ssm:us-west-2:111111111111:parameter{name}']]}}")
    assert (images["Action"], images["Resource"]) == ("ec2:DescribeImages", "*")


def test_whatever_launches_waits_for_it() -> None:
    stack = new_stack()
    network = existing_network(stack)
    image = NodeImage(build=TrainingImage(stack, "Image", base=GPU_IMAGE, network=network))
    new_master(stack, new_fleet(stack, network=network, image=image, min_count=0, max_count=2))
    (parameter,) = resources(stack, "Custom::ImageParameter")
    templates = resources(stack, "AWS::EC2::LaunchTemplate").values()
    assert [parameter in template["DependsOn"] for template in templates] == [True, True]


def test_an_image_that_is_built_while_deploying_needs_none() -> None:
    stack = new_stack()
    TrainingImage(stack, "Image", base=GPU_IMAGE, network=existing_network(stack), while_deploying=True)
    assert not resources(stack, "Custom::ImageParameter")


def test_the_function_runs_the_text_that_is_tested_here() -> None:
    (function,) = image_of(GPU_IMAGE)[0].find_resources("AWS::Lambda::Function").values()
    code = function["Properties"]["Code"]["ZipFile"]
    assert len(code) <= 4096
    assert code == image_parameter_handler.__spec__.loader.get_source(image_parameter_handler.__name__)


# ---------------------------------------------------------------- the function
class Absent(Exception):  # noqa: N818  stands for ParameterNotFound
    """There is no such parameter."""


@pytest.fixture
def ssm(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    client = MagicMock()
    client.exceptions = MagicMock(ParameterNotFound=Absent)
    monkeypatch.setattr("boto3.client", lambda service: {"ssm": client}[service])
    monkeypatch.setattr("time.sleep", lambda _: None)
    return client


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    return catch_answers(monkeypatch)


def handle(request_type: str, *, seconds_left: int = 300, **more: Any) -> None:
    context = MagicMock(log_stream_name="stream")
    context.get_remaining_time_in_millis.return_value = seconds_left * 1000
    image_parameter_handler.handler({**EVENT, "RequestType": request_type, **more}, context)


def test_the_handler_makes_the_parameter_and_waits_until_it_is_there(
    ssm: MagicMock, answers: list[dict[str, Any]]
) -> None:
    ssm.get_parameter.side_effect = [Absent, Absent, {}]
    handle("Create")
    ssm.put_parameter.assert_called_once_with(Name=NAME, Value="ami-1", Type="String", DataType="aws:ec2:image")
    assert answers == [
        {
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Parameter",
            "Status": "SUCCESS",
            "PhysicalResourceId": NAME,
        }
    ]


@pytest.mark.parametrize(("kind", "known"), [("Create", {}), ("Update", {"PhysicalResourceId": NAME})])
def test_the_handler_leaves_what_the_pipeline_has_written(
    ssm: MagicMock, answers: list[dict[str, Any]], kind: str, known: dict[str, str]
) -> None:
    handle(kind, **known)
    ssm.put_parameter.assert_not_called()
    assert answers[0]["PhysicalResourceId"] == known.get("PhysicalResourceId", f"{NAME} was there")


def test_the_handler_makes_anew_what_somebody_has_deleted(ssm: MagicMock, answers: list[dict[str, Any]]) -> None:
    ssm.get_parameter.side_effect = [Absent, {}]
    handle("Update", PhysicalResourceId=f"{NAME} was there")
    ssm.put_parameter.assert_called_once()
    assert answers[0]["PhysicalResourceId"] == f"{NAME} was there"


@pytest.mark.parametrize(("known", "deletions"), [(NAME, 1), (f"{NAME} was there", 0)])
def test_the_handler_deletes_what_it_has_made(
    ssm: MagicMock, answers: list[dict[str, Any]], known: str, deletions: int
) -> None:
    ssm.delete_parameter.side_effect = Absent  # somebody was first
    handle("Delete", PhysicalResourceId=known)
    assert ssm.delete_parameter.call_count == deletions
    assert (answers[0]["Status"], answers[0]["PhysicalResourceId"]) == ("SUCCESS", known)


def test_the_handler_gives_up_in_time_to_say_so(ssm: MagicMock, answers: list[dict[str, Any]]) -> None:
    ssm.get_parameter.side_effect = Absent
    handle("Create", seconds_left=40)
    assert answers[0]["Status"] == "FAILED"
    assert "Parameter Store has not taken ami-1: is it an AMI that this account may use?" in answers[0]["Reason"]
