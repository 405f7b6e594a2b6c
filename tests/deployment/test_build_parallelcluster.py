"""Sections of a ParallelCluster become its configuration: what the file says arrives at ParallelCluster."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from cdk_trainyard.cli.contract.collect import clusters
from cdk_trainyard.cluster import Surroundings
from cdk_trainyard.deployment import Deployment, build
from cdk_trainyard.deployment.parallelcluster.build import cluster
from cdk_trainyard.parallelcluster.schema import schema_problems
from stacks import build_stacks
from tests.support import ROOT

DATA = Path(__file__).parent / "data"
KEY = "arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"
OWN_KEY = {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, KEY.removeprefix("arn:aws")]]}
POLICY = "arn:aws:iam::111111111111:policy/parallelcluster/mine"
Config = dict[str, Any]


def training(path: Path) -> Template:
    *_, stack = build_stacks(App(), Deployment.load(path))
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def everything() -> Template:
    return training(DATA / "everything_parallelcluster.yaml")


@pytest.fixture(scope="module")
def existing() -> Template:
    return training(DATA / "existing_parallelcluster.yaml")


def resource(template: Template) -> Config:
    (found,) = template.find_resources("Custom::PclusterCluster").values()
    return dict(found)


def config(template: Template) -> Config:
    return dict(resource(template)["Properties"]["ClusterConfiguration"])


def queues(template: Template) -> dict[str, Config]:
    return {queue["Name"]: queue for queue in config(template)["Scheduling"]["SlurmQueues"]}


def scripts(action: Config) -> list[Any]:
    return [one["Script"] for one in action.get("Sequence", [action])]


# ---------------------------------------------------------------- everything
@pytest.mark.parametrize("name", ["everything", "existing"])
def test_the_configuration_is_one_of_parallelcluster(name: str) -> None:
    app = App()
    build_stacks(app, Deployment.load(DATA / f"{name}_parallelcluster.yaml"))
    (cluster,) = clusters(Path(app.synth().directory))
    assert schema_problems(cluster.config) == []


def test_the_cluster(everything: Template) -> None:
    found = resource(everything)
    assert found["Properties"]["ClusterName"] == "everything"
    assert found["Properties"]["SuppressValidators"] == ["type:HeadNodeMemorySizeValidator"]
    assert found["DeletionPolicy"] == "RetainExceptOnCreate"
    written = config(everything)
    assert written["Image"] == {"Os": "ubuntu2204", "CustomAmi": "ami-0123456789abcdef0"}
    assert written["DeploymentSettings"] == {"DefaultUserHome": "Local"}
    assert written["DevSettings"]["Timeouts"] == {"HeadNodeBootstrapTimeout": 2700, "ComputeNodeBootstrapTimeout": 1800}
    assert written["Tags"] == [{"Key": "team", "Value": "research"}, {"Key": "cost-center", "Value": "4711"}]
    assert written["Iam"] == {
        "PermissionsBoundary": "arn:aws:iam::111111111111:policy/boundary",
        "ResourcePrefix": "/parallelcluster/mine/",
        "Roles": {"LambdaFunctionsRole": "arn:aws:iam::111111111111:role/parallelcluster/clean-up"},
    }
    assert written["Monitoring"] == {
        "DetailedMonitoring": True,
        "Logs": {"CloudWatch": {"Enabled": True, "RetentionInDays": 90, "DeletionPolicy": "Delete"}},
        "Dashboards": {"CloudWatch": {"Enabled": False}},
        "Alarms": {"Enabled": False},
    }


def test_the_head_node(everything: Template) -> None:
    head = config(everything)["HeadNode"]
    assert (head["InstanceType"], head["DisableSimultaneousMultithreading"]) == ("g4dn.4xlarge", True)
    assert head["Networking"]["ElasticIp"] == "eipalloc-0123456789abcdef0"
    assert head["Networking"]["Proxy"] == {"HttpProxyAddress": "http://proxy.example:3128"}
    assert head["Ssh"] == {"KeyName": "mine", "AllowedIps": "203.0.113.0/24"}
    assert head["LocalStorage"] == {
        "RootVolume": {"Size": 100, "VolumeType": "gp3", "Iops": 4000, "Throughput": 250},
        "EphemeralVolume": {"MountDir": "/local"},
    }
    assert head["Dcv"] == {"Enabled": True, "Port": 8444, "AllowedIps": "203.0.113.0/24"}
    assert head["Iam"]["AdditionalIamPolicies"][1] == {"Policy": POLICY}
    assert scripts(head["CustomActions"]["OnNodeStart"])[0] == "s3://my-scripts/start.sh"
    assert set(head["CustomActions"]) == {"OnNodeStart", "OnNodeConfigured", "OnNodeUpdated"}


def test_login_nodes(everything: Template, existing: Template) -> None:
    (pool,) = config(everything)["LoginNodes"]["Pools"]
    assert (pool["Name"], pool["Count"], pool["GracetimePeriod"]) == ("login", 2, 30)
    assert "Service" in str(pool["Networking"]["SubnetIds"])
    (public,) = config(existing)["LoginNodes"]["Pools"]
    assert public["Networking"]["SubnetIds"] == ["subnet-0123456789abcdef1"]


def test_queues(everything: Template) -> None:
    found = queues(everything)
    assert list(found) == ["trn1", "spot", "gpu", "block", "open"]
    trn1 = found["trn1"]
    assert (trn1["JobExclusiveAllocation"], trn1["CustomSlurmSettings"]) == (True, {"MaxTime": "1-00:00:00"})
    assert trn1["CapacityReservationTarget"] == {"CapacityReservationId": "cr-0123456789abcdef0"}
    assert trn1["Networking"]["PlacementGroup"] == {"Enabled": False}
    assert trn1["Tags"] == [{"Key": "queue", "Value": "trn1"}]
    own, other = trn1["CustomActions"]["OnNodeConfigured"]["Sequence"]
    assert own["Args"][0] == "run"
    assert other == {"Script": "https://scripts.example/more.sh", "Args": ["more"]}
    (whole,) = trn1["ComputeResources"]
    assert (whole["Name"], whole["MinCount"], whole["MaxCount"], whole["Efa"]) == ("whole", 1, 8, {"Enabled": True})
    assert (whole["StaticNodePriority"], whole["DynamicNodePriority"], whole["SchedulableMemory"]) == (2, 900, 500000)
    assert whole["Networking"]["PlacementGroup"] == {"Enabled": True}
    assert whole["LaunchTemplateOverrides"]["Version"] == "1"


def test_capacity_of_every_kind(everything: Template) -> None:
    found = queues(everything)
    spot, gpu, block, public = (found[name] for name in ("spot", "gpu", "block", "open"))
    assert (spot["CapacityType"], spot["AllocationStrategy"]) == ("SPOT", "capacity-optimized")
    assert spot["ComputeResources"][0]["SpotPrice"] == 0.2
    assert len(spot["Networking"]["SubnetIds"]) == 2
    assert gpu["CapacityReservationTarget"]["CapacityReservationResourceGroupArn"].endswith("group/gpus")
    assert gpu["HealthChecks"] == {"Gpu": {"Enabled": True}}
    (p4d,) = gpu["ComputeResources"]
    assert p4d["CapacityReservationTarget"]["CapacityReservationResourceGroupArn"].endswith("group/more")
    assert p4d["HealthChecks"] == {"Gpu": {"Enabled": False}}
    assert (block["CapacityType"], block["ComputeResources"][0]["MinCount"]) == ("CAPACITY_BLOCK", 2)
    assert public["Networking"]["AssignPublicIp"] is True


def test_shared_directories(everything: Template) -> None:
    entries = {one["Name"]: one for one in config(everything)["SharedStorage"]}
    assert {name: entry["MountDir"] for name, entry in entries.items()} == {
        "fsx": "/fsx", "things": "/shared", "raid": "/raid", "old": "/old", "efs": "/efs", "new": "/new",
        "zfs": "/zfs", "ontap": "/ontap",
    }  # fmt: skip
    assert entries["things"]["EbsSettings"] == {
        "VolumeType": "gp3", "Size": 100, "Iops": 4000, "Throughput": 250, "Encrypted": True, "KmsKeyId": OWN_KEY,
        "SnapshotId": "snap-0123456789abcdef0", "DeletionPolicy": "Snapshot",
    }  # fmt: skip
    assert entries["raid"]["EbsSettings"]["Raid"] == {"Type": 1, "NumberOfVolumes": 2}
    assert entries["old"]["EbsSettings"] == {"VolumeId": "vol-0123456789abcdef0"}
    assert entries["efs"]["EfsSettings"]["FileSystemId"] == "fs-0123456789abcdef1"
    assert entries["new"]["EfsSettings"] == {"Encrypted": True, "KmsKeyId": OWN_KEY, "DeletionPolicy": "Delete"}
    assert entries["zfs"]["FsxOpenZfsSettings"] == {"VolumeId": "fsvol-0123456789abcdef0"}
    assert entries["ontap"]["FsxOntapSettings"] == {"VolumeId": "fsvol-0123456789abcdef1"}


def test_slurm(everything: Template) -> None:
    scheduling = config(everything)["Scheduling"]
    assert scheduling["ScalingStrategy"] == "best-effort"
    assert scheduling["SlurmSettings"] == {
        "QueueUpdateStrategy": "TERMINATE",
        "ScaledownIdletime": 20,
        "EnableMemoryBasedScheduling": True,
        "Dns": {"DisableManagedDns": True, "UseEc2Hostnames": True},
        "Database": {
            "Uri": "slurm.example.internal:3307",
            "UserName": "slurm",
            "PasswordSecretArn": "arn:aws:secretsmanager:us-west-2:111111111111:secret:slurm-AbCdEf",
            "DatabaseName": "accounting",
        },
        "CustomSlurmSettings": [{"KillWait": 60}],
    }


def test_nodes_pull_images_and_write_metrics_where_that_was_asked_for(everything: Template, existing: Template) -> None:
    def granted(template: Template) -> dict[str, Any]:
        policies = template.find_resources("AWS::IAM::ManagedPolicy")
        (policy,) = [one for name, one in policies.items() if "NodePolicy" in name]
        return {
            one["Sid"]: one["Resource"] for one in policy["Properties"]["PolicyDocument"]["Statement"] if "Sid" in one
        }

    found = granted(everything)
    assert found["LogInToRegistries"] == "*"
    names = [arn["Fn::Join"][1][-1].rpartition("repository/")[-1] for arn in found["PullImages"]]
    assert names == ["team/train", "team/tools"]
    assert found["RemoteWrite"].endswith("workspace/ws-01234567-89ab-cdef-0123-456789abcdef")
    assert not {"PullImages", "LogInToRegistries", "RemoteWrite"} & granted(existing).keys()


def test_an_accounting_database_of_its_own(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "parallelcluster-trn1-ultracluster.yaml").read_text())
    content["cluster"]["slurm"]["accounting"] = {
        "schema_name": "jobs",
        "instance_type": "m7g.large",
        "storage_gb": 30,
        "max_storage_gb": 300,
        "multi_az": False,
        "backup_retention_days": 14,
        "key_arn": KEY,
        "deletion_protection": False,
    }
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(content))
    _, storage, stack = build_stacks(App(), Deployment.load(path))
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::RDS::DBInstance", 0)
    ((database_id, database),) = Template.from_stack(storage).find_resources("AWS::RDS::DBInstance").items()
    assert {
        "AllocatedStorage": "30",
        "BackupRetentionPeriod": 14,
        "DBInstanceClass": "db.m7g.large",
        "DeletionProtection": False,
        "KmsKeyId": OWN_KEY,
        "MaxAllocatedStorage": 300,
        "MultiAZ": False,
    }.items() <= database["Properties"].items()
    written = config(template)["Scheduling"]["SlurmSettings"]["Database"]
    name, port = written["Uri"]["Fn::Join"][1]
    assert name["Fn::ImportValue"].startswith(f"{storage.stack_name}:ExportsOutputFnGetAtt{database_id}EndpointAddress")
    assert port == ":3306"
    assert (written["UserName"], written["DatabaseName"]) == ("slurm", "jobs")


def test_file_system_and_database_let_the_nodes_in_before_the_cluster_is_made(everything: Template) -> None:
    rules = everything.find_resources("AWS::EC2::SecurityGroupIngress")
    opened = {(rule["Properties"]["GroupId"], rule["Properties"]["FromPort"]) for rule in rules.values()}
    assert opened == {("sg-0123456789abcdef1", 2049), ("sg-0123456789abcdef2", 3307)}
    assert set(rules) <= set(resource(everything)["DependsOn"])


def test_the_scripts_are_uploaded_once(everything: Template, existing: Template) -> None:
    everything.resource_count_is("Custom::CDKBucketDeployment", 2)  # the folder, and the plans under fixed keys
    existing.resource_count_is("Custom::CDKBucketDeployment", 0)


# ---------------------------------------------------------------- what exists
def test_a_network_and_a_file_system_that_exist(existing: Template) -> None:
    written = config(existing)
    assert written["HeadNode"]["Networking"] == {
        "SubnetId": "subnet-0123456789abcdef1",
        "AdditionalSecurityGroups": ["sg-0123456789abcdef0"],
    }
    assert queues(existing)["compute"]["Networking"]["SubnetIds"] == ["subnet-0123456789abcdef0"]
    (fsx,) = written["SharedStorage"]
    assert fsx["FsxLustreSettings"] == {"FileSystemId": "fs-0123456789abcdef0"}
    rules = existing.find_resources("AWS::EC2::SecurityGroupIngress")
    assert {rule["Properties"]["GroupId"] for rule in rules.values()} == {
        "sg-0123456789abcdef0",
        "sg-0123456789abcdef1",
    }


def test_a_cluster_stands_beside_other_things_in_one_stack() -> None:
    deployment = Deployment.load(ROOT / "deployments" / "parallelcluster-trn1.yaml")
    stack = Stack(App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))
    network = build.network(stack, "Network", deployment.network)
    around = Surroundings(
        network=network,
        security_group=build.security_group(stack, "Efa", deployment.network, network.vpc),
        buckets=build.buckets(stack, "Buckets", deployment.storage.buckets),
        mounts=(),
        accounting=None,
    )
    made = cluster(stack, deployment, around)
    assert [one["MountDir"] for one in made.config["SharedStorage"]] == ["/home", "/apps"]
