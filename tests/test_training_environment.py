"""The main job, from end to end: the real cdk CLI deploys, breaks and destroys the training environment.

That what it deploys again is not changed, and that it changes in place, tests/local/test_cli.py shows of the CLI.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.local import LocalAws
from tests.environment import Environment
from tests.support import OF_THE_CLI, ROOT, synthesize_here

pytestmark = [pytest.mark.cli, pytest.mark.usefixtures("empty_aws")]


class HyperPodEnvironment(Environment):
    """A training environment on HyperPod."""

    def groups(self) -> dict[str, int]:
        cluster = self.cluster()
        return {group["InstanceGroupName"]: group["CurrentCount"] for group in cluster["InstanceGroups"]}

    def cluster(self) -> dict[str, Any]:
        arn = self.outputs("training")["ClusterArn"]
        return dict(self.client("sagemaker").describe_cluster(ClusterName=arn))


def the_training_stack_brings_what_it_stands_on(cpu: HyperPodEnvironment) -> None:
    cpu.create()
    assert cpu.statuses("network", "storage", "training") == {"CREATE_COMPLETE"}
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


def app_and_cli_make_what_tests_make_in_their_own_process(cpu: HyperPodEnvironment) -> None:
    """``app.py``, as the CLI runs it, to the byte: `Environment.deploy` takes the one for the other."""
    (theirs,) = cpu.assemblies.values()
    ours = synthesize_here(cpu.path, cpu.folder / "ours.out", OF_THE_CLI).outdir
    made, said = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (ours, theirs)
    )
    said = {name: content for name, content in said.items() if not name.startswith(".cache/")}  # what the CLI zipped
    assert {"manifest.json", "validation-report.json"} <= made.keys()
    assert made == said


def the_same_again_changes_nothing(cpu: HyperPodEnvironment) -> None:
    assert cpu.deploy() == []
    assert cpu.status("training") == "CREATE_COMPLETE"


def two_workers_become_four_in_place(cpu: HyperPodEnvironment) -> None:
    before, storage = cpu.cluster()["ClusterArn"], cpu.outputs("storage")
    cpu.content["cluster"]["groups"]["worker-group-1"]["count"] = 4
    changes = cpu.diff()
    assert re.search(r"\[~\] AWS::SageMaker::Cluster", changes)
    assert "requires replacement" not in changes
    cpu.deploy()
    assert cpu.status("training") == "UPDATE_COMPLETE"
    assert cpu.cluster()["ClusterArn"] == before
    assert cpu.groups()["worker-group-1"] == 4
    assert cpu.outputs("storage") == storage


def what_the_service_refuses_is_rolled_back(cpu: HyperPodEnvironment) -> None:
    before, nodes = cpu.cluster()["ClusterArn"], cpu.groups()
    worker = cpu.content["cluster"]["groups"]["worker-group-1"]
    nowhere = {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}
    worker["raw_overrides"] = {"OverrideVpcConfig": nowhere}
    printed = cpu.cdk("deploy", "TrainingStack", "--require-approval", "never", code=1)
    del worker["raw_overrides"]
    assert "subnet-0123456789abcdef0" in printed
    assert cpu.status("training") == "UPDATE_ROLLBACK_COMPLETE"
    assert (cpu.cluster()["ClusterArn"], cpu.groups()) == (before, nodes)


def what_the_file_gets_wrong_is_refused_before_anything_is_deployed(cpu: HyperPodEnvironment) -> None:
    """By the app, which the CLI runs, and whose last word is the CLI's: of other mistakes, `refusal` has the words."""
    cpu.content["cluster"]["groups"]["worker-group-1"]["instance_type"] = "ml.c5.4xlage"
    printed = cpu.create(code=1)
    assert cpu.refusal() in printed
    cpu.content["cluster"]["groups"]["worker-group-1"]["instance_type"] = "ml.c5.4xlarge"
    assert "did you mean" in printed
    assert "Traceback" not in printed
    assert cpu.status("training") == "UPDATE_ROLLBACK_COMPLETE"


def destroying_everything_keeps_the_data(cpu: HyperPodEnvironment) -> None:
    storage = cpu.outputs("storage")
    cpu.destroy_all()
    assert cpu.client("sagemaker").list_clusters()["ClusterSummaries"] == []
    assert cpu.client("fsx").describe_file_systems(FileSystemIds=[storage["LustreFileSystemId"]])["FileSystems"]
    buckets = {bucket["Name"] for bucket in cpu.client("s3").list_buckets()["Buckets"]}
    assert {storage[f"{purpose}Bucket"] for purpose in ("Scripts", "Datasets", "Checkpoints", "Models")} <= buckets


def test_a_cluster_from_creation_to_destruction(aws: LocalAws, tmp_path: Path) -> None:
    """Each step stands on the ones before it."""
    cpu = HyperPodEnvironment(aws, ROOT / "deployments" / "hyperpod-cpu-ddp.yaml", tmp_path)
    for step in (
        the_training_stack_brings_what_it_stands_on,
        app_and_cli_make_what_tests_make_in_their_own_process,
        the_same_again_changes_nothing,
        two_workers_become_four_in_place,
        what_the_service_refuses_is_rolled_back,
        what_the_file_gets_wrong_is_refused_before_anything_is_deployed,
        destroying_everything_keeps_the_data,
    ):
        step(cpu)


def test_nodes_find_their_scripts_where_the_cluster_says(aws: LocalAws, tmp_path: Path) -> None:
    trn1 = HyperPodEnvironment(aws, ROOT / "deployments" / "hyperpod-trn1-llama2.yaml", tmp_path)
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
    trial = HyperPodEnvironment(aws, ROOT / "tests" / "review" / "deployments" / "frugal.yaml", tmp_path)
    trial.deploy()
    storage = trial.outputs("storage")
    trial.client("s3").put_object(Bucket=storage["DatasetsBucket"], Key="tokens", Body=b"1 2 3")
    trial.destroy()
    kept = {bucket["Name"] for bucket in trial.client("s3").list_buckets()["Buckets"]}
    assert not {storage[f"{purpose}Bucket"] for purpose in ("Scripts", "Datasets", "Checkpoints", "Models")} & kept
    assert trial.client("fsx").describe_file_systems()["FileSystems"] == []
