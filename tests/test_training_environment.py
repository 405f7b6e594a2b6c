"""The main job, from end to end: the real cdk CLI deploys, changes, breaks and destroys the training environment."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.support import ROOT

pytestmark = pytest.mark.cli
CDK = ROOT / "bin" / "cdk"


class Environment:
    """A deployment file that changes, and the cdk CLI that deploys it."""

    def __init__(self, aws: LocalAws, source: Path, folder: Path) -> None:
        self.aws = aws
        self.content = yaml.safe_load(source.read_text())
        self.path = folder / source.name
        self.folder = folder
        self.region = self.content["region"]
        self.cdk("bootstrap", f"aws://{aws.account}/{self.region}")

    def client(self, service: str) -> Any:
        return self.aws.client(service, self.region)

    def cdk(self, *arguments: str, code: int = 0) -> str:
        """Run the CLI on the present content; return everything that it printed."""
        self.path.write_text(yaml.safe_dump(self.content, sort_keys=False))
        run = subprocess.run(
            [str(CDK), *arguments, "-c", f"deployment={self.path}", "--output", str(self.folder / "cdk.out")],
            cwd=ROOT,
            env=self.aws.environment | {"JSII_NODE": os.environ["JSII_NODE"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert run.returncode == code, run.stdout
        return re.sub(r"\x1b\[[0-9;]*m", "", run.stdout)

    def deploy(self, *, code: int = 0) -> str:
        return self.cdk("deploy", "TrainingStack", "--require-approval", "never", code=code)

    def outputs(self, stack: str) -> dict[str, str]:
        (found,) = self.client("cloudformation").describe_stacks(StackName=f"{self.content['name']}-{stack}")["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in found["Outputs"]}

    def status(self, stack: str) -> str:
        try:
            (found,) = self.client("cloudformation").describe_stacks(StackName=f"{self.content['name']}-{stack}")[
                "Stacks"
            ]
        except ClientError:
            return "GONE"
        return str(found["StackStatus"])

    def groups(self) -> dict[str, int]:
        cluster = self.cluster()
        return {group["InstanceGroupName"]: group["CurrentCount"] for group in cluster["InstanceGroups"]}

    def cluster(self) -> dict[str, Any]:
        arn = self.outputs("training")["ClusterArn"]
        return dict(self.client("sagemaker").describe_cluster(ClusterName=arn))


@pytest.fixture(scope="module")
def cpu(aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(aws, ROOT / "deployments" / "hyperpod-cpu-ddp.yaml", tmp_path_factory.mktemp("cpu"))


def test_1_training_stack_brings_what_it_stands_on(cpu: Environment) -> None:
    cpu.deploy()
    assert {cpu.status(stack) for stack in ("network", "storage", "training")} == {"CREATE_COMPLETE"}
    assert cpu.groups() == {"controller-machine": 1, "worker-group-1": 2}

    network = cpu.outputs("network")
    (subnet,) = cpu.client("ec2").describe_subnets(SubnetIds=[network["AcceleratorSubnetId"]])["Subnets"]
    assert subnet["AvailabilityZoneId"] == "use1-az4"
    (group,) = cpu.client("ec2").describe_security_groups(GroupIds=[network["SecurityGroupId"]])["SecurityGroups"]
    for side in ("IpPermissions", "IpPermissionsEgress"):
        assert any(
            rule["IpProtocol"] == "-1"
            and [pair["GroupId"] for pair in rule["UserIdGroupPairs"]] == [network["SecurityGroupId"]]
            for rule in group[side]
        )
    (file_system,) = cpu.client("fsx").describe_file_systems(
        FileSystemIds=[cpu.outputs("storage")["LustreFileSystemId"]]
    )["FileSystems"]
    assert (file_system["StorageCapacity"], file_system["SubnetIds"]) == (1200, [network["AcceleratorSubnetId"]])
    vpc = cpu.cluster()["VpcConfig"]
    assert vpc == {"SecurityGroupIds": [network["SecurityGroupId"]], "Subnets": [network["AcceleratorSubnetId"]]}


def test_2_the_same_again_changes_nothing(cpu: Environment) -> None:
    printed = cpu.deploy()
    assert printed.count("(no changes)") == 3
    assert cpu.status("training") == "CREATE_COMPLETE"


def test_3_two_workers_become_four_in_place(cpu: Environment) -> None:
    before, storage = cpu.cluster()["ClusterArn"], cpu.outputs("storage")
    cpu.content["cluster"]["groups"]["worker-group-1"]["count"] = 4
    changes = cpu.cdk("diff", "TrainingStack", "--fail", code=1)
    assert re.search(r"\[~\] AWS::SageMaker::Cluster", changes)
    assert "requires replacement" not in changes
    cpu.deploy()
    assert cpu.status("training") == "UPDATE_COMPLETE"
    assert cpu.cluster()["ClusterArn"] == before
    assert cpu.groups()["worker-group-1"] == 4
    assert cpu.outputs("storage") == storage


def test_4_what_the_service_refuses_is_rolled_back(cpu: Environment) -> None:
    before, nodes = cpu.cluster()["ClusterArn"], cpu.groups()
    worker = cpu.content["cluster"]["groups"]["worker-group-1"]
    nowhere = {"SourceS3Uri": "s3://sagemaker-no-such-bucket/scripts/", "OnCreate": "on_create.sh"}
    worker["raw_overrides"] = {"LifeCycleConfig": nowhere}
    printed = cpu.deploy(code=1)
    del worker["raw_overrides"]
    assert "sagemaker-no-such-bucket" in printed
    assert cpu.status("training") == "UPDATE_ROLLBACK_COMPLETE"
    assert (cpu.cluster()["ClusterArn"], cpu.groups()) == (before, nodes)


def test_5_what_the_file_gets_wrong_is_refused_before_anything_is_deployed(cpu: Environment) -> None:
    cpu.content["cluster"]["groups"]["worker-group-1"]["instance_type"] = "ml.c5.4xlage"
    printed = cpu.deploy(code=1)
    cpu.content["cluster"]["groups"]["worker-group-1"]["instance_type"] = "ml.c5.4xlarge"
    assert "did you mean" in printed
    assert "Traceback" not in printed
    assert cpu.status("training") == "UPDATE_ROLLBACK_COMPLETE"


def test_6_destroying_everything_keeps_the_data(cpu: Environment) -> None:
    storage = cpu.outputs("storage")
    cpu.cdk("destroy", "--all", "--force")
    assert {cpu.status(stack) for stack in ("network", "storage", "training")} == {"GONE"}
    assert cpu.client("sagemaker").list_clusters()["ClusterSummaries"] == []
    assert cpu.client("fsx").describe_file_systems(FileSystemIds=[storage["LustreFileSystemId"]])["FileSystems"]
    buckets = {bucket["Name"] for bucket in cpu.client("s3").list_buckets()["Buckets"]}
    assert {storage[f"{purpose}Bucket"] for purpose in ("Scripts", "Datasets", "Checkpoints", "Models")} <= buckets


def test_nodes_find_their_scripts_where_the_cluster_says(aws: LocalAws, tmp_path: Path) -> None:
    trn1 = Environment(aws, ROOT / "deployments" / "hyperpod-trn1-llama2.yaml", tmp_path)
    trn1.deploy()
    assert trn1.groups() == {"controller-group": 1, "worker-group": 4}
    groups = {group["InstanceGroupName"]: group for group in trn1.cluster()["InstanceGroups"]}
    workers = groups["worker-group"]
    assert (workers["LifeCycleConfig"]["OnCreate"], workers["ThreadsPerCore"]) == ("on_create.sh", 1)

    bucket, _, prefix = workers["LifeCycleConfig"]["SourceS3Uri"].removeprefix("s3://").partition("/")
    s3 = trn1.client("s3")
    settings = json.loads(s3.get_object(Bucket=bucket, Key=f"{prefix}settings.json")["Body"].read())
    file_system_id = trn1.outputs("storage")["LustreFileSystemId"]
    (file_system,) = trn1.client("fsx").describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"]
    assert settings["lustre"]["dns_name"] == file_system["DNSName"]
    assert file_system["LustreConfiguration"]["PerUnitStorageThroughput"] == 250
    script = s3.get_object(Bucket=bucket, Key=f"{prefix}on_create.sh")["Body"].read()
    assert script == (ROOT / "lifecycle_scripts" / "hyperpod" / "on_create.sh").read_bytes()


def test_a_trial_without_nat_and_without_retention_leaves_nothing(aws: LocalAws, tmp_path: Path) -> None:
    trial = Environment(aws, ROOT / "tests" / "review" / "deployments" / "frugal.yaml", tmp_path)
    trial.deploy()
    storage = trial.outputs("storage")
    trial.client("s3").put_object(Bucket=storage["DatasetsBucket"], Key="tokens", Body=b"1 2 3")
    trial.cdk("destroy", "--all", "--force")
    assert {trial.status(stack) for stack in ("network", "storage", "training")} == {"GONE"}
    kept = {bucket["Name"] for bucket in trial.client("s3").list_buckets()["Buckets"]}
    assert not {storage[f"{purpose}Bucket"] for purpose in ("Scripts", "Datasets", "Checkpoints", "Models")} & kept
    assert trial.client("fsx").describe_file_systems()["FileSystems"] == []
