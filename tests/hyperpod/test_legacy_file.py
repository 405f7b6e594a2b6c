"""``provisioning_parameters.json`` from the same groups, and what the template then leaves out."""

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from cdk_trainyard.hyperpod import (
    GroupRole,
    HyperPodCluster,
    Lifecycle,
    MultiHead,
)
from cdk_trainyard.hyperpod.legacy_file import legacy_file
from cdk_trainyard.hyperpod.resolved import HyperPodFacts, resolve
from cdk_trainyard.hyperpod.spec import HyperPodSpec
from cdk_trainyard.lifecycle import SlurmTopology
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.storage import AccountingDatabase, Lustre, Mount, OpenZfs
from tests.hyperpod.parts import (
    cluster_properties,
    controller,
    existing_lustre,
    group,
    legacy_scripts,
    shared_group,
    worker,
)
from tests.parts import existing_network

SECRET = "arn:aws:secretsmanager:us-west-2:111111111111:secret:slurm-AbCdEf"  # noqa: S105  a name
GROUPS = [
    controller(name="controller-machine"),
    group("login-group", GroupRole.LOGIN),
    worker(name="worker-group-1", partition="ml.c5.4xlarge"),
    worker(name="worker-group-2"),
]


@pytest.fixture
def file_system(stack: Stack) -> Lustre:
    return existing_lustre(stack, shared_group(stack, existing_network(stack, "FileSystemNetwork"), "Servers"))


def content(multi_head: MultiHead | None, mounts: list[Mount]) -> dict[str, Any]:
    cluster = resolve(HyperPodSpec(groups=GROUPS), HyperPodFacts(environment=NOWHERE))
    return dict(legacy_file(multi_head, cluster.groups, mounts))


def test_one_controller(file_system: Lustre) -> None:
    mounts = [Mount(file_system=file_system), Mount(file_system=OpenZfs(dns_name="fs-0abcdef0.fsx.us-west-2.example"))]
    assert content(None, mounts) == {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": "controller-machine",
        "login_group": "login-group",
        "worker_groups": [
            {"instance_group_name": "worker-group-1", "partition_name": "ml.c5.4xlarge"},
            {"instance_group_name": "worker-group-2", "partition_name": "worker-group-2"},
        ],
        "fsx_dns_name": "fs-01234567.fsx.us-west-2.example",
        "fsx_mountname": "abcdefgh",
        "fsx_openzfs_dns_name": "fs-0abcdef0.fsx.us-west-2.example",
    }


@pytest.mark.parametrize("told", [False, True])
def test_several_controllers(stack: Stack, *, told: bool) -> None:
    database = AccountingDatabase.from_attributes(
        stack,
        "Database",
        endpoint="db.example",
        secret=secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", SECRET),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )
    topic_arn = "arn:aws:sns:us-west-2:111111111111:controllers"
    topic = sns.Topic.from_topic_arn(stack, "Topic", topic_arn) if told else None
    multi_head = MultiHead(database=database, shared_directory="/shared", topic=topic)
    assert content(multi_head, [])["slurm_configurations"] == {
        "slurm_database_secret_arn": SECRET,
        "slurm_database_endpoint": "db.example",
        "slurm_database_user": "admin",
        "slurm_shared_directory": "/shared",
        **({"slurm_sns_arn": topic_arn} if told else {}),
    }


def test_the_template_has_neither_topology_nor_mounts(stack: Stack, file_system: Lustre) -> None:
    HyperPodCluster(
        stack,
        "Cluster",
        groups=GROUPS,
        network=existing_network(stack),
        topology=SlurmTopology.LEGACY,
        mounts=[Mount(file_system=file_system)],
        lifecycle=Lifecycle(on_create="on_create.sh"),
        scripts_bucket=s3.Bucket(stack, "Bucket"),
    )
    properties = cluster_properties(stack)
    assert "Orchestrator" not in properties
    for entry in properties["InstanceGroups"]:
        assert "SlurmConfig" not in entry
        assert entry["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
        assert entry["LifeCycleConfig"]["OnCreate"] == "on_create.sh"


def test_the_file_travels_with_the_scripts(stack: Stack) -> None:
    HyperPodCluster(
        stack,
        "Cluster",
        groups=GROUPS,
        topology=SlurmTopology.LEGACY,
        lifecycle=Lifecycle(on_create="on_create.sh", scripts=legacy_scripts(stack, content(None, []))),
    )
    Template.from_stack(stack).resource_count_is("AWS::SageMaker::Cluster", 1)
