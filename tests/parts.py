"""Clusters of each orchestrator in somebody's stack, with what most leave as it is."""

from collections.abc import Callable, Sequence
from typing import Any

from aws_cdk import App, Environment, Stack
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
)

REGION, ZONE = "us-west-2", "us-west-2a"
IMAGE = NodeImage(dlami="base-oss-nvidia-driver-gpu-ubuntu-22.04")


def new_stack() -> Stack:
    return Stack(App(), "Stack", env=Environment(account="111111111111", region=REGION))


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
