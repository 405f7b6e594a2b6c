"""Sections of a fleet become its constructs: what the file says arrives at EC2."""

from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Match, Template

from cdk_trainyard.deployment import Deployment
from stacks import build_stacks
from tests.support import ROOT

DATA = Path(__file__).parent / "data"
KEY = ":kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"


def training(path: Path) -> tuple[Stack, Template]:
    *_, stack = build_stacks(App(), Deployment.load(path))
    return stack, Template.from_stack(stack)


@pytest.fixture(scope="module")
def everything() -> Template:
    return training(DATA / "everything_fleet.yaml")[1]


@pytest.fixture(scope="module")
def bert() -> Template:
    return training(ROOT / "deployments" / "fleet-p3dn-bert.yaml")[1]


@pytest.fixture(scope="module")
def block() -> Template:
    return training(ROOT / "deployments" / "fleet-p5-capacity-block.yaml")[1]


def launch(template: Template, name: str) -> dict[str, Any]:
    (found,) = [
        one["Properties"]["LaunchTemplateData"]
        for logical_id, one in template.find_resources("AWS::EC2::LaunchTemplate").items()
        if logical_id.startswith(name)
    ]
    return dict(found)


def test_the_range_and_the_types_are_the_groups(everything: Template) -> None:
    everything.has_resource_properties(
        "AWS::AutoScaling::AutoScalingGroup",
        {
            "MinSize": "2",
            "MaxSize": "6",
            "MixedInstancesPolicy": {
                "LaunchTemplate": {
                    "Overrides": [
                        Match.object_like({"InstanceType": "p4d.24xlarge"}),
                        Match.object_like({"InstanceType": "p4de.24xlarge"}),
                    ]
                }
            },
        },
    )


def test_what_is_said_of_a_node_is_in_its_template(everything: Template) -> None:
    data = launch(everything, "FleetTemplate0")
    assert data["KeyName"] == "mine"
    assert data["CpuOptions"] == {"CoreCount": 48, "ThreadsPerCore": 1}
    assert data["ImageId"].startswith("resolve:ssm:/imagebuilder/trainyard/")
    assert {one["InterfaceType"] for one in data["NetworkInterfaces"]} == {"efa"}
    (disk,) = data["BlockDeviceMappings"]
    assert disk["Ebs"]["VolumeSize"] == 300
    assert disk["Ebs"]["KmsKeyId"] == {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, KEY]]}


def test_the_master_is_one_of_its_own(everything: Template) -> None:
    data = launch(everything, "Master")
    assert (data["InstanceType"], data["ImageId"], data["KeyName"]) == ("c5n.9xlarge", "ami-0123456789abcdef0", "mine")
    (disk,) = data["BlockDeviceMappings"]
    assert disk["Ebs"]["VolumeSize"] == 100
    assert disk["Ebs"]["KmsKeyId"] == {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, KEY]]}


def test_the_image_is_built_as_the_file_says(everything: Template) -> None:
    everything.has_resource_properties(
        "AWS::ImageBuilder::ImagePipeline",
        {"Schedule": Match.object_like({"ScheduleExpression": "cron(0 4 ? * SUN *)"})},
    )
    everything.has_resource_properties(
        "AWS::ImageBuilder::InfrastructureConfiguration", {"InstanceTypes": ["m6i.2xlarge"]}
    )
    everything.resource_count_is("AWS::ImageBuilder::Image", 0)
    texts = [one["Properties"]["Data"] for one in everything.find_resources("AWS::ImageBuilder::Component").values()]
    assert sum("apt-get install -y tmux" in text for text in texts) == 1
    assert sum("1.49.0" in text for text in texts) == 1


def test_people_are_told_by_a_topic_whose_key_auto_scaling_may_use(everything: Template) -> None:
    everything.has_resource_properties(
        "AWS::AutoScaling::AutoScalingGroup",
        {"NotificationConfigurations": [Match.object_like({"TopicARN": {"Ref": Match.string_like_regexp("^Alerts")}})]},
    )
    (key,) = everything.find_resources("AWS::KMS::Key").values()
    (statement,) = [one for one in key["Properties"]["KeyPolicy"]["Statement"] if one.get("Sid") == "AutoScaling"]
    assert statement["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert statement["Condition"]["StringEquals"] == {"kms:CallerAccount": {"Ref": "AWS::AccountId"}}
    role = statement["Condition"]["ArnEquals"]["aws:PrincipalArn"]["Fn::Join"][1][-1]
    assert role == ":role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"


def test_jobs_use_the_buckets_and_nodes_never_write_their_scripts(bert: Template) -> None:
    policies = bert.find_resources("AWS::IAM::ManagedPolicy")
    (policy,) = [one for name, one in policies.items() if name.startswith("FleetRole")]
    about_scripts = [
        one for one in policy["Properties"]["PolicyDocument"]["Statement"] if "Scripts" in str(one["Resource"])
    ]
    assert not any("Condition" in statement for statement in about_scripts)  # a missing script answers 404
    allowed = {
        action
        for statement in about_scripts
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert allowed == {"s3:GetObject", "s3:ListBucket"}
    assert "s3:PutObject" in str(policy)
    assert "s3:DeleteObject" not in str(policy)


def test_nodes_pull_images_and_write_metrics_where_that_was_asked_for(everything: Template, bert: Template) -> None:
    def granted(template: Template) -> dict[str, Any]:
        policies = template.find_resources("AWS::IAM::ManagedPolicy")
        (policy,) = [one for name, one in policies.items() if name.startswith("FleetRole")]
        return {
            one["Sid"]: one["Resource"] for one in policy["Properties"]["PolicyDocument"]["Statement"] if "Sid" in one
        }

    found = granted(everything)
    assert found["LogInToRegistries"] == "*"
    assert found["PullImages"]["Fn::Join"][1][-1] == ":ecr:us-west-2:111111111111:repository/*"
    assert found["RemoteWrite"].endswith("workspace/ws-01234567-89ab-cdef-0123-456789abcdef")
    assert not {"PullImages", "LogInToRegistries", "RemoteWrite"} & granted(bert).keys()


def test_bert_has_eight_nodes_a_master_and_an_image_with_a_driver_for_v100(bert: Template) -> None:
    bert.has_resource_properties("AWS::AutoScaling::AutoScalingGroup", {"MinSize": "8", "MaxSize": "8"})
    bert.resource_count_is("AWS::EC2::PlacementGroup", 1)
    bert.resource_count_is("AWS::ImageBuilder::Image", 1)
    assert launch(bert, "Master")["InstanceType"] == "c5n.18xlarge"
    assert "Fn::GetAtt" in launch(bert, "FleetTemplate")["ImageId"]


def test_berts_image_has_pytorch_with_code_for_its_gpus(bert: Template) -> None:
    texts = [one["Properties"]["Data"] for one in bert.find_resources("AWS::ImageBuilder::Component").values()]
    (commands,) = [text for text in texts if '"name": "commands"' in text]
    assert "/opt/pytorch/bin/pip install --no-cache-dir torch==" in commands
    assert "'sm_70' in torch" in commands  # or the build fails, and no node begins a job that cannot run


def test_a_capacity_block_owns_the_placement(block: Template) -> None:
    block.resource_count_is("AWS::EC2::PlacementGroup", 0)
    data = launch(block, "FleetTemplate")
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": "cr-0123456789abcdef0"}
    assert len(data["NetworkInterfaces"]) == 33


def test_people_learn_how_to_reach_every_node(bert: Template, block: Template) -> None:
    named = {name for name in bert.find_outputs("*") if not name.startswith("ExportsOutput")}
    assert named == {
        "NodesCommand", "ConnectCommand", "ResumeCommand", "LogGroupName", "Quotas", "Prerequisites",
        "ImageBuildCommand", "ImageRemoveCommand", "ImageParameter",
    }  # fmt: skip
    assert "ConnectCommand" not in block.find_outputs("*")
    parts = block.find_outputs("NodesCommand")["NodesCommand"]["Value"]["Fn::Join"][1]
    command = "".join("us-west-2" if part == {"Ref": "AWS::Region"} else str(part) for part in parts)
    assert "join('',['aws ssm start-session --region us-west-2 --target ',InstanceId])" in command
