"""Reading clusters of ParallelCluster, and what their nodes are given: no node boots."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.rehearsal import RehearsalError
from cdk_trainyard.rehearsal.parallelcluster import neuron
from cdk_trainyard.rehearsal.parallelcluster.agent import ParallelClusterAgent
from cdk_trainyard.rehearsal.parallelcluster.clusters import actions, flag
from cdk_trainyard.rehearsal.parallelcluster.slurm_conf import capped, partition_file, slurm_files
from cdk_trainyard.rehearsal.parallelcluster.systems import system_files
from tests.rehearsal.pcluster_parts import CONFIG, QUEUE, cluster_of, described, node

SCRIPT = (scripts_folder() / "parallelcluster" / neuron.SCRIPT).read_bytes()


def changed(**resource: Any) -> dict[str, Any]:
    """The configuration with another compute resource."""
    (queue,) = CONFIG["Scheduling"]["SlurmQueues"]
    (own,) = queue["ComputeResources"]
    scheduling = {**CONFIG["Scheduling"], "SlurmQueues": [{**queue, "ComputeResources": [{**own, **resource}]}]}
    return {**CONFIG, "Scheduling": scheduling}


def partition(config: dict[str, Any] = CONFIG, most_static: int | None = None) -> list[str]:
    found = described(config)
    return slurm_files(found, capped(found.resources, most_static))[partition_file("trn1")].splitlines()


# ---------------------------------------------------------------- the configuration
def test_groups_are_head_node_and_compute_resources() -> None:
    assert [(group.name, group.role, group.instance_type, group.partition) for group in described().groups] == [
        ("HeadNode", "controller", "c5.4xlarge", None),
        (QUEUE, "compute", "trn1.32xlarge", "trn1"),
    ]


def test_static_and_dynamic_nodes_are_groups_of_their_own() -> None:
    groups = described(changed(MinCount="2")).groups
    assert [group.name for group in groups] == ["HeadNode", "trn1-st-trn1-32xlarge", QUEUE]


def test_login_pools_are_groups() -> None:
    pool = {"Name": "door", "InstanceType": "c5.large", "Count": "1", "Networking": {"SubnetIds": ["subnet-3"]}}
    found = described({**CONFIG, "LoginNodes": {"Pools": [pool]}})
    assert [(group.name, group.role) for group in found.groups][1] == ("login-door", "login")
    assert [found.subnet_of(name) for name in ("HeadNode", "login-door", QUEUE)] == ["subnet-1", "subnet-3", "subnet-2"]


def test_scalars_are_texts() -> None:
    assert [flag(value) for value in ("true", "True", True, "false", None, "")] == [True] * 3 + [False] * 3


def test_actions_come_in_their_order() -> None:
    one, two = {"Script": "s3://b/1", "Args": ["a"]}, {"Script": "s3://b/2"}
    assert actions({"CustomActions": {"OnNodeStart": one}}, "OnNodeStart") == [one]
    assert actions({"CustomActions": {"OnNodeStart": {"Sequence": [one, two]}}}, "OnNodeStart") == [one, two]
    assert actions({"CustomActions": {"OnNodeStart": one}}, "OnNodeConfigured") == []
    assert actions({}, "OnNodeStart") == []


# ---------------------------------------------------------------- Slurm
def test_nodes_are_of_the_cloud_with_memory_to_spare() -> None:
    words = f"NodeName={QUEUE}-[1-16] CPUs=128 RealMemory=498073 State=CLOUD"
    assert f"{words} Feature=dynamic,trn1.32xlarge,trn1-32xlarge,efa Weight=1000" in partition()


def test_a_queue_of_whole_nodes_says_so() -> None:
    line = "PartitionName=trn1 Nodes=trn1_nodes MaxTime=INFINITE State=UP Default=YES"
    assert f"{line} OverSubscribe=EXCLUSIVE" in partition()
    queue = {**CONFIG["Scheduling"]["SlurmQueues"][0], "JobExclusiveAllocation": "false"}
    assert line in partition({**CONFIG, "Scheduling": {**CONFIG["Scheduling"], "SlurmQueues": [queue]}})


def test_without_multithreading_there_are_half_the_processors() -> None:
    assert any(" CPUs=64 " in line for line in partition(changed(DisableSimultaneousMultithreading="true")))


def test_static_nodes_beyond_the_cap_are_dynamic() -> None:
    names = [line.split()[0] for line in partition(changed(MinCount="4"), most_static=1) if line.startswith("NodeName")]
    assert names == ["NodeName=trn1-st-trn1-32xlarge-[1-1]", f"NodeName={QUEUE}-[1-15]"]


def test_nodes_that_always_run_are_not_suspended() -> None:
    found = described(changed(MinCount="2"))
    conf = slurm_files(found, found.resources)["slurm_parallelcluster.conf"].splitlines()
    assert "SuspendExcNodes=trn1-st-trn1-32xlarge-[1-2]" in conf
    assert "SlurmctldHost=ip-10-1-0-10(10.1.0.10)" in conf


def test_only_gpus_are_resources_of_their_own() -> None:
    found = described(changed(InstanceType="p5.48xlarge"))
    assert slurm_files(found, found.resources)["gres.conf"].splitlines()[1:] == [
        f"NodeName={QUEUE}-[1-16] Name=gpu File=/dev/nvidia[0-7]"
    ]
    assert slurm_files(described(), described().resources)["gres.conf"].splitlines()[1:] == []


def test_own_settings_of_slurm_are_kept() -> None:
    settings = {"CustomSlurmSettings": [{"MaxArraySize": "20000"}], "ScaledownIdletime": "30"}
    found = described({**CONFIG, "Scheduling": {**CONFIG["Scheduling"], "SlurmSettings": settings}})
    conf = slurm_files(found, found.resources)["slurm_parallelcluster.conf"].splitlines()
    assert "MaxArraySize=20000" in conf
    assert "SuspendTime=1800" in conf


# ---------------------------------------------------------------- what is on a node
def facts(group: str) -> list[str]:
    found = described()
    one = node(group, 1, 11)
    files = ParallelClusterAgent(found, cluster_of(found, found.head, one)).files(one)
    return str(files["/etc/parallelcluster/cfnconfig"].text).splitlines()


def test_nodes_are_told_what_they_are() -> None:
    assert "cfn_node_type=HeadNode" in facts("HeadNode")
    compute = facts(QUEUE)
    assert {"cfn_node_type=ComputeFleet", "cfn_scheduler_queue_name=trn1", "cfn_head_node=ip-10-1-0-10"} <= set(compute)
    assert {"stack_name=Demo", "cfn_region=us-west-2", "cfn_ebs_shared_dirs=/apps"} <= set(compute)


def test_compute_nodes_have_names_of_their_own() -> None:
    names = cluster_of(described(), described().head, node(QUEUE, 1, 11)).names
    assert names[f"{QUEUE}-1.demo.pcluster"] == "10.1.0.11"
    assert names["ip-10-1-0-10.us-west-2.compute.internal"] == "10.1.0.10"


def test_a_stand_in_of_amazon_linux_has_its_name_and_the_database_of_rpm_there() -> None:
    files = system_files("alinux2023")
    assert 'ID="amzn"\nVERSION_ID="2023"\n' in str(files["/usr/lib/os-release"].text)
    assert files["/etc/rpm/macros"].text == "%_dbpath /var/lib/rpm\n"
    assert set(system_files("ubuntu2404")) == {"/usr/lib/os-release"}
    assert system_files("rhel9") == {}


# ---------------------------------------------------------------- Neuron's stubs
def test_the_key_is_replaced_and_nothing_else() -> None:
    other = "A" * 40
    made = neuron.with_key(SCRIPT, other)
    assert f"NEURON_KEY={other}\n".encode() in made
    assert len(made) == len(SCRIPT)
    assert [a for a, b in zip(made.splitlines(), SCRIPT.splitlines(), strict=True) if a != b] == [
        f"NEURON_KEY={other}".encode()
    ]


def test_fails_where_there_is_no_key() -> None:
    with pytest.raises(RehearsalError, match=r"neuron_node\.sh must name one key, got 0"):
        neuron.with_key(b"echo", "A" * 40)


def test_a_stub_of_a_python_package_is_a_wheel(tmp_path: Path) -> None:
    neuron._make_wheel(tmp_path, "torch-neuronx", "2.9.0")
    page = (tmp_path / "torch-neuronx" / "index.html").read_text()
    assert 'href="torch_neuronx-2.9.0-py3-none-any.whl"' in page
    with zipfile.ZipFile(tmp_path / "torch-neuronx" / "torch_neuronx-2.9.0-py3-none-any.whl") as wheel:
        assert b"Version: 2.9.0\n" in wheel.read("torch_neuronx-2.9.0.dist-info/METADATA")
