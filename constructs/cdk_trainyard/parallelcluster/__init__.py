"""AWS ParallelCluster: Slurm on EC2, made and updated by CloudFormation, checked before it is deployed."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.parallelcluster.capacity import (
        AllocationStrategy,
        CapacityType,
        Placement,
        QueueCapacity,
        Reservation,
    )
    from cdk_trainyard.parallelcluster.cluster import ParallelCluster
    from cdk_trainyard.parallelcluster.cluster_base import ParallelClusterBase
    from cdk_trainyard.parallelcluster.facts import parallelcluster_version
    from cdk_trainyard.parallelcluster.nodes import Dcv, HeadNode, LoginPool, RootVolume
    from cdk_trainyard.parallelcluster.provider import ParallelClusterProvider
    from cdk_trainyard.parallelcluster.queue import ComputeResource, Queue
    from cdk_trainyard.parallelcluster.scripts import CustomAction, NodeScripts
    from cdk_trainyard.parallelcluster.settings import (
        ClusterIam,
        ClusterMonitoring,
        OperatingSystem,
        QueueUpdateStrategy,
        ScalingStrategy,
        SlurmAccounting,
        SlurmSettings,
        Timeouts,
    )
    from cdk_trainyard.parallelcluster.shared_storage import (
        SharedEbs,
        SharedEfs,
        SharedLustre,
        SharedOntap,
        SharedOpenZfs,
        StorageDeletion,
        VolumeType,
    )
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "AllocationStrategy",
    "CapacityType",
    "ClusterIam",
    "ClusterMonitoring",
    "ComputeResource",
    "CustomAction",
    "Dcv",
    "HeadNode",
    "LoginPool",
    "NodeScripts",
    "OperatingSystem",
    "ParallelCluster",
    "ParallelClusterBase",
    "ParallelClusterProvider",
    "Placement",
    "Queue",
    "QueueCapacity",
    "QueueUpdateStrategy",
    "Reservation",
    "RootVolume",
    "ScalingStrategy",
    "SharedEbs",
    "SharedEfs",
    "SharedLustre",
    "SharedOntap",
    "SharedOpenZfs",
    "SlurmAccounting",
    "SlurmSettings",
    "StorageDeletion",
    "Timeouts",
    "VolumeType",
    "parallelcluster_version",
]
