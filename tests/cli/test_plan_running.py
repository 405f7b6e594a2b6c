"""``trainyard plan``: what changes mean to what runs."""

import re
from typing import Any

import pytest

from cdk_trainyard.report.updates import Effect
from cdk_trainyard.report.updates.resources import plan_resources
from cdk_trainyard.report.updates.running import with_running
from cdk_trainyard.report.updates.subnets import with_kept_inside


def of_template(kind: str, image: str, policy: Any = None, key: str = "LaunchTemplateData") -> dict[str, Any]:
    """Return an instance or a group of them, X, and its launch template."""
    version = {"Fn::GetAtt": ["L", "LatestVersionNumber"]}
    body: dict[str, Any] = {"Type": kind, "Properties": {"LaunchTemplate": {"Version": version}}}
    if policy is not None:
        body["UpdatePolicy"] = {"AutoScalingRollingUpdate": policy}
    return {"X": body, "L": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {key: {"ImageId": image}}}}


def sized(**numbers: Any) -> dict[str, Any]:
    return {"X": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": numbers}}


GROUP, INSTANCE, SPECS = "AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance", "TagSpecifications"


def tagged(**tags: str) -> dict[str, Any]:
    properties = {"Tags": [{"Key": key, "Value": value, "PropagateAtLaunch": True} for key, value in tags.items()]}
    return {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": properties}


def database(port: int) -> dict[str, Any]:
    return {"Type": "AWS::RDS::DBInstance", "Properties": {"Port": port}}


def fleet(image: str, policy: Any, **tags: str) -> dict[str, Any]:
    group = of_template(GROUP, image, policy)["X"]
    launched = {"LaunchTemplate": {"Version": image}}
    return {**group, "Properties": {**tagged(**tags)["Properties"], **launched}}


def door(scheme: str, is_protected: str) -> dict[str, Any]:
    attributes = [{"Key": "deletion_protection.enabled", "Value": is_protected}]
    properties = {"Scheme": scheme, "LoadBalancerAttributes": attributes}
    return {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": properties}


def tasks(family: str, least: int) -> dict[str, Any]:
    service = {"TaskDefinition": {"Ref": "X"}, "DeploymentConfiguration": {"MinimumHealthyPercent": least}}
    return {
        "X": {"Type": "AWS::ECS::TaskDefinition", "Properties": {"Family": family}},
        "S": {"Type": "AWS::ECS::Service", "Properties": service},
    }


def hyperpod(**properties: Any) -> dict[str, Any]:
    return {"X": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}


PLACES = {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}}
SPREAD = {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "spread"}}
LAUNCH = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"Placement": {"GroupName": {"Ref": "X"}}}}
ANYWHERE = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {}}
SLURM = {"Type": "Custom::PclusterCluster"}


@pytest.mark.parametrize(
    ("old", "new", "effect", "says"),
    [
        pytest.param(
            {"X": tagged(**{"trainyard:fleet": "a"})}, {"X": tagged(**{"trainyard:fleet": "b"})},
            Effect.DRAIN, "nodes that run keep their former tags, and new ones, which find", id="a fleet's name",
        ),
        pytest.param(
            {"X": tagged(team="a")}, {"X": tagged(team="b")},
            Effect.FREE, "nodes that run keep their former tags", id="other tags",
        ),
        pytest.param(
            {"X": PLACES, "L": LAUNCH}, {"L": ANYWHERE},
            Effect.DRAIN, "EC2 deletes no placement group that instances stand in", id="nodes go anywhere",
        ),
        pytest.param(
            {"X": PLACES, "L": LAUNCH}, {"X": SPREAD, "L": LAUNCH},
            Effect.REPLACED, "EC2 deletes no placement group that instances stand in", id="another placement",
        ),
        pytest.param({"X": PLACES, "L": LAUNCH}, {}, Effect.FREE, "", id="a placement group goes with its nodes"),
        pytest.param(
            of_template(INSTANCE, "a"), of_template(INSTANCE, "b"),
            Effect.REPLACED, "terminated, with its jobs and all that its root volume", id="an instance by its template",
        ),
        pytest.param(
            of_template(GROUP, "a"), of_template(GROUP, "b"),
            Effect.FREE, "nodes that run stay as they are; new ones", id="a group by its template",
        ),
        pytest.param(
            of_template(GROUP, "a", {"MaxBatchSize": 2}), of_template(GROUP, "b", {"MaxBatchSize": 2}),
            Effect.DRAIN, "every node: at most 2 at a time, and at least 0 stay", id="a group that an update rolls",
        ),
        pytest.param(
            sized(DesiredCapacity="4", MaxSize="4"), sized(DesiredCapacity="2", MaxSize="2"),
            Effect.DRAIN, "2 nodes end, with what runs there; which, nobody can say", id="fewer nodes",
        ),
        pytest.param(
            sized(MaxSize="3"), sized(MaxSize="2"), Effect.DRAIN, "up to 1 node ends, with", id="fewer nodes at most",
        ),
        pytest.param(sized(MaxSize="3"), sized(MaxSize={"Ref": "N"}), Effect.FREE, "", id="who knows how many"),
        pytest.param(sized(MaxSize="2"), sized(MaxSize="4"), Effect.FREE, "", id="more nodes"),
        pytest.param(
            {"X": fleet("a", {}, team="a")}, {"X": fleet("b", {}, team="b")},
            Effect.DRAIN, "tasks start again on others$", id="new nodes have the new tags",
        ),
        pytest.param(sized(DesiredCapacity="2"), {}, Effect.DRAIN, "its nodes end, with what runs", id="a fleet goes"),
        pytest.param(sized(DesiredCapacity="0"), {}, Effect.FREE, "", id="a fleet without nodes goes"),
        pytest.param(
            {"X": {"Type": INSTANCE}}, {}, Effect.LOST, "the instance is terminated, with its jobs", id="a node goes",
        ),
        pytest.param(
            {"X": door("internal", "true")}, {"X": door("internet-facing", "true")},
            Effect.REPLACED, "CloudFormation cannot delete it, and leaves it", id="a protected load balancer",
        ),
        pytest.param(
            {"X": door("internal", "false")}, {"X": door("internet-facing", "true")},
            Effect.REPLACED, "", id="a load balancer that is protected from now on",
        ),
        pytest.param(tasks("a", 0), tasks("b", 0), Effect.REPLACED, "nobody is answered while", id="all tasks end"),
        pytest.param(tasks("a", 50), tasks("b", 50), Effect.REPLACED, "", id="some tasks stay"),
        pytest.param(
            {"X": {"Type": "Custom::LustreRootSquash"}}, {}, Effect.FREE, "root squash stays on", id="a root squash",
        ),
        pytest.param(
            hyperpod(NodeProvisioningMode="Continuous"), hyperpod(),
            Effect.UNCERTAIN, "UpdateCluster takes another NodeProvisioningMode, and no guide", id="provisioning",
        ),
        pytest.param(
            {"X": database(1)}, {"X": database(2)},
            Effect.FREE, "the database restarts, and its stack is updated before", id="a port",
        ),
        pytest.param(
            {"X": database(1), "C": SLURM}, {"X": database(2), "C": SLURM},
            Effect.STOP, "former port: stop the compute fleet first", id="a port that ParallelCluster has",
        ),
    ],
)  # fmt: skip
def test_what_a_change_means_to_what_runs(old: dict[str, Any], new: dict[str, Any], effect: Effect, says: str) -> None:
    before, after = {"S": {"Resources": old}}, {"S": {"Resources": new}}
    (row,) = (row for row in with_running(plan_resources(before, after), before, after) if row.where == "S/X")
    assert (row.effect, bool(row.remedy)) == (effect, bool(says))
    assert re.search(says, row.remedy)


def test_what_a_template_refers_to_is_of_its_version_too() -> None:
    def stack(name: str) -> dict[str, Any]:
        group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": name}}
        of = of_template(INSTANCE, "a")
        of["L"]["Properties"]["LaunchTemplateData"] = {"SecurityGroupIds": [{"Ref": "G"}]}
        return {"S": {"Resources": {**of, "G": group}}}

    rows = {row.where: row.effect for row in plan_resources(stack("a"), stack("b"))}
    assert rows["S/X"] is Effect.REPLACED


def test_a_template_of_another_name_rolls_its_group() -> None:
    def stack(name: str) -> dict[str, Any]:
        of = of_template(GROUP, "a", {})
        of["L"]["Properties"]["LaunchTemplateName"] = name
        return {"S": {"Resources": of}}

    old, new = stack("a"), stack("b")
    rows = {row.where: row.effect for row in with_running(plan_resources(old, new), old, new)}
    assert rows == {"S/L": Effect.REPLACED, "S/X": Effect.DRAIN}


def test_another_version_of_a_template_is_one_of_other_data() -> None:
    old, new = ({"S": {"Resources": of_template(INSTANCE, image, key=SPECS)}} for image in ("a", "b"))
    assert [(row.where, row.effect) for row in plan_resources(old, new)] == [("S/L", Effect.FREE)]


@pytest.mark.parametrize(
    ("policy", "remains", "says"),
    [
        ("RetainExceptOnCreate", False, "Data/Jobs is kept, with network interfaces in it"),
        ("Retain", False, "Data/Jobs is kept, with network interfaces in it"),
        ("Delete", False, ""),
        ("Retain", True, ""),
    ],
)
def test_a_subnet_under_what_is_kept_stays(policy: str, remains: bool, says: str) -> None:
    """A subnet of another stack, by the subnet group of a database."""
    subnets = [{"Fn::ImportValue": "subnet"}, {"Fn::ImportValue": "elsewhere"}]
    properties = {"DBSubnetGroupName": {"Ref": "Places"}}
    data = {
        "Jobs": {"Type": "AWS::RDS::DBInstance", "Properties": properties, "DeletionPolicy": policy},
        "Places": {"Type": "AWS::RDS::DBSubnetGroup", "Properties": {"SubnetIds": subnets}},
    }
    network = {
        "Resources": {"Subnet": {"Type": "AWS::EC2::Subnet"}},
        "Outputs": {"Subnet": {"Value": {"Ref": "Subnet"}, "Export": {"Name": "subnet"}}},
    }
    old = {"Network": network, "Data": {"Resources": data}}
    new = {"Network": {"Resources": {}}, "Data": {"Resources": data if remains else {}}}
    rows = with_kept_inside(plan_resources(old, new), old, new)
    (row,) = (row for row in rows if row.where == "Network/Subnet")
    assert (row.what, row.effect) == ("AWS::EC2::Subnet is removed", Effect.FREE)
    assert (says in row.remedy, bool(row.remedy)) == (True, bool(says))
