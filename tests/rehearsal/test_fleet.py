"""Reading a fleet from EC2, and losing a node of it; what its nodes are given. No node boots."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import Cluster, RehearsalError
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.fleet.agent import FleetAgent
from cdk_trainyard.rehearsal.fleet.fleets import Fleets
from cdk_trainyard.rehearsal.metadata import USER_DATA, metadata_of
from tests.rehearsal.node_role import started_in

REGION = "eu-north-1"  # of these tests alone
IMAGE = "ami-12c6146b"
SCRIPT = "#!/bin/sh\necho hello\n"


def tags(role: str) -> list[dict[str, str]]:
    return [{"Key": "trainyard:fleet", "Value": "demo"}, {"Key": "trainyard:role", "Value": role}]


def launch(ec2: Any, role: str, kind: str, subnet: str) -> None:
    ec2.run_instances(
        ImageId=IMAGE,
        InstanceType=kind,
        SubnetId=subnet,
        MinCount=1,
        MaxCount=1,
        UserData=SCRIPT,
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags(role)}],
    )


@pytest.fixture
def fleets(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleets]:
    """A group of two workers with a hook, and a master."""
    started_in(aws, monkeypatch)
    ec2, groups = aws.client("ec2", REGION), aws.client("autoscaling", REGION)
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    data = {"ImageId": IMAGE, "InstanceType": "p4d.24xlarge", "UserData": base64.b64encode(SCRIPT.encode()).decode()}
    template = ec2.create_launch_template(LaunchTemplateName="demo", LaunchTemplateData=data)["LaunchTemplate"]
    groups.create_auto_scaling_group(
        AutoScalingGroupName="demo",
        MinSize=2,
        MaxSize=2,
        VPCZoneIdentifier=subnet,
        LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"], "Version": "1"},
        Tags=[{**tag, "PropagateAtLaunch": True} for tag in tags("worker")],
    )
    groups.put_lifecycle_hook(
        AutoScalingGroupName="demo",
        LifecycleHookName="set-up",
        LifecycleTransition="autoscaling:EC2_INSTANCE_LAUNCHING",
    )
    launch(ec2, "master", "c5n.18xlarge", subnet)
    yield Fleets(ControlPlane(REGION))
    groups.delete_auto_scaling_group(AutoScalingGroupName="demo", ForceDelete=True)
    ec2.delete_launch_template(LaunchTemplateId=template["LaunchTemplateId"])
    running = ec2.describe_instances(Filters=[{"Name": "instance-state-name", "Values": ["running"]}])["Reservations"]
    ec2.terminate_instances(InstanceIds=[one["InstanceId"] for row in running for one in row["Instances"]])


def named(cluster: Cluster, *roles: str) -> list[str]:
    return [node.name for node in cluster.with_role(*roles)]


def test_members_are_numbered_by_their_addresses(fleets: Fleets) -> None:
    found = fleets.cluster()
    assert found.name == "demo"
    assert named(found, "worker") == ["worker-1", "worker-2"]
    assert named(found, "master") == ["master-1"]
    assert [node.address for node in found.with_role("worker")] == sorted(
        node.address for node in found.with_role("worker")
    )
    assert {group.name: group.instance_type for group in found.groups} == {
        "master": "c5n.18xlarge",
        "worker": "p4d.24xlarge",
    }


def test_the_master_is_the_last_to_be_left_out(fleets: Fleets) -> None:
    assert named(fleets.cluster().capped(2), "master", "worker") == ["master-1", "worker-1"]


def test_user_data_is_what_the_instance_was_launched_with(fleets: Fleets) -> None:
    for node in fleets.cluster().nodes:
        assert fleets.user_data(node) == SCRIPT


def test_workers_answer_the_hook_of_their_group(fleets: Fleets) -> None:
    found = fleets.cluster()
    (master,) = found.with_role("master")
    assert [fleets.hook_of(node) for node in found.with_role("worker")] == [("demo", "set-up")] * 2
    assert fleets.hook_of(master) is None


def test_a_lost_worker_is_followed_by_one_with_another_name(fleets: Fleets) -> None:
    before = fleets.cluster()
    lost, kept = before.with_role("worker")
    launched = fleets.lose(lost)
    after = fleets.cluster(known=before)
    assert [node.name for node in after.nodes if node.instance_id == launched] == ["worker-3"]
    assert kept in after.nodes
    assert lost not in after.nodes


def test_nobody_replaces_a_master(fleets: Fleets) -> None:
    (master,) = fleets.cluster().with_role("master")
    with pytest.raises(RehearsalError, match="master-1 is of no Auto Scaling group"):
        fleets.lose(master)


def test_members_are_ready_when_they_have_said_so(fleets: Fleets, aws: LocalAws) -> None:
    first = fleets.cluster().nodes[0].instance_id
    assert fleets.ready() == set()
    aws.client("ec2", REGION).create_tags(Resources=[first], Tags=[{"Key": "trainyard:ready", "Value": "yes"}])
    assert fleets.ready() == {first}


def test_a_node_has_its_user_data(fleets: Fleets) -> None:
    found = fleets.cluster()
    agent = FleetAgent(found, user_data=lambda _node: SCRIPT)
    (master,) = found.with_role("master")
    assert agent.files(master)["/var/lib/cloud/instance/scripts/part-001"].text == SCRIPT
    told = dict(agent.metadata(master))
    assert metadata_of("/latest/user-data", told) == SCRIPT
    assert USER_DATA.strip("/") not in (metadata_of("/latest/meta-data/", told) or "")
