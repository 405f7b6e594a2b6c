"""Images: by name, by parameter, and built here."""

import json
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet import EfaInstaller, EfaLaunchTemplate, NodeImage, TrainingImage, dlami_names
from cdk_trainyard.fleet.images import base_names, known_image
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.versions import default_efa_installer
from tests.fleet.parts import new_stack, only, resources, shared_group
from tests.parts import existing_network

SHA = "0123456789abcdef" * 4


def image(stack: Stack, **changes: Any) -> TrainingImage:
    settings: dict[str, Any] = {"base": "neuron-base-ubuntu-24.04", **changes}
    if "network" not in settings:
        settings["network"] = existing_network(stack)
    return TrainingImage(stack, "Image", **settings)


def documents(stack: Stack) -> dict[str, Any]:
    found = [json.loads(one["Properties"]["Data"]) for one in resources(stack, "AWS::ImageBuilder::Component").values()]
    return {document["name"]: document for document in found}


def script(document: dict[str, Any]) -> str:
    return str(document["phases"][0]["steps"][0]["inputs"]["commands"][0])


def test_a_deep_learning_ami_is_read_when_the_stack_is_deployed() -> None:
    stack = new_stack()
    name = "neuron-base-ubuntu-24.04"
    EfaLaunchTemplate(
        stack, "T", instance_type="trn1.32xlarge", security_group=shared_group(stack), image=NodeImage(dlami=name)
    )
    reference = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["ImageId"]["Ref"]
    assert Template.from_stack(stack).find_parameters(reference)[reference] == {
        "Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
        "Default": "/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id",
    }


def test_every_known_image_has_a_parameter_an_architecture_and_known_families() -> None:
    data = load("fleet", "images")
    assert {*dlami_names(), "ubuntu-24.04", "arm64-ubuntu-24.04"} == {*base_names()} == {*data["images"]}
    assert data["captured"]
    assert data["sources"]
    for name in base_names():
        known = known_image(NodeImage(dlami=name))
        assert known.parameter is not None
        assert known.parameter.startswith("/aws/service/")
        assert known.architecture in {"x86_64", "arm64"}
        assert known.user in {"ubuntu", "ec2-user"}
    assert not set(data["retired"]) & set(data["images"])


def test_a_pipeline_has_tools_efa_lustre_and_a_test() -> None:
    stack = new_stack()
    made = image(stack, accelerator=AcceleratorKind.NEURON)
    found = documents(stack)
    assert set(found) == {"kernel", "tools", "efa", "lustre", "verify"}
    assert found["verify"]["phases"][0]["name"] == "test"
    assert script(found["verify"]).startswith("export ACCELERATOR=neuron\n#!/bin/bash")
    assert f"export EFA_INSTALLER={default_efa_installer()}\n" in script(found["efa"])
    assert "export EFA_KEEP=yes\n" in script(found["efa"])
    recipe = only(stack, "AWS::ImageBuilder::ImageRecipe")
    assert recipe["ParentImage"] == "ssm:/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id"
    assert recipe["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    (distribution,) = only(stack, "AWS::ImageBuilder::DistributionConfiguration")["Distributions"]
    assert distribution["SsmParameterConfigurations"] == [
        {"DataType": "aws:ec2:image", "ParameterName": made.parameter_name}
    ]
    assert made.parameter_name.startswith("/imagebuilder/trainyard/")
    assert made.image_id is None
    assert not resources(stack, "AWS::ImageBuilder::Image")
    assert "Schedule" not in only(stack, "AWS::ImageBuilder::ImagePipeline")
    assert made.build_command.startswith("aws imagebuilder start-image-pipeline-execution")


def test_everything_can_be_set() -> None:
    stack = new_stack()
    made = image(
        stack,
        base="ubuntu-24.04",
        accelerator=AcceleratorKind.GPU,
        families=["p3dn"],
        nvidia_branch="580",
        efa_installer=EfaInstaller(version="1.50.0", sha256=SHA.upper()),
        commands=["echo mine"],
        instance_type="c5.4xlarge",
        volume_gib=100,
        regions=["us-east-1"],
        while_deploying=True,
    )
    found = documents(stack)
    assert list(found) == ["kernel", "tools", "nvidia", "efa", "lustre", "commands", "verify"]
    assert script(found["kernel"]).startswith("export KERNEL=6.17.0-1019-aws\n")
    assert f"export EFA_SHA256={SHA}\n" in script(found["efa"])
    assert "export EFA_KEEP=no\n" in script(found["efa"])
    assert script(found["commands"]) == "set -Eeuo pipefail\necho mine"
    regions = [one["Region"] for one in only(stack, "AWS::ImageBuilder::DistributionConfiguration")["Distributions"]]
    assert regions == ["us-west-2", "us-east-1"]
    assert made.image_id is not None
    assert known_image(NodeImage(build=made)).families == ("p3dn",)


def test_an_image_on_a_base_that_changes_is_built_anew() -> None:
    stack = new_stack()
    image(stack, schedule="cron(0 4 ? * SUN *)")
    assert only(stack, "AWS::ImageBuilder::ImagePipeline")["Schedule"] == {
        "PipelineExecutionStartCondition": "EXPRESSION_MATCH_AND_DEPENDENCY_UPDATES_AVAILABLE",
        "ScheduleExpression": "cron(0 4 ? * SUN *)",
    }


def test_the_ami_goes_with_the_image_and_the_pipelines_are_deleted_by_a_command() -> None:
    stack = new_stack()
    made = image(stack, while_deploying=True)
    (name,) = (name for name in resources(stack, "AWS::IAM::Role") if name.startswith("ImageRemovalRole"))
    settings = only(stack, "AWS::ImageBuilder::Image")["DeletionSettings"]
    assert settings == {"ExecutionRole": {"Fn::GetAtt": [name, "Arn"]}}
    role = resources(stack, "AWS::IAM::Role")[name]["Properties"]
    assert "EC2ImageBuilderLifecycleExecutionPolicy" in str(role["ManagedPolicyArns"])
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {"Service": "imagebuilder.amazonaws.com"}
    (distribution,) = only(stack, "AWS::ImageBuilder::DistributionConfiguration")["Distributions"]
    named = distribution["AmiDistributionConfiguration"]["Name"].removesuffix("{{ imagebuilder:buildDate }}")
    assert f"Values={named}*" in made.remove_command
    assert "deregister-image" in made.remove_command
    assert "--delete-associated-snapshots" in made.remove_command


def test_what_only_a_pipeline_builds_needs_no_role_for_its_end() -> None:
    stack = new_stack()
    image(stack)
    assert not [name for name in resources(stack, "AWS::IAM::Role") if name.startswith("ImageRemovalRole")]


@pytest.mark.parametrize("build", [True, False])
def test_nodes_take_the_image_that_was_built(build: bool) -> None:
    stack = new_stack()
    made = image(stack, while_deploying=build)
    EfaLaunchTemplate(
        stack,
        "T",
        instance_type="trn1.32xlarge",
        security_group=shared_group(stack),
        image=NodeImage(build=made),
    )
    (template,) = resources(stack, "AWS::EC2::LaunchTemplate").values()
    reference = template["Properties"]["LaunchTemplateData"]["ImageId"]
    if build:
        assert reference["Fn::GetAtt"][1] == "ImageId"
    else:
        assert reference == f"resolve:ssm:{made.parameter_name}"


def test_another_setting_is_another_recipe() -> None:
    """Image Builder's recipes cannot be changed, and a name can be taken once."""
    names = []
    for volume in (200, 201):
        stack = new_stack()
        image(stack, volume_gib=volume)
        names.append(only(stack, "AWS::ImageBuilder::ImageRecipe")["Name"])
    assert len(set(names)) == 2


def test_components_are_small_enough_for_image_builder() -> None:
    stack = new_stack()
    image(stack, base="ubuntu-24.04", nvidia_branch="580")
    sizes = [len(one["Properties"]["Data"]) for one in resources(stack, "AWS::ImageBuilder::Component").values()]
    assert max(sizes) < 16_000
    assert not any(
        "{{" in one["Properties"]["Data"] for one in resources(stack, "AWS::ImageBuilder::Component").values()
    )


def warned(stack: Stack) -> list[str]:
    found = Annotations.from_stack(stack).find_warning("/Stack/Image", Match.any_value())
    return [str(entry.entry.data) for entry in found]


def test_a_combination_that_is_known_says_nothing() -> None:
    stack = new_stack()
    image(stack, base="ubuntu-24.04", families=["p3dn"], nvidia_branch="580")
    assert warned(stack) == []


def test_a_base_of_which_no_source_says_the_kernel_is_a_warning() -> None:
    stack = new_stack()
    image(stack, base="ami-0123456789abcdef0")
    (said,) = warned(stack)
    assert said.startswith("no source says which kernel 'ami-0123456789abcdef0' has")
    assert said.endswith("[ack: @cdk-trainyard/fleet:unknown-versions]")


def test_fails_without_a_route_to_the_internet() -> None:
    stack = new_stack()
    network = existing_network(stack)
    network.has_nat = False
    with pytest.raises(ConfigurationError, match="'network' must have NAT"):
        image(stack, network=network)


def test_the_families_of_images_are_families_of_types() -> None:
    families = {InstanceType.of(name).family for name in load_types()}
    for name in dlami_names():
        unknown = set(known_image(NodeImage(dlami=name)).families or ()) - families
        # announced, and not yet in the catalogue
        assert unknown <= {"trn3", "p6e-gb300"}


def load_types() -> list[str]:
    return list(load("instances", "instance_types")["types"])
