from dataclasses import replace
from ipaddress import IPv4Address

from cdk_trainyard.rehearsal import Cluster, Group, Node, slurm_files


def lines(cluster: Cluster, name: str = "slurm.conf") -> list[str]:
    return slurm_files(cluster)[name].splitlines()


def test_the_controller_is_named_with_its_address(cluster: Cluster) -> None:
    assert "ClusterName=demo" in lines(cluster)
    assert "SlurmctldHost=ip-10-1-128-10(10.1.128.10)" in lines(cluster)


def test_what_auto_resume_stands_on_is_there(cluster: Cluster) -> None:
    assert "TaskPlugin=task/none" in lines(cluster)
    assert any("permit_job_expansion" in line for line in lines(cluster))


def test_compute_nodes_have_the_size_of_their_type(cluster: Cluster) -> None:
    assert "NodeName=ip-10-1-128-11 NodeAddr=10.1.128.11 CPUs=16 RealMemory=32768 State=UNKNOWN" in lines(cluster)
    assert not [line for line in lines(cluster) if line.startswith(("NodeName=ip-10-1-128-10", "GresTypes"))]


def test_every_compute_node_is_in_dev_and_in_its_own_partition(cluster: Cluster) -> None:
    nodes = "Nodes=ip-10-1-128-11,ip-10-1-128-12"
    assert [line for line in lines(cluster) if line.startswith("PartitionName=")] == [
        f"PartitionName=dev {nodes} Default=YES MaxTime=INFINITE State=UP",
        f"PartitionName=workers {nodes} Default=NO MaxTime=INFINITE State=UP",
    ]


def test_login_nodes_are_in_dev_alone(cluster: Cluster) -> None:
    door = Group(name="login", role="login", instance_type="ml.m5.large")
    node = Node(group="login", number=1, address=IPv4Address("10.1.128.40"), instance_id="i-0123456789abcdef0")
    found = lines(replace(cluster, groups=[*cluster.groups, door], nodes=[*cluster.nodes, node]))
    assert "NodeName=ip-10-1-128-40 NodeAddr=10.1.128.40 CPUs=2 RealMemory=8192 State=UNKNOWN" in found
    assert [line for line in found if line.startswith("PartitionName=") and "ip-10-1-128-40" in line] == [
        "PartitionName=dev Nodes=ip-10-1-128-11,ip-10-1-128-12,ip-10-1-128-40 Default=YES MaxTime=INFINITE State=UP"
    ]


def test_a_group_without_nodes_has_no_partition_of_its_own(cluster: Cluster) -> None:
    empty = cluster.with_nodes(cluster.nodes[:1])
    found = [line for line in lines(empty) if line.startswith("PartitionName=")]
    assert found == ['PartitionName=dev Nodes="" Default=YES MaxTime=INFINITE State=UP']


def test_devices_are_counted(trainium_cluster: Cluster) -> None:
    assert "GresTypes=neuron" in lines(trainium_cluster)
    assert any(line.endswith("Gres=neuron:16 State=UNKNOWN") for line in lines(trainium_cluster))
    assert "NodeName=ip-10-1-128-11 Name=neuron Count=16" in lines(trainium_cluster, "gres.conf")


def test_no_file_is_empty(cluster: Cluster) -> None:
    assert all(text.strip() for text in slurm_files(replace(cluster, nodes=())).values())


def test_auto_resume_is_a_plugin_of_srun(cluster: Cluster) -> None:
    assert slurm_files(cluster, auto_resume=True)["plugstack.conf"].startswith("required ")
    assert slurm_files(cluster)["plugstack.conf"].startswith("#")
