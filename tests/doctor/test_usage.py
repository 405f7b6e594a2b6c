"""What is in use of a quota: counted from what the services say, without what the deployment has made itself."""

from typing import Any

import pytest

from cdk_trainyard.account import Answer, Call
from cdk_trainyard.doctor.check import Answers
from cdk_trainyard.doctor.checks import usage
from cdk_trainyard.doctor.checks.usage import USAGES, Own, usage_of

STANDARD = "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"
MINE = Own(frozenset({"mine"}), frozenset({"stack"}))
TAGS = [{"Key": "aws:cloudformation:stack-name", "Value": "stack"}]


def instance(kind: str, number: str = "i-1", **more: Any) -> dict[str, Any]:
    return {"InstanceId": number, "InstanceType": kind, **more}


def lustre(kind: str, gib: int = 0, storage: str = "SSD", number: str = "fs-1", **more: Any) -> dict[str, Any]:
    said = {"DeploymentType": kind, **more}
    row = {"FileSystemId": number, "FileSystemType": "LUSTRE", "StorageType": storage, "LustreConfiguration": said}
    return row | ({"StorageCapacity": gib} if gib else {})


CLUSTER = Call("sagemaker", "DescribeCluster", {"ClusterName": "c"})
OWN_CLUSTER = Call("sagemaker", "DescribeCluster", {"ClusterName": "mine"})
GROUPS = [
    {"InstanceType": "ml.trn1.32xlarge", "CurrentCount": 2, "TargetCount": 3},
    {"InstanceType": "ml.trn1.32xlarge", "CurrentCount": 4, "TargetCount": 1, "CapacityRequirements": {"Spot": {}}},
    {"InstanceType": "ml.trn1.32xlarge", "CurrentCount": 5, "TargetCount": 5, "TrainingPlanArn": "arn"},
    {"InstanceType": "ml.m5.large", "CurrentCount": 1, "TargetCount": 1},
]
SAID: dict[Call, dict[str, Any]] = {
    usage.INSTANCES: {
        "Reservations": [
            {"Instances": [instance("trn1.32xlarge"), instance("m5.large"), instance("c5.xlarge", Tags=TAGS)]},
            {"Instances": [instance("trn1.2xlarge", "mine"), instance("p4d.24xlarge", InstanceLifecycle="spot")]},
            {"Instances": [instance("p5.48xlarge", InstanceLifecycle="capacity-block"), instance("no.such")]},
        ]
    },
    usage.ADDRESSES: {"Addresses": [{"AllocationId": "a"}, {"AllocationId": "mine"}, {"PublicIp": "1.2.3.4"}]},
    usage.VPCS: {"Vpcs": [{"VpcId": "a"}, {"VpcId": "b"}, {"VpcId": "mine"}]},
    usage.GATEWAYS: {"InternetGateways": [{"InternetGatewayId": "a"}, {"InternetGatewayId": "mine"}]},
    usage.NATS: {
        "NatGateways": [
            *({"NatGatewayId": each, "SubnetId": each} for each in ("a", "b", "c", "mine")),
        ]
    },
    usage.SUBNETS: {
        "Subnets": [
            {"SubnetId": each, "AvailabilityZone": zone}
            for each, zone in {"a": "x", "b": "x", "c": "y", "mine": "x"}.items()
        ]
    },
    usage.ENDPOINTS: {
        "VpcEndpoints": [
            {"VpcEndpointId": each, "VpcEndpointType": kind}
            for each, kind in {"a": "Gateway", "b": "Interface", "mine": "Gateway"}.items()
        ]
    },
    usage.INTERFACES: {
        "NetworkInterfaces": [
            {"NetworkInterfaceId": "a"},
            {"NetworkInterfaceId": "b", "TagSet": TAGS},
            {"NetworkInterfaceId": "c"},
        ]
    },
    usage.FILE_SYSTEMS: {
        "FileSystems": [
            lustre("PERSISTENT_2", 1200),
            lustre("PERSISTENT_2", 4800),
            lustre("PERSISTENT_2", 9600, number="mine"),
            lustre("PERSISTENT_1", 2400),
            lustre("PERSISTENT_1", 6000, "HDD"),
            lustre("SCRATCH_2", 3600),
            lustre(
                "PERSISTENT_2",
                storage="INTELLIGENT_TIERING",
                ThroughputCapacity=4000,
                DataReadCacheConfiguration={"SizeGiB": 500},
            ),
            {"FileSystemId": "z", "FileSystemType": "OPENZFS", "StorageCapacity": 64},
        ]
    },
    usage.BALANCERS: {
        "LoadBalancers": [
            {"LoadBalancerArn": each, "Type": kind}
            for each, kind in {"a": "application", "b": "network", "c": "network", "mine": "application"}.items()
        ]
    },
    usage.DATABASES: {"DBInstances": [{"DBInstanceIdentifier": "a"}, {"DBInstanceIdentifier": "mine"}]},
    usage.CLUSTERS: {"ClusterSummaries": [{"ClusterName": "c"}, {"ClusterName": "mine"}]},
    CLUSTER: {"ClusterName": "c", "InstanceGroups": GROUPS[:2], "RestrictedInstanceGroups": GROUPS[2:]},
    OWN_CLUSTER: {"ClusterName": "mine", "InstanceGroups": GROUPS},
    usage.ECS_CLUSTERS: {"clusterArns": ["arn:aws:ecs:x:1:cluster/a", "arn:aws:ecs:x:1:cluster/mine"]},
    usage.RECIPES: {"imageRecipeSummaryList": [{"arn": "a"}, {"arn": "b"}, {"arn": "mine"}]},
    usage.INFRASTRUCTURES: {"infrastructureConfigurationSummaryList": [{"arn": "a"}, {"arn": "mine"}]},
}
USED = {
    "Running On-Demand Trn instances": 128,
    STANDARD: 2,
    "All P4, P3 and P2 Spot Instance Requests": 96,
    "Running On-Demand P instances": 0,
    "EC2-VPC Elastic IPs": 2,
    "VPCs per Region": 2,
    "Internet gateways per Region": 1,
    "NAT gateways per Availability Zone": 2,
    "Gateway VPC endpoints per Region": 1,
    "Network interfaces per Region": 2,
    "Lustre Persistent_2 file systems": 3,
    "Lustre Persistent_2 storage capacity": 6000,
    "Lustre Persistent_1 file systems": 2,
    "Lustre Persistent_1 storage capacity": 2400,
    "Lustre Scratch storage capacity": 3600,
    "Lustre Persistent HDD storage capacity (per file system)": 0,
    "Lustre Persistent Intelligent-Tiering throughput capacity": 4000,
    "Lustre Persistent Intelligent-Tiering SSD read cache storage capacity": 500,
    "ml.trn1.32xlarge for cluster usage": 3,
    "ml.trn1.32xlarge for cluster spot instance usage": 4,
    "Number of ml.trn1.32xlarge instances in reserved capacity across training plans per Region": 5,
    "Total number of instances allowed across SageMaker HyperPod clusters": 13,
    "Total number of Spot instances allowed across SageMaker HyperPod clusters": 4,
    "Maximum number instances allowed per SageMaker HyperPod cluster": 0,
    "Application Load Balancers per Region": 1,
    "Network Load Balancers per Region": 2,
    "DB instances": 1,
    "Clusters per account": 1,
    "Image recipes": 2,
    "Infrastructure configurations": 1,
}


@pytest.mark.parametrize("name", USED)
def test_what_is_in_use(name: str) -> None:
    answers = Answers({call: Answer(call=call, value=value) for call, value in SAID.items()})
    assert usage_of(name).count(answers, MINE, name) == USED[name]


def test_every_way_of_counting_is_here() -> None:
    assert [each.names for each in USAGES if not any(usage_of(name) is each for name in USED)] == []
