"""How the types of Batch and EFS are tried."""

from typing import Any

from cdk_trainyard.local import LocalAws
from tests.local.cases import Case, look
from tests.local.support import POLICY, of

_PROFILE = {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [of("RoleName")]}}
_TEMPLATE = {
    "Type": "AWS::EC2::LaunchTemplate",
    "Properties": {"LaunchTemplateData": {"NetworkInterfaces": [{"DeviceIndex": 0, "Groups": [of("Group")]}]}},
}
_RESOURCES = {
    "Type": "EC2",
    "InstanceTypes": ["p5.48xlarge"],
    "InstanceRole": {"Fn::GetAtt": ["Profile", "Arn"]},
    "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Launch"}, "Version": "$Latest"},
    "MinvCpus": 0,
    "DesiredvCpus": 192,
    "MaxvCpus": 192,
    "Subnets": [of("SubnetA")],
}
ENVIRONMENT = {
    "Profile": _PROFILE,
    "Launch": _TEMPLATE,
    "Environment": {
        "Type": "AWS::Batch::ComputeEnvironment",
        "Properties": {"Type": "MANAGED", "ComputeResources": _RESOURCES},
    },
}
_CONTAINER = {
    "Image": "registry.example/train:1",
    "ResourceRequirements": [{"Type": "VCPU", "Value": "8"}, {"Type": "MEMORY", "Value": "16384"}],
}
_GROUP = {
    "Other": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"VpcId": of("Vpc"), "GroupDescription": "another one"},
    }
}
_FILES = {"Files": {"Type": "AWS::EFS::FileSystem", "Properties": {"Encrypted": True}}}


def _files(aws: LocalAws, name: str) -> list[Any]:
    path = "FileSystems[0].[Encrypted, ThroughputMode, ProvisionedThroughputInMibps, Tags[].Value]"
    return [
        look("efs", "describe_file_systems", path, FileSystemId="{}")(aws, name),
        look("efs", "describe_lifecycle_configuration", "LifecyclePolicies", FileSystemId="{}")(aws, name),
        "s3:GetObject" in look("efs", "describe_file_system_policy", "Policy", FileSystemId="{}")(aws, name),
    ]


CASES = (
    # ---------------------------------------------------------------- Batch
    Case(
        type="AWS::Batch::ComputeEnvironment",
        needs={"Profile": _PROFILE, "Launch": _TEMPLATE},
        properties={"Type": "MANAGED", "ComputeResources": _RESOURCES, "Tags": {"Name": "first"}},
        look=look(
            "batch",
            "describe_compute_environments",
            "computeEnvironments[0].[state, serviceRole, computeResources.[maxvCpus, instanceTypes]]",
            computeEnvironments=["{}"],
        ),
        made=[
            "ENABLED",
            "arn:aws:iam::123456789012:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch",
            [192, ["p5.48xlarge"]],
        ],
        change={"ComputeResources": {**_RESOURCES, "MaxvCpus": 384}, "State": "DISABLED"},
        changed=[
            "DISABLED",
            "arn:aws:iam::123456789012:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch",
            [384, ["p5.48xlarge"]],
        ],
        attributes=("ComputeEnvironmentArn",),
    ),
    Case(
        type="AWS::Batch::JobQueue",
        needs=ENVIRONMENT,
        properties={
            "Priority": 1,
            "ComputeEnvironmentOrder": [{"ComputeEnvironment": {"Ref": "Environment"}, "Order": 1}],
        },
        look=look("batch", "describe_job_queues", "jobQueues[0].[priority, state]", jobQueues=["{}"]),
        made=[1, "ENABLED"],
        change={"Priority": 5, "State": "DISABLED"},
        changed=[5, "DISABLED"],
        attributes=("JobQueueArn",),
    ),
    Case(
        type="AWS::Batch::JobDefinition",
        properties={
            "Type": "container",
            "ContainerProperties": _CONTAINER,
            "RetryStrategy": {"Attempts": 2},
            "Tags": {"Name": "first"},
        },
        look=look(
            "batch",
            "describe_job_definitions",
            "jobDefinitions[?status=='ACTIVE'] | [0].[revision, containerProperties.image, tags.Name]",
            jobDefinitions=["{}"],
        ),
        made=[1, "registry.example/train:1", "first"],
        change={"Tags": {"Name": "second"}},
        changed=[1, "registry.example/train:1", "second"],
        attributes=("JobDefinitionArn",),
    ),
    # ---------------------------------------------------------------- EFS
    Case(
        type="AWS::EFS::FileSystem",
        properties={
            "Encrypted": True,
            "ThroughputMode": "provisioned",
            "ProvisionedThroughputInMibps": 64,
            "LifecyclePolicies": [{"TransitionToIA": "AFTER_30_DAYS"}],
            "BackupPolicy": {"Status": "ENABLED"},
            "FileSystemPolicy": POLICY,
            "FileSystemTags": [{"Key": "Name", "Value": "first"}],
        },
        look=_files,
        made=[[True, "provisioned", 64.0, ["first"]], [{"TransitionToIA": "AFTER_30_DAYS"}], True],
        change={
            "ThroughputMode": "provisioned",
            "ProvisionedThroughputInMibps": 128,
            "LifecyclePolicies": [],
            "BackupPolicy": {"Status": "DISABLED"},
            "FileSystemTags": [{"Key": "Name", "Value": "second"}],
        },
        changed=[[True, "provisioned", 128.0, ["second"]], [], True],
        attributes=("Arn", "FileSystemId"),
    ),
    Case(
        type="AWS::EFS::MountTarget",
        needs={**_FILES, **_GROUP},
        properties={
            "FileSystemId": {"Ref": "Files"},
            "SubnetId": of("SubnetA"),
            "SecurityGroups": [of("Group")],
        },
        look=lambda aws, name: [
            look("efs", "describe_mount_targets", "MountTargets[0].LifeCycleState", MountTargetId="{}")(aws, name),
            len(look("efs", "describe_mount_target_security_groups", "SecurityGroups", MountTargetId="{}")(aws, name)),
        ],
        made=["available", 1],
        change={"SecurityGroups": [of("Group"), {"Ref": "Other"}]},
        changed=["available", 2],
        attributes=("Id", "IpAddress"),
    ),
    Case(
        type="AWS::EFS::AccessPoint",
        needs=_FILES,
        properties={
            "FileSystemId": {"Ref": "Files"},
            "PosixUser": {"Uid": "1000", "Gid": "1000"},
            "RootDirectory": {"Path": "/home"},
            "AccessPointTags": [{"Key": "Name", "Value": "first"}],
        },
        look=look(
            "efs",
            "describe_access_points",
            "AccessPoints[0].[PosixUser.Uid, RootDirectory.Path, Tags[].Value]",
            AccessPointId="{}",
        ),
        made=[1000, "/home", ["first"]],
        change={"AccessPointTags": [{"Key": "Name", "Value": "second"}]},
        changed=[1000, "/home", ["second"]],
        attributes=("AccessPointId", "Arn"),
    ),
)
