"""``trainyard plan``: the groups of a HyperPod cluster."""

from typing import Any

import pytest

from cdk_trainyard.report.updates import Effect
from cdk_trainyard.report.updates.resources import plan_resources


def group(name: Any, count: Any = 2, kind: str = "ml.c5.large", **others: Any) -> dict[str, Any]:
    return {"InstanceGroupName": name, "InstanceCount": count, "InstanceType": kind, **others}


def script(name: str) -> dict[str, Any]:
    return {"LifeCycleConfig": {"OnCreate": name}}


def volume(key: str) -> dict[str, Any]:
    return {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": key}}]}


KEY = (
    Effect.REFUSED,
    "HyperPod changes no key of volumes: add a group of another name with the new key, drain this one, and remove it",
)
CERTAIN = "to nodes that run; a group of another name beside it is certain"
LEAVE = "it is Slurm's controller: leave it as it is, or make a second cluster beside this one"
HEAD = {"SlurmConfig": {"NodeType": "Controller"}}
SCRIPTS = (
    "nodes that run keep what they started with; 'trainyard update-image' ends their jobs and runs the scripts anew"
)
QUEUE = "with Slurm's state: let the queue end, or save it, first"
KEEP = "it is Slurm's controller, with the queue of jobs: leave the group its name and its node"
DRAIN = "drain them in Slurm or Kubernetes first, and save what is on their own disks"


@pytest.mark.parametrize("listed", ["InstanceGroups", "RestrictedInstanceGroups"])
@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        (
            [group("a")],
            [group("b")],
            [
                ("group a is removed", Effect.DRAIN, f"2 nodes end, with their jobs; {DRAIN}"),
                ("group b is added", Effect.FREE, ""),
            ],
        ),
        (
            [group("a", 3)],
            [group("a", 2)],
            [("group a: InstanceCount 3 -> 2", Effect.DRAIN, f"1 node ends, with its jobs; {DRAIN}")],
        ),
        (
            [group("a", 3)],
            [group("a", 2, ThreadsPerCore=2)],
            [
                (
                    "group a: InstanceCount 3 -> 2, ThreadsPerCore",
                    Effect.DRAIN,
                    f"1 node ends, with its jobs; {DRAIN}; no guide says what another ThreadsPerCore does {CERTAIN}",
                )
            ],
        ),
        ([group("a", 2)], [group("a", "4")], [("group a: InstanceCount 2 -> 4", Effect.FREE, "")]),
        ([group("a", 0), group("b")], [group("b")], [("group a is removed", Effect.FREE, "")]),
        (
            [group("a", {"Ref": "Count"})],
            [group("b", {"Ref": "Count"})],
            [
                ("group a is removed", Effect.DRAIN, f"its nodes end, with their jobs; {DRAIN}"),
                ("group b is added", Effect.FREE, ""),
            ],
        ),
        ([group("a", {"Ref": "Count"})], [group("a", 1)], [("group a: InstanceCount", Effect.FREE, "")]),
        (
            [group("head", 1, **HEAD), group("a")],
            [group("a"), group("main", 1, **HEAD)],
            [
                (
                    "group head is removed",
                    Effect.LOST,
                    f"1 node ends, with its jobs; {KEEP}",
                ),
                ("group main is added", Effect.FREE, ""),
            ],
        ),
        (
            [group("a")],
            [group("a", kind="ml.m5.large")],
            [
                (
                    "group a: InstanceType",
                    Effect.UNCERTAIN,
                    f"no guide says what another InstanceType does {CERTAIN}",
                )
            ],
        ),
        (
            [group("a", OverrideVpcConfig=1, ThreadsPerCore=1)],
            [group("a", OverrideVpcConfig=2, ThreadsPerCore=2)],
            [
                (
                    "group a: OverrideVpcConfig, ThreadsPerCore",
                    Effect.UNCERTAIN,
                    f"no guide says what another OverrideVpcConfig and ThreadsPerCore do {CERTAIN}",
                )
            ],
        ),
        (
            [group("head", 1, **HEAD)],
            [group("head", 1, ThreadsPerCore=2, **HEAD)],
            [
                (
                    "group head: ThreadsPerCore",
                    Effect.UNCERTAIN,
                    f"no guide says what another ThreadsPerCore does to nodes that run; {LEAVE}",
                )
            ],
        ),
        (
            [group("a", OnStartDeepHealthChecks=["InstanceStress"])],
            [group("a")],
            [("group a: OnStartDeepHealthChecks", Effect.FREE, "")],
        ),
        ([group("a", **volume("k1"))], [group("a", **volume("k2"))], [("group a: InstanceStorageConfigs", *KEY)]),
        ([group("a", 0)], [group("a", 0, **volume("k2"))], [("group a: InstanceStorageConfigs", *KEY)]),
        (
            [group("a", 2, **volume("k1"))],
            [group("a", 1)],
            [("group a: InstanceCount 2 -> 1, InstanceStorageConfigs", *KEY)],
        ),
        (
            [group("a", **script("a")), group("b", 0, **script("a")), group("head", 1, **script("a"), **HEAD)],
            [group("a", **script("b")), group("b", 0, **script("b")), group("head", 1, **script("b"), **HEAD)],
            [
                ("group a: LifeCycleConfig", Effect.FREE, SCRIPTS),
                ("group b: LifeCycleConfig", Effect.FREE, ""),
                (
                    "group head: LifeCycleConfig",
                    Effect.FREE,
                    f"{SCRIPTS}, and makes the root volume of the controller anew, {QUEUE}",
                ),
            ],
        ),
        (
            [group("a", 0)],
            [group("a", 2, "ml.m5.large")],
            [("group a: InstanceCount 0 -> 2, InstanceType", Effect.FREE, "")],
        ),
    ],
)
def test_groups_are_told_by_their_names(listed: str, old: Any, new: Any, rows: list[Any]) -> None:
    before, after = (
        {"S": {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": {listed: each}}}}}
        for each in (old, new)
    )
    assert [(row.what, row.effect, row.remedy) for row in plan_resources(before, after)] == rows


def test_what_is_no_group_of_a_name_is_told_as_a_property() -> None:
    old, new = (
        {"S": {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": {**each, "NodeRecovery": count}}}}}
        for each, count in (
            ({"InstanceGroups": [group("a"), group("b")]}, "None"),
            ({"InstanceGroups": [group("b"), group("a")]}, "Automatic"),
        )
    )
    (row,) = plan_resources(old, new)
    assert (row.what, row.effect) == ("AWS::SageMaker::Cluster InstanceGroups, NodeRecovery", Effect.FREE)
