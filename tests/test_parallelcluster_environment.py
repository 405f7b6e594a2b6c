"""ParallelClusters from end to end: the real cdk CLI deploys what ships, tells what changes, and destroys it."""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.deployed import RolledBackError
from tests.environment import Environment
from tests.support import ROOT

pytestmark = [pytest.mark.cli, pytest.mark.usefixtures("empty_aws")]


class ParallelClusterEnvironment(Environment):
    """An environment whose cluster is ParallelCluster's."""

    def config(self) -> dict[str, Any]:
        """Return the configuration of the cluster as the stack that ParallelCluster makes for it has it."""
        name = self.outputs("training")["ClusterName"]
        body = self.client("cloudformation").get_template(StackName=name)["TemplateBody"]
        return dict((json.loads(body) if isinstance(body, str) else body)["Metadata"]["Config"])

    def head_node(self) -> dict[str, Any]:
        """Return the instance that the cluster's own command connects to."""
        (instance_id,) = re.findall(r"\bi-[0-9a-f]+", self.outputs("training")["ConnectCommand"])
        (page,) = self.client("ec2").describe_instances(InstanceIds=[instance_id])["Reservations"]
        return dict(page["Instances"][0])


def environment(aws: LocalAws, name: str, folder: Path) -> ParallelClusterEnvironment:
    return ParallelClusterEnvironment(aws, ROOT / "deployments" / f"parallelcluster-{name}.yaml", folder)


def compute(config: dict[str, Any]) -> dict[str, Any]:
    (queue,) = config["Scheduling"]["SlurmQueues"]
    (only,) = queue["ComputeResources"]
    return dict(only)


def the_cluster_comes_with_what_it_stands_on(hello: ParallelClusterEnvironment) -> None:
    hello.create()
    assert hello.statuses("network", "storage", "training") == {"CREATE_COMPLETE"}
    config, network = hello.config(), hello.outputs("network")
    (queue,) = config["Scheduling"]["SlurmQueues"]
    assert queue["Networking"]["SubnetIds"] == [network["AcceleratorSubnetId"]]
    assert config["HeadNode"]["Networking"]["SubnetId"] != network["AcceleratorSubnetId"]
    assert (compute(config)["MinCount"], compute(config)["MaxCount"]) == ("0", "8")
    node, told = hello.head_node(), hello.outputs("training")
    assert node["InstanceType"] == "c5.xlarge"
    assert (node["PrivateIpAddress"], node["PublicIpAddress"]) == (
        told["HeadNodeAddress"],
        told["HeadNodePublicAddress"],
    )


def the_same_again_changes_nothing(hello: ParallelClusterEnvironment) -> None:
    assert hello.deploy() == []
    assert hello.status("training") == "CREATE_COMPLETE"


def a_larger_queue_comes_in_place(hello: ParallelClusterEnvironment) -> None:
    before, node = hello.outputs("training"), hello.head_node()
    hello.content["cluster"]["queues"][0]["compute"][0]["max_count"] = 16
    changes = hello.diff()
    assert re.search(r"\[~\] Custom::PclusterCluster", changes)
    assert "requires replacement" not in changes
    hello.deploy()
    assert hello.status("training") == "UPDATE_COMPLETE"
    assert compute(hello.config())["MaxCount"] == "16"
    after = hello.outputs("training")
    needed = [re.findall(r": (\d+) vCPUs", outputs.pop("Quotas")) for outputs in (before, after)]
    assert needed == [["36"], ["68"]]
    assert after == before
    assert hello.head_node()["InstanceId"] == node["InstanceId"]


def what_parallelcluster_never_changes_is_refused_and_rolled_back(hello: ParallelClusterEnvironment) -> None:
    before, node, good = hello.config(), hello.head_node(), hello.content
    hello.content = deepcopy(good)
    hello.content["cluster"]["operating_system"] = "ubuntu2204"
    hello.content["cluster"]["head_node"] |= {
        "instance_type": "c5.2xlarge",
        "on_configured": [{"script": "https://scripts.example/setup.sh"}],
    }
    with pytest.raises(RolledBackError) as refused:
        hello.deploy()
    hello.content = good
    for key in ("Image.Os", "HeadNode.InstanceType", "HeadNode.CustomActions.OnNodeConfigured"):
        assert key in str(refused.value)
    assert hello.status("training") == "UPDATE_ROLLBACK_COMPLETE"
    assert hello.config() == before
    assert hello.head_node()["InstanceId"] == node["InstanceId"]


def what_the_file_gets_wrong_is_refused_before_anything_is_deployed(hello: ParallelClusterEnvironment) -> None:
    hello.content["cluster"]["operating_system"] = "alinux2"
    assert "got 'alinux2', which is gone since ParallelCluster 3.16.0" in hello.refusal()
    hello.content["cluster"]["operating_system"] = "alinux2023"


def destroying_everything_ends_the_cluster(hello: ParallelClusterEnvironment) -> None:
    name, instance_id = hello.outputs("training")["ClusterName"], hello.head_node()["InstanceId"]
    hello.destroy_all()
    with pytest.raises(ClientError, match="does not exist"):
        hello.client("cloudformation").describe_stacks(StackName=name)
    (page,) = hello.client("ec2").describe_instances(InstanceIds=[instance_id])["Reservations"]
    assert page["Instances"][0]["State"]["Name"] == "terminated"


def test_a_cluster_from_creation_to_destruction(aws: LocalAws, tmp_path: Path) -> None:
    """Each step stands on the ones before it."""
    hello = environment(aws, "hello", tmp_path)
    for step in (
        the_cluster_comes_with_what_it_stands_on,
        the_same_again_changes_nothing,
        a_larger_queue_comes_in_place,
        what_parallelcluster_never_changes_is_refused_and_rolled_back,
        what_the_file_gets_wrong_is_refused_before_anything_is_deployed,
        destroying_everything_ends_the_cluster,
    ):
        step(hello)


def test_accounts_outlive_the_cluster_in_a_database_of_the_deployments_own(aws: LocalAws, tmp_path: Path) -> None:
    large = environment(aws, "trn1-ultracluster", tmp_path)
    large.deploy()
    config = large.config()
    assert [queue["Name"] for queue in config["Scheduling"]["SlurmQueues"]] == ["large", "medium", "small", "cpu"]
    told = config["Scheduling"]["SlurmSettings"]["Database"]
    (database,) = large.client("rds").describe_db_instances()["DBInstances"]
    assert told["Uri"] == f"{database['Endpoint']['Address']}:{database['Endpoint']['Port']}"
    secrets = large.client("secretsmanager")
    plain = secrets.get_secret_value(SecretId=told["PasswordSecretArn"])["SecretString"]
    listed = secrets.list_secrets()["SecretList"]
    texts = [secrets.get_secret_value(SecretId=one["ARN"])["SecretString"] for one in listed]
    (generated,) = [json.loads(text) for text in texts if text.startswith("{")]
    assert (generated["username"], generated["password"]) == (told["UserName"], plain)

    (door,) = [group["VpcSecurityGroupId"] for group in database["VpcSecurityGroups"]]
    (group,) = large.client("ec2").describe_security_groups(GroupIds=[door])["SecurityGroups"]
    (rule,) = group["IpPermissions"]
    (client,) = [pair["GroupId"] for pair in rule["UserIdGroupPairs"]]
    assert client in config["HeadNode"]["Networking"]["AdditionalSecurityGroups"]
    assert all(
        client not in queue["Networking"]["AdditionalSecurityGroups"] for queue in config["Scheduling"]["SlurmQueues"]
    )

    large.destroy()
    (kept,) = large.client("rds").describe_db_instances()["DBInstances"]
    assert kept["DBInstanceIdentifier"] == database["DBInstanceIdentifier"]
    assert secrets.get_secret_value(SecretId=told["PasswordSecretArn"])["SecretString"] == plain
    (group,) = large.client("ec2").describe_security_groups(GroupIds=[door])["SecurityGroups"]
    assert group["IpPermissions"] == []


@pytest.mark.parametrize("name", ["trn1", "p5-capacity-block"])
def test_the_file_system_outlives_the_cluster_and_scripts_are_where_it_looks(
    name: str, aws: LocalAws, tmp_path: Path
) -> None:
    deployed = environment(aws, name, tmp_path)
    deployed.deploy()
    config, file_system_id = deployed.config(), deployed.outputs("storage")["LustreFileSystemId"]
    mounted = {one["MountDir"]: one for one in config["SharedStorage"]}
    assert mounted["/fsx"]["FsxLustreSettings"]["FileSystemId"] == file_system_id

    sections = [config["HeadNode"], *config["Scheduling"]["SlurmQueues"]]
    scripts = [one["CustomActions"]["OnNodeConfigured"]["Script"] for one in sections if "CustomActions" in one]
    assert len(scripts) == (2 if name == "trn1" else 0)
    for script in scripts:
        bucket, _, key = script.removeprefix("s3://").partition("/")
        assert deployed.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read().startswith(b"#!")

    deployed.destroy()
    (kept,) = deployed.client("fsx").describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"]
    assert kept["FileSystemId"] == file_system_id
