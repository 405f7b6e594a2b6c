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


def test_an_image_that_is_built_while_deploying_owns_its_parameter() -> None:
    """Image Builder writes it, and nobody else would delete it with the stack, when it names an AMI that is gone."""
    stack = new_stack()
    TrainingImage(stack, "Image", base=GPU_IMAGE, network=existing_network(stack), while_deploying=True)
    ((image, _),) = resources(stack, "AWS::ImageBuilder::Image").items()
    (parameter,) = resources(stack, "Custom::ImageParameter").values()
    assert parameter["Properties"]["ImageId"] == {"Fn::GetAtt": [image, "ImageId"]}


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
    """Parameter Store, that takes what is put and finds what ``stored`` says, in an account with two AMIs."""
    client, ec2 = MagicMock(stored={}), MagicMock()
    client.exceptions = MagicMock(ParameterNotFound=Absent)
    client.get_parameter.side_effect = lambda Name: {"Parameter": {"Value": found(client.stored, Name)}}  # noqa: N803
    client.put_parameter.side_effect = lambda **said: client.stored.update({said["Name"]: said["Value"]})
    ec2.describe_images.side_effect = lambda **said: {
        "Images": [*{"ami-0", "ami-built"} & {*said["Filters"][0]["Values"]}]
    }
    monkeypatch.setattr("boto3.client", lambda service: {"ssm": client, "ec2": ec2}[service])
    monkeypatch.setattr("time.sleep", lambda _: None)
    return client


def found(stored: dict[str, str], name: str) -> str:
    if name not in stored:
        raise Absent
    return stored[name]


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
    ssm.get_parameter.side_effect = [Absent, Absent, {"Parameter": {"Value": "ami-1"}}]
    handle("Create")
    said = {"Name": NAME, "Value": "ami-1", "Type": "String", "DataType": "aws:ec2:image", "Overwrite": True}
    ssm.put_parameter.assert_called_once_with(**said)
    assert answers == [
        {
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Parameter",
            "Status": "SUCCESS",
            "PhysicalResourceId": NAME,
        }
    ]


FOREIGN = f"{NAME} was there"
OF_OLD = {"OldResourceProperties": {"Name": NAME, "ImageId": "ami-0"}}


@pytest.mark.parametrize(
    ("kind", "known", "stored", "then", "physical"),
    [
        pytest.param("Create", "", "ami-1", "ami-1", NAME, id="what Image Builder wrote while deploying is its own"),
        pytest.param("Create", "", "ami-built", "ami-built", FOREIGN, id="what a pipeline has written stays"),
        pytest.param("Create", "", "ami-gone", "ami-1", NAME, id="the AMI of a stack that is gone makes room"),
        pytest.param("Update", NAME, "ami-0", "ami-1", NAME, id="another base of an image that was never built"),
        pytest.param("Update", NAME, "ami-built", "ami-built", NAME, id="another base leaves the AMI that was built"),
        pytest.param("Update", NAME, "ami-gone", "ami-1", NAME, id="an AMI that was removed makes room"),
        pytest.param("Update", FOREIGN, None, "ami-1", FOREIGN, id="what somebody has deleted is made anew"),
    ],
)
def test_the_handler_leaves_the_pipeline_s_image_and_no_other(
    ssm: MagicMock,
    answers: list[dict[str, Any]],
    kind: str,
    known: str,
    stored: str | None,
    then: str,
    physical: str,
) -> None:
    if stored is not None:
        ssm.stored[NAME] = stored
    handle(kind, **({"PhysicalResourceId": known, **OF_OLD} if known else {}))
    assert ssm.stored == {NAME: then}
    assert (answers[0]["Status"], answers[0]["PhysicalResourceId"]) == ("SUCCESS", physical)


@pytest.mark.parametrize(("known", "deletions"), [(NAME, 1), (FOREIGN, 0)])
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
