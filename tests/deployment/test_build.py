"""Sections become constructs: what the file says arrives in the templates."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.deployment import Deployment, build
from cdk_trainyard.network import HYPERPOD_ENDPOINTS, Endpoint
from stacks import build_stacks
from tests.deployment.good_file import edited

DATA = Path(__file__).parent / "data"
KEY = "key/01234567-89ab-cdef-0123-456789abcdef"


@dataclass(frozen=True)
class Built:
    """The templates of one deployment."""

    network: Template
    storage: Template
    training: Template


def built(name: str) -> Built:
    network, storage, training = build_stacks(App(), Deployment.load(DATA / f"{name}.yaml"))
    return Built(*(Template.from_stack(stack) for stack in (network, storage, training)))


@pytest.fixture(scope="module")
def new() -> Built:
    return built("everything_new")


@pytest.fixture(scope="module")
def existing() -> Built:
    return built("everything_existing")


@pytest.fixture(scope="module")
def other() -> Built:
    return built("everything_other")


def groups(template: Template) -> dict[str, Any]:
    (cluster,) = template.find_resources("AWS::SageMaker::Cluster").values()
    return {group["InstanceGroupName"]: group for group in cluster["Properties"]["InstanceGroups"]}


def test_account_and_region_are_the_stacks() -> None:
    deployment = Deployment.load(DATA / "everything_new.yaml")
    environment = build.environment(deployment)
    assert (environment.account, environment.region) == ("111111111111", "us-east-1")


# ---------------------------------------------------------------- what a check takes, building takes
def test_an_image_behind_endpoints_of_a_network_without_nat_is_built(tmp_path: Path) -> None:
    image = f"111111111111.dkr.ecr.us-east-1.amazonaws.com/dcgm-exporter@sha256:{'0' * 64}"
    endpoints = ", ".join([*HYPERPOD_ENDPOINTS, Endpoint.ECR_API, Endpoint.ECR_DKR])
    exporters = f"{{gpu: true, gpu_image: '{image}'}}"
    tools = f"[{{tool: node_exporter, key: node.tar.gz, sha256: '{'0' * 64}'}}]"
    path = tmp_path / "closed.yaml"
    path.write_text(
        edited(
            ("zone: use1-az4", f"zone: use1-az4\n  nat: none\n  interface_endpoints: [{endpoints}]"),
            ("cluster:\n", "cluster:\n  lifecycle: {on_create: on_create.sh}\n"),
            ("  groups:\n", f"  node_setup: {{exporters: {exporters}, tools: {tools}}}\n  groups:\n"),
            ("ml.trn1.32xlarge", "ml.p5.48xlarge"),
        )
    )
    build_stacks(App(), Deployment.load(path))


# ---------------------------------------------------------------- network
def test_a_new_network(new: Built) -> None:
    new.network.has_resource_properties("AWS::EC2::VPC", {"CidrBlock": "10.1.0.0/16"})
    new.network.has_resource_properties("AWS::EC2::VPCCidrBlock", {"CidrBlock": "100.64.0.0/16"})
    new.network.has_resource_properties("AWS::EC2::Subnet", {"CidrBlock": "100.64.0.0/17"})
    new.network.resource_count_is("AWS::EC2::NatGateway", 1)
    new.network.resource_count_is("AWS::EC2::VPCEndpoint", 3)  # S3, ssm, ssmmessages
    new.network.has_resource_properties("AWS::Logs::LogGroup", {"RetentionInDays": 365})


def test_a_network_without_flow_logs_and_with_nat_per_zone(other: Built) -> None:
    other.network.resource_count_is("AWS::EC2::FlowLog", 0)
    other.network.resource_count_is("AWS::EC2::NatGateway", 3)
    other.network.has_resource_properties("AWS::EC2::Subnet", {"CidrBlock": "10.1.128.0/18"})


def test_an_existing_network_defines_nothing_but_something(existing: Built) -> None:
    types = {resource["Type"] for resource in existing.network.to_json()["Resources"].values()}
    assert types == {"AWS::CloudFormation::WaitConditionHandle"}
    existing.training.has_resource_properties(
        "AWS::SageMaker::Cluster",
        {"VpcConfig": {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}},
    )


def test_nobody_is_asked_for_the_route_tables_of_existing_subnets() -> None:
    stack = Stack(App(), "Stack")
    build.network(stack, "Network", Deployment.load(DATA / "everything_existing.yaml").network)
    assert Annotations.from_stack(stack).find_warning("*", Match.any_value()) == []


def test_a_stack_with_a_resource_is_left_alone() -> None:
    stack = Stack(App(), "Stack")
    logs.LogGroup(stack, "Logs")
    build.occupy(stack)
    assert stack.node.try_find_child("Nothing") is None


# ---------------------------------------------------------------- storage
def test_a_new_file_system(new: Built) -> None:
    new.storage.has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "StorageCapacity": 19200,
            "KmsKeyId": {"Fn::Join": ["", Match.array_with([Match.string_like_regexp(KEY)])]},
            "LustreConfiguration": Match.object_like(
                {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 250,
                    "EfaEnabled": True,
                    "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000},
                    "DataCompressionType": "NONE",
                    "WeeklyMaintenanceStartTime": "7:03:30",
                    "LogConfiguration": Match.object_like({"Level": "ERROR_ONLY"}),
                }
            ),
        },
    )
    new.storage.has_resource("AWS::FSx::FileSystem", {"DeletionPolicy": "Delete"})
    new.storage.has_resource_properties("AWS::Logs::LogGroup", {"RetentionInDays": 30})
    new.storage.has_resource_properties(
        "AWS::FSx::DataRepositoryAssociation",
        {
            "FileSystemPath": "/datasets",
            "BatchImportMetaDataOnCreate": False,
            "ImportedFileChunkSize": 2048,
            "S3": {"AutoImportPolicy": {"Events": ["NEW"]}, "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}},
        },
    )
    new.storage.has_resource_properties("Custom::LustreRootSquash", {"NoSquashNids": ["10.1.0.[1-20]@tcp"]})


def test_an_elastic_file_system(other: Built) -> None:
    other.storage.has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "StorageType": "INTELLIGENT_TIERING",
            "StorageCapacity": Match.absent(),
            "LustreConfiguration": Match.object_like(
                {
                    "ThroughputCapacity": 8000,
                    "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 128},
                    "AutomaticBackupRetentionDays": 14,
                    "DailyAutomaticBackupStartTime": "04:15",
                }
            ),
        },
    )


def test_an_existing_file_system_is_mounted(existing: Built) -> None:
    existing.storage.resource_count_is("AWS::FSx::FileSystem", 0)
    (mount,) = [
        config
        for config in groups(existing.training)["workers"]["InstanceStorageConfigs"]
        if "FsxLustreConfig" in config
    ]
    assert mount["FsxLustreConfig"] == {
        "DnsName": "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com",
        "MountName": "fsx",
        "MountPath": "/fsx",
    }


def test_buckets_that_exist_are_not_made(existing: Built, other: Built, new: Built) -> None:
    existing.storage.resource_count_is("AWS::S3::Bucket", 1)  # models
    existing.storage.has_resource_properties(
        "AWS::S3::Bucket", {"LoggingConfiguration": Match.object_like({"DestinationBucketName": "my-logs"})}
    )
    other.storage.resource_count_is("AWS::S3::Bucket", 4)  # scripts, datasets, checkpoints, access logs
    new.storage.resource_count_is("AWS::S3::Bucket", 5)
    new.storage.resource_properties_count_is("Custom::S3AutoDeleteObjects", {}, 5)
    new.storage.has_resource_properties(
        "AWS::S3::Bucket",
        {"LifecycleConfiguration": {"Rules": Match.array_with([Match.object_like({"ExpirationInDays": 14})])}},
    )


# ---------------------------------------------------------------- HyperPod
def test_a_cluster_with_everything(new: Built) -> None:
    new.training.has_resource_properties(
        "AWS::SageMaker::Cluster",
        {
            "ClusterName": "everything",
            "NodeProvisioningMode": "Continuous",
            "NodeRecovery": "None",
            "TieredStorageConfig": {"Mode": "Disable"},
            "Orchestrator": {"Slurm": {"AccountingDatabase": Match.object_like({"Name": "slurm"})}},
        },
    )


def test_groups_with_everything(new: Built) -> None:
    found = groups(new.training)
    assert list(found) == ["controller", "login", "trainium", "gpu"]
    assert "LifeCycleConfig" not in found["controller"]
    assert found["login"]["LifeCycleConfig"]["OnCreate"] == "own.sh"
    trainium = found["trainium"]
    assert trainium["LifeCycleConfig"]["OnInitComplete"] == "on_init_complete.sh"
    assert (trainium["InstanceCount"], trainium["MinInstanceCount"], trainium["ThreadsPerCore"]) == (4, 2, 1)
    assert trainium["SlurmConfig"] == {"NodeType": "Compute", "PartitionNames": ["trn1"]}
    assert trainium["TrainingPlanArn"].endswith("training-plan/mine")
    assert trainium["NetworkInterface"] == {"InterfaceType": "efa-only"}
    assert trainium["ImageId"] == "ami-0123456789abcdef0"
    assert trainium["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    update = trainium["ScheduledUpdateConfig"]
    assert update["ScheduleExpression"] == "cron(0 4 ? * SUN *)"
    assert update["DeploymentConfig"]["WaitIntervalInSeconds"] == 600
    assert update["DeploymentConfig"]["RollingUpdatePolicy"] == {
        "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 25},
        "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1},
    }
    assert update["DeploymentConfig"]["AutoRollbackConfiguration"] == [{"AlarmName": "too-hot"}]
    assert trainium["AutoPatchConfig"]["PatchingStrategy"] == "WhenIdle"
    volumes = [
        config["EbsVolumeConfig"] for config in trainium["InstanceStorageConfigs"] if "EbsVolumeConfig" in config
    ]
    assert [volume.get("VolumeSizeInGB") for volume in volumes] == [1000, None]
    assert found["gpu"]["InstanceRequirements"] == {"InstanceTypes": ["ml.p5.48xlarge", "ml.p4d.24xlarge"]}
    assert found["gpu"]["CapacityRequirements"] == {"Spot": {}}


def test_both_file_systems_are_mounted(new: Built) -> None:
    paths = {
        path
        for config in groups(new.training)["gpu"]["InstanceStorageConfigs"]
        for path in [inner.get("MountPath") for inner in config.values()]
        if path
    }
    assert paths == {"/fsx", "/home"}


def test_a_new_accounting_database_stands_with_the_storage(new: Built) -> None:
    """Beside the resource most likely to fail, each failed try would make another that nothing may delete."""
    new.training.resource_count_is("AWS::RDS::DBInstance", 0)
    new.storage.resource_count_is("Custom::DeletionProtection", 1)
    new.storage.has_resource_properties(
        "AWS::RDS::DBInstance",
        {
            "DBInstanceClass": "db.m7g.large",
            "AllocatedStorage": "50",
            "MaxAllocatedStorage": 500,
            "BackupRetentionPeriod": 7,
            "MultiAZ": True,
            "KmsKeyId": {"Fn::Join": ["", Match.array_with([Match.string_like_regexp(KEY)])]},
        },
    )


def test_an_existing_accounting_database(other: Built) -> None:
    other.training.resource_count_is("AWS::RDS::DBInstance", 0)
    other.training.has_resource_properties(
        "AWS::SageMaker::Cluster",
        {
            "Orchestrator": {
                "Slurm": {"AccountingDatabase": Match.object_like({"Endpoint": "database.example.com", "Port": 3307})}
            }
        },
    )


def test_a_strategy_and_scripts_of_one_s_own(existing: Built) -> None:
    existing.training.has_resource_properties(
        "AWS::SageMaker::Cluster", {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}}}
    )
    sources = {group["LifeCycleConfig"]["SourceS3Uri"] for group in groups(existing.training).values()}
    assert len(sources) == 1  # one upload for both groups
    assert sources.pop().startswith("s3://my-scripts/lifecycle-scripts/")
    assert "CapacityRequirements" in groups(existing.training)["workers"]


def test_existing_roles_get_the_policies(new: Built) -> None:
    policies = new.training.find_resources(
        "AWS::IAM::ManagedPolicy", {"Properties": {"Roles": Match.array_with(["controllers"])}}
    )
    assert sorted(one["Properties"]["Roles"] for one in policies.values()) == [
        ["controllers"],
        ["nodes", "controllers"],
    ]
    reads = {str(one["Properties"]["Roles"]): "secretsmanager:GetSecretValue" in str(one) for one in policies.values()}
    assert reads == {"['controllers']": True, "['nodes', 'controllers']": False}


def test_repositories_are_named_in_two_ways_and_a_workspace_in_one(new: Built) -> None:
    policies = new.training.find_resources("AWS::IAM::ManagedPolicy")
    (policy,) = [one["Properties"]["PolicyDocument"] for name, one in policies.items() if "Execution" in name]
    here = ["arn:", {"Ref": "AWS::Partition"}]
    (pull,) = [one["Resource"] for one in policy["Statement"] if "ecr:BatchGetImage" in one["Action"]]
    assert pull == [
        {"Fn::Join": ["", [*here, ":ecr:us-east-1:111111111111:repository/team/train"]]},
        "arn:aws:ecr:us-east-1:222222222222:repository/tools",
    ]
    assert [one["Resource"] for one in policy["Statement"] if one["Action"] == "ecr:GetAuthorizationToken"] == ["*"]
    assert [one["Resource"] for one in policy["Statement"] if one["Action"] == "aps:RemoteWrite"] == [
        "arn:aws:aps:us-east-1:111111111111:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"
    ]


def test_a_role_that_is_made_has_the_policy_of_aws_unless_that_is_left_out(other: Built, existing: Built) -> None:
    roles = existing.training.find_resources(
        "AWS::IAM::Role", {"Properties": {"Description": Match.string_like_regexp("HyperPod")}}
    )
    assert len(roles) == 2
    assert all("AmazonSageMakerClusterInstanceRolePolicy" in str(role) for role in roles.values())
    assert "AmazonSageMakerClusterInstanceRolePolicy" not in str(other.training.to_json())


# ---------------------------------------------------------------- alerts
def test_a_new_topic_tells_of_nodes_and_cluster(new: Built) -> None:
    new.training.has_resource_properties("AWS::SNS::Subscription", {"Protocol": "email", "Endpoint": "ops@example.com"})
    new.training.has_resource_properties("AWS::SNS::Topic", {"KmsMasterKeyId": Match.any_value()})
    new.training.resource_count_is("AWS::Events::Rule", 3)
    new.training.resource_count_is("AWS::CloudWatch::Alarm", 1)


def test_publishers_may_use_the_key_of_a_new_topic_without_conditions_that_they_do_not_meet(new: Built) -> None:
    statement = {
        "Sid": "EventBridge",
        "Effect": "Allow",
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Principal": {"Service": "events.amazonaws.com"},
        "Resource": "*",
    }
    new.training.has_resource_properties(
        "AWS::KMS::Key", {"KeyPolicy": Match.object_like({"Statement": Match.array_with([statement])})}
    )
    (policy,) = new.training.find_resources("AWS::SNS::TopicPolicy").values()
    allowed = [one for one in policy["Properties"]["PolicyDocument"]["Statement"] if one["Effect"] == "Allow"]
    conditions = {one["Principal"]["Service"]: one.get("Condition") for one in allowed}
    (key,) = (one for name, one in new.training.find_resources("AWS::KMS::Key").items() if name.startswith("Alerts"))
    of_key = [one for one in key["Properties"]["KeyPolicy"]["Statement"] if "Service" in one["Principal"]]
    assert {one["Principal"]["Service"]: one.get("Condition") for one in of_key} == conditions
    assert conditions == {
        "cloudwatch.amazonaws.com": {"StringEquals": {"aws:SourceAccount": "111111111111"}},
        "events.amazonaws.com": None,
    }


def test_an_existing_topic_is_told(existing: Built) -> None:
    existing.training.resource_count_is("AWS::SNS::Topic", 0)
    existing.training.all_resources_properties(
        "AWS::Events::Rule",
        {"Targets": [Match.object_like({"Arn": "arn:aws:sns:us-east-1:111111111111:ops"})]},
    )
