"""A fleet from end to end: the real cdk CLI deploys it, tells what changes, and destroys it."""

import re
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.local import LocalAws
from tests.deployed import RolledBackError
from tests.environment import Environment
from tests.support import ROOT

pytestmark = [pytest.mark.cli, pytest.mark.usefixtures("empty_aws")]


class Fleet(Environment):
    """A fleet that was deployed."""

    def group(self) -> dict[str, Any]:
        """Return the one Auto Scaling group."""
        (group,) = self.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
        return dict(group)

    def nodes(self) -> dict[str, dict[str, Any]]:
        """Return the running instances of the fleet, workers and master, by their ids."""
        filters = [
            {"Name": "tag-key", "Values": ["trainyard:fleet"]},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
        pages = self.client("ec2").describe_instances(Filters=filters)["Reservations"]
        return {one["InstanceId"]: one for page in pages for one in page["Instances"]}

    def types(self) -> list[str]:
        return sorted(node["InstanceType"] for node in self.nodes().values())


def eight_nodes_and_a_master_stand_in_one_place(bert: Fleet) -> None:
    bert.create()
    assert bert.types() == ["c5n.18xlarge", *["p3dn.24xlarge"] * 8]
    nodes = bert.nodes().values()
    assert len({node["SubnetId"] for node in nodes}) == 1
    groups = {node["InstanceType"]: node["Placement"].get("GroupName") for node in nodes}
    assert groups["p3dn.24xlarge"]
    assert not groups["c5n.18xlarge"]
    assert {node["SubnetId"] for node in nodes} == {bert.outputs("network")["AcceleratorSubnetId"]}
    images = {node["ImageId"] for node in nodes}
    parameter = bert.client("ssm").get_parameter(Name=bert.outputs("training")["ImageParameter"])["Parameter"]
    assert images == {parameter["Value"]}
    assert not any(node.get("PublicIpAddress") or node.get("KeyName") for node in nodes)


def the_same_again_changes_nothing(bert: Fleet) -> None:
    assert bert.deploy() == []


def eight_nodes_become_ten_and_none_is_replaced(bert: Fleet) -> None:
    before = set(bert.nodes())
    bert.content["cluster"]["count"] = 10
    changes = bert.diff()
    assert re.search(r"\[~\] AWS::AutoScaling::AutoScalingGroup", changes)
    assert "requires replacement" not in changes
    bert.deploy()
    assert before < set(bert.nodes())
    assert bert.types().count("p3dn.24xlarge") == 10


def a_changed_template_ends_no_job(bert: Fleet) -> None:
    """New nodes get the new template; those that run are left alone."""
    before = bert.nodes()
    bert.content["cluster"]["volume_gib"] = 300
    bert.deploy()
    assert set(bert.nodes()) == set(before)
    template = bert.group()["LaunchTemplate"]
    assert int(template["Version"]) > 1


def what_the_service_refuses_is_rolled_back(bert: Fleet) -> None:
    """A role that is not there is found out by the service alone: the stack is as it was."""
    before, group = set(bert.nodes()), bert.group()
    bert.content["cluster"]["role_arn"] = f"arn:aws:iam::{bert.aws.account}:role/nobody-made-it"
    with pytest.raises(RolledBackError, match="nobody-made-it"):
        bert.deploy()
    del bert.content["cluster"]["role_arn"]
    assert bert.status("training") == "UPDATE_ROLLBACK_COMPLETE"
    assert set(bert.nodes()) == before
    assert bert.group()["AutoScalingGroupARN"] == group["AutoScalingGroupARN"]


def what_the_file_gets_wrong_is_refused_before_anything_is_deployed(bert: Fleet) -> None:
    bert.content["cluster"]["instance_type"] = "g5.xlarge"
    assert "'cluster.instance_type' must be one with EFA, got 'g5.xlarge'" in bert.refusal()
    bert.content["cluster"]["instance_type"] = "p3dn.24xlarge"


def destroying_everything_keeps_the_data(bert: Fleet) -> None:
    storage = bert.outputs("storage")
    bert.destroy_all()
    assert bert.nodes() == {}
    file_systems = bert.client("fsx").describe_file_systems(FileSystemIds=[storage["LustreFileSystemId"]])
    assert file_systems["FileSystems"]


def test_a_fleet_from_creation_to_destruction(aws: LocalAws, tmp_path: Path) -> None:
    """Each step stands on the ones before it."""
    bert = Fleet(aws, ROOT / "deployments" / "fleet-p3dn-bert.yaml", tmp_path)
    for step in (
        eight_nodes_and_a_master_stand_in_one_place,
        the_same_again_changes_nothing,
        eight_nodes_become_ten_and_none_is_replaced,
        a_changed_template_ends_no_job,
        what_the_service_refuses_is_rolled_back,
        what_the_file_gets_wrong_is_refused_before_anything_is_deployed,
        destroying_everything_keeps_the_data,
    ):
        step(bert)


def test_a_capacity_block_is_taken_whole(aws: LocalAws, tmp_path: Path) -> None:
    block = Fleet(aws, ROOT / "deployments" / "fleet-p5-capacity-block.yaml", tmp_path)
    block.deploy()
    assert block.types() == []  # its capacity block has not started
    groups = block.client("autoscaling")
    starts, ends = sorted(
        groups.describe_scheduled_actions()["ScheduledUpdateGroupActions"], key=lambda action: action["StartTime"]
    )
    assert [starts["StartTime"].isoformat(), ends["StartTime"].isoformat()] == [
        "2027-06-01T11:30:00+00:00",
        "2027-06-15T10:50:00+00:00",
    ]
    assert [ends[name] for name in ("MinSize", "MaxSize", "DesiredCapacity")] == [0, 0, 0]
    sizes = {name: starts[name] for name in ("MinSize", "MaxSize", "DesiredCapacity")}
    groups.update_auto_scaling_group(AutoScalingGroupName=starts["AutoScalingGroupName"], **sizes)
    assert block.types() == ["p5.48xlarge"] * 16
    template = block.group()["LaunchTemplate"]
    (version,) = block.client("ec2").describe_launch_template_versions(
        LaunchTemplateId=template["LaunchTemplateId"], Versions=[template["Version"]]
    )["LaunchTemplateVersions"]
    data = version["LaunchTemplateData"]
    assert data["InstanceMarketOptions"]["MarketType"] == "capacity-block"
    assert len(data["NetworkInterfaces"]) == 33
    assert "Placement" not in data
    block.destroy()
    assert block.nodes() == {}
