"""Fleets: what is defined, what waits for what, and what members are told."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from cdk_trainyard.fleet import (
    EfaFleet,
    FleetScripts,
    MasterNode,
    NodeImage,
    NodeRole,
)
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.network import PlacementGroup, TrainingNetwork
from cdk_trainyard.storage import LustreFileSystem, Mount, TrainingBuckets
from tests.fleet.parts import (
    ACCOUNT,
    GPU_IMAGE,
    ZONE,
    capacity_block,
    existing_lustre,
    mixed_spot,
    new_fleet,
    new_master,
    new_stack,
    only,
    resources,
    shared_group,
)
from tests.parts import subnet_id


def told(stack: Stack, logical: str = "Fleet") -> dict[str, Any]:
    """What user data tells a node, with references for what is not known yet."""
    text = user_data(stack, logical)
    return dict(json.loads(text.split("END_OF_SETTINGS'\n")[1].split("\nEND_OF_SETTINGS")[0]))


def user_data(stack: Stack, logical: str = "Fleet") -> str:
    (template,) = [
        resource["Properties"]["LaunchTemplateData"]
        for name, resource in resources(stack, "AWS::EC2::LaunchTemplate").items()
        if name.startswith(logical)
    ]
    encoded = template["UserData"]["Fn::Base64"]
    parts = encoded["Fn::Join"][1] if isinstance(encoded, Mapping) else [encoded]
    return "".join(part if isinstance(part, str) else json.dumps(part).replace('"', "'") for part in parts)


@pytest.fixture(scope="module")
def smallest() -> Stack:
    """A fleet with nothing but what must be said."""
    stack = new_stack()
    new_fleet(stack)
    return stack


@pytest.fixture(scope="module")
def whole() -> Stack:
    """A network, a file system, a fleet and a master, all new."""
    stack = new_stack()
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    buckets = TrainingBuckets(stack, "Buckets")
    group = shared_group(stack)
    lustre = LustreFileSystem(stack, "Lustre", network=network, security_group=group)
    fleet = EfaFleet(
        stack,
        "Fleet",
        network=network,
        scripts_bucket=buckets.scripts,
        count=8,
        image=NodeImage(dlami=GPU_IMAGE),
        instance_type="p4d.24xlarge",
        security_group=group,
        mounts=[Mount(file_system=lustre)],
    )
    MasterNode(stack, "Master", fleet=fleet)
    buckets.datasets.grant_read(fleet)
    return stack


# ---------------------------------------------------------------- the smallest
def test_a_fixed_size_is_kept(smallest: Stack) -> None:
    group = only(smallest, "AWS::AutoScaling::AutoScalingGroup")
    assert (group["MinSize"], group["MaxSize"], group["DesiredCapacity"]) == ("2", "2", "2")
    assert group["VPCZoneIdentifier"] == [subnet_id("Network")]
    assert group["HealthCheckType"] == "EC2"
    assert "NotificationConfigurations" not in group


def test_a_node_that_is_not_set_up_is_given_back(smallest: Stack) -> None:
    (hook,) = only(smallest, "AWS::AutoScaling::AutoScalingGroup")["LifecycleHookSpecificationList"]
    assert hook == {
        "DefaultResult": "ABANDON",
        "HeartbeatTimeout": 3600,
        "LifecycleHookName": "set-up",
        "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING",
    }
    assert told(smallest)["hook"] == "set-up"


def test_members_know_one_another_by_a_tag(smallest: Stack) -> None:
    tags = {tag["Key"]: tag for tag in only(smallest, "AWS::AutoScaling::AutoScalingGroup")["Tags"]}
    assert all(tag["PropagateAtLaunch"] for tag in tags.values())
    assert tags["trainyard:fleet"]["Value"] == told(smallest)["fleet"] == "Stack-Fleet-49D4F16D"
    assert tags["trainyard:role"]["Value"] == "worker"


def test_it_makes_a_cluster_placement_group_and_a_security_group_with_both_self_rules(smallest: Stack) -> None:
    assert only(smallest, "AWS::EC2::PlacementGroup") == {"Strategy": "cluster"}
    assert only(smallest, "AWS::EC2::SecurityGroupIngress")["IpProtocol"] == "-1"
    assert only(smallest, "AWS::EC2::SecurityGroupEgress")["IpProtocol"] == "-1"
    assert "SecurityGroupIngress" not in only(smallest, "AWS::EC2::SecurityGroup")


def test_nobody_gets_in_from_outside(smallest: Stack) -> None:
    data = only(smallest, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert "KeyName" not in data
    assert not any("AssociatePublicIpAddress" in one for one in data["NetworkInterfaces"])


def test_the_key_of_the_members_is_in_no_template(smallest: Stack) -> None:
    key = only(smallest, "AWS::EC2::KeyPair")
    assert set(key) == {"KeyName", "KeyType"}
    assert key["KeyType"] == "ed25519"
    assert told(smallest)["key_parameter"].startswith("/ec2/keypair/")
    assert "PRIVATE KEY" not in json.dumps(Template.from_stack(smallest).to_json())


def test_user_data_is_small_and_fetches_what_its_hash_names(smallest: Stack) -> None:
    text = user_data(smallest)
    (scripts,) = [child for child in smallest.node.children if isinstance(child, FleetScripts)]
    assert f"s3://some-scripts/{scripts.prefix}/" in text
    assert scripts.prefix == f"lifecycle-scripts/fleet/{scripts.content_hash[:32]}"
    assert len(text) < 4096
    assert text.splitlines()[-1].endswith("/boot.sh")


@pytest.mark.parametrize(("failures", "seconds", "code"), [(0, 0, 0), (2, 0, 0), (1, 300, 1)])
def test_a_fetch_that_fails_is_tried_for_5_minutes(
    smallest: Stack, tmp_path: Path, failures: int, seconds: int, code: int
) -> None:
    lines = user_data(smallest).splitlines()
    begin, end = lines.index(next(line for line in lines if line.startswith("until aws s3 cp"))), lines.index("done")
    calls = tmp_path / "calls"
    aws = f"aws() {{ echo >>{calls}; (($(wc -l <{calls}) > {failures})); }}"
    now = f"sleep() {{ [[ $1 == 5 ]]; }}; SECONDS={seconds}"
    program = "\n".join(["set -Eeuo pipefail", aws, now, *lines[begin : end + 1]])
    done = subprocess.run(["bash", "-c", program], check=False)  # noqa: S607
    assert done.returncode == code
    assert len(calls.read_text()) == (failures if code else failures + 1)


def test_nodes_are_told_how_many_devices_they_have(smallest: Stack) -> None:
    assert told(smallest)["instance_types"] == {
        "p4d.24xlarge": {"cores": 48, "efa_interfaces": 4, "gpus": 8, "neuron_cores": 0, "neuron_devices": 0}
    }
    assert "lustre" not in told(smallest)


def test_the_role_holds_what_the_set_up_asks_and_nothing_inline(smallest: Stack) -> None:
    roles = resources(smallest, "AWS::IAM::Role")
    (role,) = [one["Properties"] for name, one in roles.items() if name.startswith("FleetRole")]
    assert "Policies" not in role
    assert "ManagedPolicyArns" not in role
    policies = resources(smallest, "AWS::IAM::ManagedPolicy")
    (policy,) = [one["Properties"] for name, one in policies.items() if name.startswith("FleetRole")]
    statements = {one.get("Sid", str(one["Action"])): one for one in policy["PolicyDocument"]["Statement"]}
    assert statements["SayReady"]["Condition"] == {
        "ForAllValues:StringEquals": {"aws:TagKeys": ["trainyard:ready"]},
        "StringEquals": {"ec2:ResourceTag/trainyard:fleet": "Stack-Fleet-49D4F16D"},
    }
    assert "Fn::Join" in statements["ReadFleetKey"]["Resource"]
    (counter,) = (name for name in resources(smallest, "AWS::SSM::Parameter") if name.startswith("FleetFailures"))
    assert statements["CountFailures"]["Action"] == ["ssm:GetParameter", "ssm:PutParameter"]
    assert {"Ref": counter} in statements["CountFailures"]["Resource"]["Fn::Join"][1]
    assert statements["AnswerTheGroup"]["Action"] == [
        "autoscaling:CompleteLifecycleAction",
        "autoscaling:SuspendProcesses",
    ]
    assert statements["AnswerTheGroup"]["Condition"] == {
        "StringEquals": {"autoscaling:ResourceTag/trainyard:fleet": "Stack-Fleet-49D4F16D"}
    }
    written = json.dumps(policy["PolicyDocument"])
    for never in ("s3:Put", "s3:*", "FullAccess", "secretsmanager", "iam:", "ec2:RunInstances"):
        assert never not in written


def test_logs_are_kept_for_a_while(smallest: Stack) -> None:
    groups = resources(smallest, "AWS::Logs::LogGroup")
    (logs,) = [one["Properties"] for name, one in groups.items() if name.startswith("FleetLogs")]
    assert logs["RetentionInDays"] == 90


# ---------------------------------------------------------------- the whole
def test_nodes_wait_for_rules_way_out_policy_scripts_key_and_file_system(whole: Stack) -> None:
    (group,) = resources(whole, "AWS::AutoScaling::AutoScalingGroup").values()
    waits = " ".join(group["DependsOn"])
    for part in ("DefaultRoute", "S3", "FleetRolePolicy", "FleetScripts", "FleetMemberKey", "FleetFailures", "Lustre"):
        assert part in waits
    (master,) = resources(whole, "AWS::EC2::Instance").values()
    assert set(master["DependsOn"]) == set(group["DependsOn"])


def test_nodes_mount_the_file_system(whole: Stack) -> None:
    assert told(whole)["lustre"]["mount_path"] == "/fsx"


def test_the_master_stands_beside_the_nodes_with_the_same_key_and_role(whole: Stack) -> None:
    assert told(whole, "Master")["role"] == "master"
    assert "hook" not in told(whole, "Master")
    assert told(whole, "Master")["key_parameter"] == told(whole)["key_parameter"]
    assert set(told(whole, "Master")["instance_types"]) == {"p4d.24xlarge", "c5n.18xlarge"}
    templates = {
        name[:5]: one["Properties"]["LaunchTemplateData"]
        for name, one in resources(whole, "AWS::EC2::LaunchTemplate").items()
    }
    assert "Placement" not in templates["Maste"]  # launched apart, and of another type: it would find no capacity there
    assert "GroupName" in templates["Fleet"]["Placement"]
    assert [one["InterfaceType"] for one in templates["Maste"]["NetworkInterfaces"]] == ["interface", "efa-only"]
    assert {json.dumps(one["SubnetId"]) for one in templates["Maste"]["NetworkInterfaces"]} != set()


def test_grants_land_in_the_managed_policy(whole: Stack) -> None:
    assert not resources(whole, "AWS::IAM::Policy")
    policies = resources(whole, "AWS::IAM::ManagedPolicy")
    (policy,) = [one["Properties"] for name, one in policies.items() if name.startswith("FleetRole")]
    assert "BucketsDatasets" in json.dumps(policy)


def test_scripts_are_uploaded_once_for_fleet_and_master(whole: Stack) -> None:
    assert len(resources(whole, "Custom::CDKBucketDeployment")) == 1


# ---------------------------------------------------------------- choices
def test_a_range_leaves_the_number_to_people() -> None:
    stack = new_stack()
    new_fleet(stack, min_count=0, max_count=16)
    group = only(stack, "AWS::AutoScaling::AutoScalingGroup")
    assert (group["MinSize"], group["MaxSize"]) == ("0", "16")
    assert "DesiredCapacity" not in group


def test_a_capacity_block_owns_the_placement() -> None:
    stack = new_stack()
    fleet = capacity_block(stack)
    new_master(stack, fleet)
    found = {
        name[:5]: one["Properties"]["LaunchTemplateData"]
        for name, one in resources(stack, "AWS::EC2::LaunchTemplate").items()
    }
    assert found["Fleet"]["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert "InstanceMarketOptions" not in found["Maste"]
    assert not any("Placement" in one for one in found.values())
    assert fleet.placement_group is None
    assert not resources(stack, "AWS::EC2::PlacementGroup")


def test_a_reservation_made_in_a_placement_group_is_used_in_it() -> None:
    stack = new_stack()
    group = PlacementGroup(stack, "Group")
    new_fleet(stack, reservation_id="cr-0123456789abcdef0", placement_group=group)
    data = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert data["Placement"]["GroupName"] == stack.resolve(group.placement_group_name)


def test_several_types_each_have_their_own_interfaces() -> None:
    stack = new_stack()
    fleet = mixed_spot(stack)
    policy = only(stack, "AWS::AutoScaling::AutoScalingGroup")["MixedInstancesPolicy"]
    overrides = policy["LaunchTemplate"]["Overrides"]
    assert [one["InstanceType"] for one in overrides] == ["p5.48xlarge", "p4d.24xlarge"]
    assert len({json.dumps(one["LaunchTemplateSpecification"]) for one in overrides}) == 2
    assert policy["InstancesDistribution"]["OnDemandPercentageAboveBaseCapacity"] == 0
    assert [len(template.interfaces) for template in fleet.templates] == [33, 5]
    # the group says how they are bought: EC2 refuses a template that says it too
    assert not any(
        "InstanceMarketOptions" in one["Properties"]["LaunchTemplateData"]
        for one in resources(stack, "AWS::EC2::LaunchTemplate").values()
    )


def test_a_file_system_with_a_group_of_its_own_is_opened_both_ways() -> None:
    stack = new_stack()
    mounts = [Mount(file_system=existing_lustre(stack), at="/shared")]
    new_fleet(stack, mounts=mounts, security_group=shared_group(stack))
    assert len(resources(stack, "AWS::EC2::SecurityGroupIngress")) == 4
    assert len(resources(stack, "AWS::EC2::SecurityGroupEgress")) == 4
    assert told(stack)["lustre"] == {
        "dns_name": "fs-01234567.fsx.us-west-2.example",
        "mount_name": "abcdefgh",
        "mount_path": "/shared",
    }


def test_own_role_topic_key_pair_and_name_are_taken() -> None:
    stack = new_stack()
    role = iam.Role.from_role_arn(stack, "Mine", f"arn:aws:iam::{ACCOUNT}:role/mine")
    topic = sns.Topic.from_topic_arn(stack, "Topic", f"arn:aws:sns:us-west-2:{ACCOUNT}:nodes")
    key = ec2.KeyPair.from_key_pair_name(stack, "Key", "mine")
    fleet = new_fleet(stack, role=role, key_pair=key, fleet_name="bert", threads_per_core=1)
    fleet.tell(topic)
    (notices,) = only(stack, "AWS::AutoScaling::AutoScalingGroup")["NotificationConfigurations"]
    assert len(notices["NotificationTypes"]) == 4
    data = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert data["KeyName"] == "mine"
    assert data["CpuOptions"]["ThreadsPerCore"] == 1
    assert told(stack)["fleet"] == "bert"
    policies = resources(stack, "AWS::IAM::ManagedPolicy")
    assert [one["Properties"]["Roles"] for name, one in policies.items() if name.startswith("FleetRole")] == [["mine"]]
    assert isinstance(fleet.node_role, NodeRole)


def test_commands_and_quota_are_said() -> None:
    stack = new_stack()
    fleet = new_fleet(stack, count=8)
    assert fleet.quota == ("8 x p4d.24xlarge take 768 vCPUs of the quota 'Running On-Demand P instances' (L-417A185B)")
    assert stack.resolve(fleet.connect_command("i-1")) == {
        "Fn::Join": ["", ["aws ssm start-session --region ", {"Ref": "AWS::Region"}, " --target i-1"]]
    }
    assert "Name=tag:trainyard:fleet,Values=Stack-Fleet-49D4F16D" in fleet.nodes_command
    master = new_master(stack, fleet)
    assert master.connect_command.endswith(master.instance_id)
    assert fleet.group_name in fleet.resume_command
    assert len(fleet.connections.security_groups) == 1


# ---------------------------------------------------------------- a capacity block's times
STARTED: dict[str, Any] = {
    "instance_type": "p5.48xlarge",
    "capacity": UsageClass.CAPACITY_BLOCK,
    "reservation_id": "cr-0123456789abcdef0",
    "ends": "2027-06-15T11:30:00Z",
    "image": NodeImage(ami_id="ami-0123456789abcdef0"),
}


def actions(stack: Stack) -> list[tuple[str, int, int, int]]:
    """What changes the size of the group when."""
    found = resources(stack, "AWS::AutoScaling::ScheduledAction").values()
    rows = [one["Properties"] for one in found]
    return sorted((row["StartTime"], row["MinSize"], row["MaxSize"], row["DesiredCapacity"]) for row in rows)


def test_nodes_of_a_capacity_block_come_when_it_starts_and_go_before_ec2_takes_them() -> None:
    stack = new_stack()
    new_fleet(stack, count=16, starts="2027-06-01T11:30:00Z", **STARTED)
    assert actions(stack) == [("2027-06-01T11:30:00Z", 16, 16, 16), ("2027-06-15T10:50:00Z", 0, 0, 0)]
    (group,) = resources(stack, "AWS::AutoScaling::AutoScalingGroup").values()
    properties = group["Properties"]
    assert (properties["MinSize"], properties["MaxSize"]) == ("0", "16")
    assert "DesiredCapacity" not in properties
    assert group["UpdatePolicy"] == {"AutoScalingScheduledAction": {"IgnoreUnmodifiedGroupSizeProperties": True}}


def test_nodes_of_a_block_that_has_started_come_with_the_fleet() -> None:
    stack = new_stack()
    new_fleet(stack, **STARTED)
    assert actions(stack) == [("2027-06-15T10:50:00Z", 0, 0, 0)]
    (group,) = resources(stack, "AWS::AutoScaling::AutoScalingGroup").values()
    assert group["Properties"]["MinSize"] == "2"


def test_without_times_nothing_is_scheduled(smallest: Stack) -> None:
    assert actions(smallest) == []
    (group,) = resources(smallest, "AWS::AutoScaling::AutoScalingGroup").values()
    assert "UpdatePolicy" not in group


@pytest.mark.parametrize(
    ("kind", "capacity", "quota"),
    [
        ("trn1.32xlarge", UsageClass.ON_DEMAND, "'Running On-Demand Trn instances' (L-2C3B7624)"),
        ("trn1.32xlarge", UsageClass.SPOT, "'All Trn Spot Instance Requests' (L-6B0D517C)"),
        ("g6e.48xlarge", UsageClass.ON_DEMAND, "'Running On-Demand G and VT instances' (L-DB2E81BA)"),
        ("p5.48xlarge", UsageClass.SPOT, "'All P5 Spot Instance Requests' (L-C4BD4855)"),
        (
            "p5.48xlarge",
            UsageClass.CAPACITY_BLOCK,
            "384 vCPUs of a capacity block, which no quota of running instances counts",
        ),
        ("hpc7a.96xlarge", UsageClass.ON_DEMAND, "'Running On-Demand HPC instances' (L-F7808C92)"),
        (
            "c5n.18xlarge",
            UsageClass.ON_DEMAND,
            "'Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances' (L-1216C47A)",
        ),
    ],
)
def test_the_quota_is_that_of_family_and_market(kind: str, capacity: UsageClass, quota: str) -> None:
    block = "cr-0123456789abcdef0" if capacity is UsageClass.CAPACITY_BLOCK else None
    image = NodeImage(ami_id="ami-0123456789abcdef0")
    fleet = new_fleet(new_stack(), instance_type=kind, capacity=capacity, reservation_id=block, image=image)
    assert fleet.quota.endswith(quota)


def test_a_master_without_efa_and_with_another_image() -> None:
    stack = new_stack()
    master = new_master(
        stack, new_fleet(stack), instance_type="m5.large", image=NodeImage(ami_id="ami-0123456789abcdef2")
    )
    assert [each.interface_type for each in master.template.interfaces] == ["interface"]


def test_nothing_depends_on_where_and_when_it_is_synthesized() -> None:
    def once() -> str:
        stack = new_stack(app=App())
        new_master(stack, new_fleet(stack, mounts=[Mount(file_system=existing_lustre(stack))]))
        return json.dumps(Template.from_stack(stack).to_json(), sort_keys=True)

    assert once() == once()
