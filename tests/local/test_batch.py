"""Batch: a changed job definition is the next revision; nothing is launched."""

import pytest

from cdk_trainyard.local import LocalAws
from tests.local.cases_batch import ENVIRONMENT
from tests.local.stacks import Stacks, Template, outputs_of, template


def _definition(image: str, **more: object) -> Template:
    container = {"Image": image, "Vcpus": 1, "Memory": 512}
    properties = {"Type": "container", "JobDefinitionName": "train", "ContainerProperties": container, **more}
    return template(
        {"Definition": {"Type": "AWS::Batch::JobDefinition", "Properties": properties}},
        Outputs=outputs_of(Definition={"Ref": "Definition"}),
    )


@pytest.mark.parametrize(
    ("more", "before"),
    [({}, "INACTIVE"), ({"ResourceRetentionPolicy": {"SkipDeregisterOnUpdate": True}}, "ACTIVE")],
)
def test_a_changed_definition_is_the_next_revision(stacks: Stacks, aws: LocalAws, more: Template, before: str) -> None:
    name = stacks.deployed(_definition("train:1", **more))
    first = stacks.outputs(name)["Definition"]
    assert stacks.update(name, _definition("train:2", **more)) == "UPDATE_COMPLETE", stacks.reasons(name)
    second = stacks.outputs(name)["Definition"]
    assert int(second.rpartition(":")[2]) == int(first.rpartition(":")[2]) + 1
    found = aws.client("batch").describe_job_definitions(jobDefinitionName="train")["jobDefinitions"]
    status = {row["jobDefinitionArn"]: (row["status"], row["containerProperties"]["image"]) for row in found}
    assert status[first] == (before, "train:1")
    assert status[second] == ("ACTIVE", "train:2")


@pytest.mark.usefixtures("support")
def test_nothing_is_launched_for_an_environment(stacks: Stacks, aws: LocalAws) -> None:
    stacks.deployed(template(ENVIRONMENT))
    filters = [{"Name": "instance-type", "Values": ["p5.48xlarge"]}]
    assert aws.client("ec2").describe_instances(Filters=filters)["Reservations"] == []


@pytest.mark.usefixtures("support")
def test_an_environment_stands_in_subnets_that_exist(stacks: Stacks) -> None:
    environment = ENVIRONMENT["Environment"]["Properties"]
    resources = {**environment["ComputeResources"], "Subnets": ["subnet-0bad0bad0bad0bad0"]}
    broken = {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {**environment, "ComputeResources": resources}}
    failure = stacks.failure(template({**ENVIRONMENT, "Environment": broken}))
    assert "subnet-0bad0bad0bad0bad0" in failure
    assert "not exist" in failure
