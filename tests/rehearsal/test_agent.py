from dataclasses import replace

from cdk_trainyard.rehearsal import Cluster, LifecycleConfig
from cdk_trainyard.rehearsal.hyperpod.agent import (
    HyperPodAgent,
    bundle_directory,
    merge_slurm_conf,
    resource_config,
)


def test_the_resource_config_has_hyperpods_shape(cluster: Cluster) -> None:
    written = resource_config(cluster)
    assert written["ClusterConfig"] == {
        "ClusterArn": "arn:aws:sagemaker:us-east-1:123456789012:cluster/abcdefghijkl",
        "ClusterName": "demo",
        "ClusterType": "Slurm",
        "SlurmConfig": {"PrimaryControllerIp": "10.1.128.10", "SecondaryControllerIps": []},
    }
    assert written["InstanceGroups"][0] == {
        "Name": "controller-group",
        "InstanceType": "ml.m5.large",
        "Instances": [
            {
                "InstanceName": "controller-group-1",
                "AgentIpAddress": "172.17.128.10",
                "CustomerIpAddress": "10.1.128.10",
                "InstanceId": "i-00000000000000000",
            }
        ],
    }


def test_a_group_without_nodes_has_null_instances(cluster: Cluster) -> None:
    written = resource_config(cluster.with_nodes(cluster.nodes[:1]))
    assert written["InstanceGroups"][1]["Instances"] is None


def test_the_bundle_goes_where_hyperpod_downloads_it() -> None:
    assert str(bundle_directory("s3://bucket/some/prefix/")) == "/tmp/bucket/some/prefix"  # noqa: S108


def test_only_the_controller_gets_slurms_files(cluster: Cluster) -> None:
    agent = HyperPodAgent(cluster, bundles={})
    controller, worker, _ = cluster.nodes
    assert "/etc/slurm/slurm.conf" in agent.files(controller)
    assert "/etc/slurm/slurm.conf" not in agent.files(worker)
    key = agent.files(worker)["/etc/munge/munge.key"]
    assert (key.mode, key.owner, len(key.text)) == (0o400, "munge", 1024)
    assert agent.files(controller)["/etc/munge/munge.key"] == key
    assert HyperPodAgent(cluster, bundles={}).files(worker)["/etc/munge/munge.key"] != key
    assert agent.files(worker)["/etc/resolv.conf"].text == (
        "nameserver 10.1.128.2\nsearch us-east-1.compute.internal\noptions timeout:1 attempts:5\n"
    )


def test_the_legacy_file_is_copied_beside_the_resource_config(cluster: Cluster) -> None:
    config = LifecycleConfig(source="s3://b/p/", on_create="on_create.sh")
    legacy = replace(cluster, groups=[replace(group, lifecycle=config) for group in cluster.groups])
    agent = HyperPodAgent(legacy, bundles={"s3://b/p/": {"provisioning_parameters.json": b"{}"}})
    assert agent.files(legacy.nodes[1])["/opt/ml/config/provisioning_parameters.json"].text == b"{}"


def test_hyperpod_changes_its_own_lines_of_slurm_conf_only() -> None:
    present = "ClusterName=a\nNodeName=old\nProlog=/ours\nPartitionName=dev Nodes=old\n"
    fresh = "ClusterName=a\nNodeName=new\nPartitionName=dev Nodes=new\nPrologTheirs=1\n"
    merged = merge_slurm_conf(present, fresh)
    assert merged == "ClusterName=a\nProlog=/ours\nNodeName=new\nPartitionName=dev Nodes=new\n"
    assert merge_slurm_conf(merged, fresh) == merged
