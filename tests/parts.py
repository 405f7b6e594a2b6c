"""Clusters of each orchestrator in somebody's stack, with what most leave as it is."""

from collections.abc import Callable, Sequence
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3

from cdk_trainyard import (
    ComputeResource,
    EfaFleet,
    EfaSecurityGroup,
    GroupRole,
    HeadNode,
    HyperPodCluster,
    InstanceGroup,
    LustreFileSystem,
    Network,
    NodeImage,
    ParallelCluster,
    Queue,
    TrainingNetwork,
)
from cdk_trainyard.instances import zone_region

REGION, ZONE = "us-west-2", "us-west-2a"
IMAGE = NodeImage(dlami="base-oss-nvidia-driver-gpu-ubuntu-22.04")


def new_stack() -> Stack:
    return Stack(App(), "Stack", env=Environment(account="111111111111", region=REGION))


def subnet_id(name: str) -> str:
    """Return an id of the right form for the subnet of that name."""
    return f"subnet-0{name.lower().encode().hex()[:16]:0<16}"


def existing_network(stack: Stack, construct_id: str = "Network", *, zone: str = "usw2-az4", **changes: Any) -> Network:
    """A network that exists: no resources of its own, ids known."""
    name = f"{zone_region(zone)}a"
    vpc = ec2.Vpc.from_vpc_attributes(stack, f"{construct_id}Vpc", vpc_id="vpc-11111111", availability_zones=[name])
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, f"{construct_id}Subnet", subnet_id=subnet_id(construct_id), availability_zone=name
    )
    settings = {"vpc": vpc, "accelerator_subnet": subnet, "zone": zone, "accelerator_cidr": "10.1.128.0/17", **changes}
    return TrainingNetwork.from_existing(stack, construct_id, **settings)


def groups(**changes: Any) -> list[InstanceGroup]:
    worker = {"name": "workers", "role": GroupRole.COMPUTE, "instance_type": "ml.c5.4xlarge", "count": 2} | changes
    head = InstanceGroup(name="head", role=GroupRole.CONTROLLER, instance_type="ml.m5.large", count=1)
    return [head, InstanceGroup(**worker)]


def hyperpod(stack: Stack, network: Network, **changes: Any) -> HyperPodCluster:
    return HyperPodCluster(stack, "HyperPod", network=network, **{"groups": groups(), **changes})


def parallelcluster(stack: Stack, network: Network, **changes: Any) -> ParallelCluster:
    queues = [Queue(name="compute", compute=[ComputeResource(instance_type="c5.xlarge", max_count=4)])]
    settings = {"head_node": HeadNode(instance_type="c5.xlarge"), "queues": queues, **changes}
    return ParallelCluster(stack, "ParallelCluster", network=network, **settings)


def fleet(stack: Stack, network: Network, **changes: Any) -> EfaFleet:
    bucket = changes.pop("scripts_bucket", None) or s3.Bucket.from_bucket_name(stack, "FleetScripts", "some-scripts")
    settings = {"image": IMAGE, "instance_type": "p4d.24xlarge", "count": 2, **changes}
    return EfaFleet(stack, "Fleet", network=network, scripts_bucket=bucket, **settings)


def lustre(stack: Stack, network: Network, **changes: Any) -> LustreFileSystem:
    group = changes.pop("security_group", None) or EfaSecurityGroup(stack, "Servers", vpc=network.vpc)
    return LustreFileSystem(stack, "Lustre", network=network, security_group=group, **changes)


CLUSTERS: Sequence[Callable[..., Any]] = (hyperpod, parallelcluster, fleet)
