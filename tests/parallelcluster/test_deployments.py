"""The four deployments that are shipped, as Python."""

from aws_cdk import Stack
from aws_cdk.assertions import Template

from cdk_trainyard.parallelcluster import ParallelCluster
from tests.parallelcluster.parts import config, resource

Deployments = dict[str, tuple[ParallelCluster, Template]]


def test_a_public_head_node_has_an_address_that_stays_and_tells_it(deployments: Deployments) -> None:
    cluster, template = deployments["hello"]
    # the subnet gives none by itself, and without one nothing can be reached
    assert config(template)["HeadNode"]["Networking"]["ElasticIp"] is True
    assert Stack.of(cluster).resolve(cluster.outputs["HeadNodePublicAddress"]) == {
        "Fn::GetAtt": ["ClusterEB0386A7", "headNode.publicIpAddress"]
    }


def test_trainium_has_efa_and_whole_nodes(deployments: Deployments) -> None:
    (written,) = config(deployments["trn1"][1])["Scheduling"]["SlurmQueues"]
    assert written["JobExclusiveAllocation"] is True
    assert written["Networking"]["PlacementGroup"] == {"Enabled": True}
    assert written["ComputeResources"][0]["Efa"] == {"Enabled": True}


def test_a_type_without_efa_has_none(deployments: Deployments) -> None:
    small = config(deployments["trn1-ultracluster"][1])["Scheduling"]["SlurmQueues"][2]["ComputeResources"]
    assert [one["InstanceType"] for one in small] == ["c6i.8xlarge", "trn1.2xlarge"]
    assert all("Efa" not in one for one in small)


def test_a_capacity_block_is_static_and_placed_by_its_reservation(deployments: Deployments) -> None:
    (written,) = config(deployments["p5-capacity-block"][1])["Scheduling"]["SlurmQueues"]
    assert written["CapacityType"] == "CAPACITY_BLOCK"
    assert written["CapacityReservationTarget"] == {"CapacityReservationId": "cr-0123456789abcdef0"}
    assert written["Networking"]["PlacementGroup"] == {"Enabled": False}
    (nodes,) = written["ComputeResources"]
    assert (nodes["InstanceType"], nodes["MinCount"], nodes["MaxCount"]) == ("p5.48xlarge", 4, 4)


def test_hello_is_the_first_example_on_a_current_system(deployments: Deployments) -> None:
    written = config(deployments["hello"][1])
    assert (
        written["HeadNode"]["Networking"]["SubnetId"]
        != (written["Scheduling"]["SlurmQueues"][0]["Networking"]["SubnetIds"][0])
    )
    assert written["SharedStorage"] == [
        {
            "Name": "shared",
            "MountDir": "/shared",
            "StorageType": "Ebs",
            "EbsSettings": {"VolumeType": "gp3", "Encrypted": True, "DeletionPolicy": "Retain"},
        }
    ]


def test_the_ultracluster_has_warm_nodes_login_nodes_and_accounting(deployments: Deployments) -> None:
    written = config(deployments["trn1-ultracluster"][1])
    warm, large, _ = written["Scheduling"]["SlurmQueues"]
    assert (warm["ComputeResources"][0]["MinCount"], large["ComputeResources"][0]["MinCount"]) == (4, 0)
    assert written["LoginNodes"]["Pools"][0]["Count"] == 2
    assert written["Scheduling"]["SlurmSettings"]["Database"]["UserName"] == "slurm"
    assert len(deployments["trn1-ultracluster"][0].cluster_name) <= 40


def test_the_file_system_belongs_to_the_app_and_outlives_the_cluster(deployments: Deployments) -> None:
    template = deployments["trn1"][1]
    ((logical_id, lustre),) = template.find_resources("AWS::FSx::FileSystem").items()
    assert lustre["DeletionPolicy"] == "RetainExceptOnCreate"
    shared = {"FileSystemId": {"Ref": logical_id}}
    entry = {"Name": "fsx", "MountDir": "/fsx", "StorageType": "FsxLustre", "FsxLustreSettings": shared}
    assert entry in config(template)["SharedStorage"]
    assert logical_id in resource(template)["DependsOn"]
