"""A configuration against ParallelCluster's schema: keys, types, choices, patterns, bounds, and what excludes what."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.parallelcluster import schema
from cdk_trainyard.parallelcluster.facts import fact, operating_systems, parallelcluster_version
from cdk_trainyard.parallelcluster.merge import conflicts, merged
from cdk_trainyard.problems import sentence


def schema_problems(config: dict[str, Any]) -> list[str]:
    return [sentence(problem) for problem in schema.schema_problems(config)]


SUBNET = "subnet-00000000"
HEAD_NODE_KEYS = tuple(fact("schema")["HeadNode"]["keys"])
GOOD: dict[str, Any] = {
    "Image": {"Os": "alinux2023"},
    "HeadNode": {"InstanceType": "c5.xlarge", "Networking": {"SubnetId": SUBNET}},
    "Scheduling": {
        "Scheduler": "slurm",
        "SlurmQueues": [
            {
                "Name": "compute",
                "Networking": {"SubnetIds": [SUBNET]},
                "ComputeResources": [{"Name": "c5", "InstanceType": "c5.xlarge", "MinCount": 0, "MaxCount": 8}],
            }
        ],
    },
}


def changed(path: str, value: object) -> dict[str, Any]:
    config = copy.deepcopy(GOOD)
    *parents, last = path.split(".")
    section: Any = config
    for key in parents:
        section = section[int(key)] if key.isdigit() else section.setdefault(key, {})
    section[int(last) if last.isdigit() else last] = value
    return config


QUEUE, NODES = "Scheduling.SlurmQueues.0", "Scheduling.SlurmQueues.0.ComputeResources.0"
_Q, _N = "Scheduling.SlurmQueues[0]", "Scheduling.SlurmQueues[0].ComputeResources[0]"
GRID: dict[str, tuple[str, object, str]] = {
    "an unknown key": (
        "HeadNode.Netwroking",
        {},
        "'HeadNode.Netwroking' is not a key of ParallelCluster; did you mean 'Networking'?",
    ),
    "a missing key": ("HeadNode.Networking", {}, "'HeadNode.Networking.SubnetId' must be given"),
    "text for a section": ("HeadNode.Ssh", "open", "'HeadNode.Ssh' must be a section of keys, got 'open'"),
    "a section for a list": (f"{QUEUE}.ComputeResources", {}, f"'{_Q}.ComputeResources' must be a list, got {{}}"),
    "text for a number": (f"{NODES}.MaxCount", "many", f"'{_N}.MaxCount' must be a whole number, got 'many'"),
    "a number for text": ("HeadNode.InstanceType", 5, "'HeadNode.InstanceType' must be text, got 5"),
    "text for truth": (
        f"{NODES}.Efa",
        {"Enabled": "perhaps"},
        f"'{_N}.Efa.Enabled' must be true or false, got 'perhaps'",
    ),
    "a choice that there is not": (
        f"{QUEUE}.CapacityType",
        "SPOTS",
        f"'{_Q}.CapacityType' must be CAPACITY_BLOCK, ONDEMAND or SPOT, got 'SPOTS'; did you mean 'SPOT'?",
    ),
    "a pattern": (
        "Image.CustomAmi",
        "image",
        "'Image.CustomAmi' must be the id of an image, as ami-0123456789abcdef0, got 'image'",
    ),
    "below": (f"{NODES}.MinCount", -1, f"'{_N}.MinCount' must be at least 0, got -1"),
    "above": (
        f"{NODES}.StaticNodePriority",
        2**32,
        f"'{_N}.StaticNodePriority' must be at most 4294967295, got 4294967296",
    ),
    "too few": (
        f"{QUEUE}.Networking.SubnetIds",
        [],
        f"'{_Q}.Networking.SubnetIds' must have at least 1 entries, got 0",
    ),
    "too many": (
        "DeploymentSettings",
        {"LambdaFunctionsVpcConfig": {"SecurityGroupIds": ["sg-00000000"] * 6, "SubnetIds": [SUBNET]}},
        "'DeploymentSettings.LambdaFunctionsVpcConfig.SecurityGroupIds' must have at most 5 entries, got 6",
    ),
    "not one": (
        "LoginNodes",
        {
            "Pools": [
                {"Name": "l", "InstanceType": "c5.large", "Count": 1, "Networking": {"SubnetIds": [SUBNET, SUBNET]}}
            ]
        },
        "'LoginNodes.Pools[0].Networking.SubnetIds' must have 1 entries, got 2",
    ),
    "too long": ("Tags", [{"Key": "k" * 129, "Value": "v"}], "'Tags[0].Key' must have at most 128 characters, got 129"),
    "two that exclude each other": (
        f"{QUEUE}.Networking",
        {"SubnetIds": [SUBNET], "SecurityGroups": ["sg-00000000"], "AdditionalSecurityGroups": ["sg-00000000"]},
        (
            f"'{_Q}.Networking' must have only one of SecurityGroups, AdditionalSecurityGroups, got SecurityGroups and "
            "AdditionalSecurityGroups"
        ),
    ),
    "neither a script nor a sequence": (
        "HeadNode.CustomActions",
        {"OnNodeStart": {"Args": ["x"]}},
        "'HeadNode.CustomActions.OnNodeStart' must have one of Script and Sequence, got Args",
    ),
    "settings of another type": (
        "SharedStorage",
        [{"Name": "a", "MountDir": "/a", "StorageType": "Ebs", "EfsSettings": {"Encrypted": True}}],
        "'SharedStorage[0].EfsSettings' must be left out with StorageType Ebs",
    ),
    "more than an id": (
        "SharedStorage",
        [
            {
                "Name": "a",
                "MountDir": "/a",
                "StorageType": "FsxLustre",
                "FsxLustreSettings": {"FileSystemId": "fs-" + "0" * 17, "StorageCapacity": 1200},
            }
        ],
        (
            "'SharedStorage[0].FsxLustreSettings' must have nothing beside FileSystemId, which names a file system "
            "that "
            "exists, got StorageCapacity"
        ),
    ),
    "throughput without its mode": (
        "SharedStorage",
        [{"Name": "a", "MountDir": "/a", "StorageType": "Efs", "EfsSettings": {"ProvisionedThroughput": 100}}],
        "'SharedStorage[0].EfsSettings' must have ThroughputMode provisioned with ProvisionedThroughput, got nothing",
    ),
    "a mode without its throughput": (
        "SharedStorage",
        [{"Name": "a", "MountDir": "/a", "StorageType": "Efs", "EfsSettings": {"ThroughputMode": "provisioned"}}],
        "'SharedStorage[0].EfsSettings' must have ProvisionedThroughput with ThroughputMode provisioned, got nothing",
    ),
    "a backup with a size": (
        "SharedStorage",
        [
            {
                "Name": "a",
                "MountDir": "/a",
                "StorageType": "FsxLustre",
                "FsxLustreSettings": {"BackupId": "backup-0123456789abcdef0", "StorageCapacity": 1200},
            }
        ],
        "'SharedStorage[0].FsxLustreSettings.StorageCapacity' must be left out with BackupId, which says it",
    ),
    "a directory that stands for none": (
        "SharedStorage",
        [{"Name": "a", "MountDir": "NONE", "StorageType": "Ebs"}],
        "'SharedStorage[0].MountDir' must be another directory, got NONE: it stands for none",
    ),
    "a type of a list twice": (
        NODES,
        {"Name": "c5", "MaxCount": 8, "Instances": [{"InstanceType": "c5.large"}, {"InstanceType": "c5.large"}]},
        f"'{_N}.Instances[1].InstanceType' must be different from every other, got c5.large again",
    ),
    "a tag of ParallelCluster": (
        "Tags",
        [{"Key": "parallelcluster:version", "Value": "1"}],
        "'Tags' must not begin with parallelcluster:, which is ParallelCluster's own, got 'parallelcluster:version'",
    ),
    "a tag twice": (
        "Tags",
        [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}],
        "'Tags' must name every tag once, got 'a' 2 times",
    ),
}


def test_a_good_configuration_has_no_problem() -> None:
    assert schema_problems(GOOD) == []


@pytest.mark.parametrize(("path", "value", "problem"), GRID.values(), ids=GRID)
def test_fails(path: str, value: object, problem: str) -> None:
    assert schema_problems(changed(path, value)) == [problem]


@pytest.mark.parametrize("value", [16, "16"])
def test_cloudformation_s_text_for_numbers_passes(value: object) -> None:
    assert schema_problems(changed(f"{NODES}.MaxCount", value)) == []


@pytest.mark.parametrize("value", [True, "true", "false"])
def test_cloudformation_s_text_for_truth_passes(value: object) -> None:
    assert schema_problems(changed(f"{NODES}.Efa", {"Enabled": value})) == []


def test_a_token_passes() -> None:
    assert schema_problems(changed("HeadNode.Networking.SubnetId", "${Token[TOKEN.1]}")) == []


@given(key=st.sampled_from(HEAD_NODE_KEYS), position=st.integers(0, 20))
def test_a_key_that_lacks_a_letter_is_refused_with_a_suggestion(key: str, position: int) -> None:
    index = position % len(key)
    wrong = key[:index] + key[index + 1 :]
    if wrong and wrong not in HEAD_NODE_KEYS:
        (problem,) = schema_problems(changed(f"HeadNode.{wrong}", {}))
        assert problem.startswith(f"'HeadNode.{wrong}' is not a key of ParallelCluster")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_is_given_is_judged_and_never_crashes(value: object) -> None:
    config = {"HeadNode": value, "Scheduling": value, "SharedStorage": value, "Tags": value}
    assert all(isinstance(problem, str) for problem in schema_problems(config))


@given(
    rendered=st.dictionaries(
        st.sampled_from("abc"), st.integers() | st.dictionaries(st.sampled_from("xy"), st.integers())
    ),
    extra=st.dictionaries(
        st.sampled_from("abc"), st.integers() | st.dictionaries(st.sampled_from("xy"), st.integers())
    ),
)
def test_raw_keys_never_change_what_was_rendered(rendered: dict[str, Any], extra: dict[str, Any]) -> None:
    together = merged(rendered, extra)
    for key, value in rendered.items():
        if isinstance(value, dict):
            assert value.items() <= together[key].items()
        else:
            assert together[key] == value
    if not list(conflicts(rendered, extra)):
        assert merged(extra, rendered) == together


def patterns(node: dict[str, Any], key: str = "") -> Iterator[str]:
    """Yield the key of every value whose form is a pattern."""
    if "pattern" in node:
        yield key
    if "item" in node:
        yield from patterns(node["item"], key)
    for name, inner in node.get("keys", {}).items():
        yield from patterns(inner, name)


def test_every_form_has_words() -> None:
    assert {*patterns({"keys": fact("schema")})} <= {*schema.FORMS}


def test_the_facts_have_a_version_and_a_date() -> None:
    assert parallelcluster_version() == "3.16.1"
    assert fact("extracted") == "2026-11-20"
    assert operating_systems() == (
        "alinux2023", "ubuntu2204", "ubuntu2404", "rhel8", "rocky8", "rhel9", "rocky9",
    )  # fmt: skip
    assert fact("operating_systems")["ubuntu2404"]["user"] == "ubuntu"
    assert len(fact("regions")) == 31
    assert "ap-south-2" not in fact("regions")
