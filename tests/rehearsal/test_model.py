from ipaddress import IPv4Address

from cdk_trainyard.rehearsal import Cluster, LifecycleConfig, Node


def test_a_node_has_hyperpods_instance_name_and_ec2s_host_name() -> None:
    node = Node(group="workers", number=2, address=IPv4Address("10.1.2.3"), instance_id="i-1")
    assert (node.name, node.host) == ("workers-2", "ip-10-1-2-3")


def test_the_script_that_runs_is_the_one_that_is_named() -> None:
    assert LifecycleConfig(source="s3://b/p", on_create="a.sh").entry == "a.sh"
    assert LifecycleConfig(source="s3://b/p", on_init_complete="b.sh").entry == "b.sh"


def test_nodes_are_found_by_both_names(cluster: Cluster) -> None:
    assert cluster.find("worker-group-1") == cluster.find("ip-10-1-128-11") == cluster.nodes[1]
    assert cluster.find("nobody") is None


def test_the_name_service_knows_nodes_and_file_systems(cluster: Cluster) -> None:
    assert cluster.names["ip-10-1-128-10.us-east-1.compute.internal"] == "10.1.128.10"
    assert cluster.names["fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com"] == "10.1.128.1"


def test_a_cap_keeps_the_controller_and_the_first_workers(cluster: Cluster) -> None:
    assert [node.name for node in cluster.capped(2).nodes] == ["controller-group-1", "worker-group-1"]
    assert cluster.capped(3).nodes == cluster.capped(99).nodes
