"""AWS ParallelCluster: Slurm on EC2, made and updated by CloudFormation, checked before it is deployed."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.parallelcluster.cluster import ParallelCluster
    from cdk_trainyard.parallelcluster.cluster_base import ParallelClusterBase
    from cdk_trainyard.parallelcluster.facts import parallelcluster_version
    from cdk_trainyard.parallelcluster.provider import ParallelClusterProvider
    from cdk_trainyard.parallelcluster.scripts import NodeScripts
    from cdk_trainyard.parallelcluster.spec import (
        ClusterIam,
        OperatingSystem,
        ParallelClusterMonitoring,
        QueueUpdateStrategy,
        ScalingStrategy,
        SlurmAccounting,
        SlurmSettings,
        Timeouts,
    )
    from cdk_trainyard.parallelcluster.spec_nodes import (
        CustomAction,
        Dcv,
        HeadNode,
        LoginPool,
        RootVolume,
        VolumeType,
    )
    from cdk_trainyard.parallelcluster.spec_queues import (
        AllocationStrategy,
        ComputeResource,
        Placement,
        Queue,
    )
    from cdk_trainyard.parallelcluster.spec_storage import SharedEbs, SharedEfs, SharedFsxVolume, SharedStorage
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "AllocationStrategy",
    "ClusterIam",
    "ComputeResource",
    "CustomAction",
    "Dcv",
    "HeadNode",
    "LoginPool",
    "NodeScripts",
    "OperatingSystem",
    "ParallelCluster",
    "ParallelClusterBase",
    "ParallelClusterMonitoring",
    "ParallelClusterProvider",
    "Placement",
    "Queue",
    "QueueUpdateStrategy",
    "RootVolume",
    "ScalingStrategy",
    "SharedEbs",
    "SharedEfs",
    "SharedFsxVolume",
    "SharedStorage",
    "SlurmAccounting",
    "SlurmSettings",
    "Timeouts",
    "VolumeType",
    "parallelcluster_version",
]
