"""HyperPod clusters with Slurm: groups, topology, scripts, file systems, accounting, role, events."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.hyperpod.cluster import HyperPodCluster
    from cdk_trainyard.hyperpod.cluster_base import HyperPodClusterBase
    from cdk_trainyard.hyperpod.execution_role import ControllerRole, ExecutionRole
    from cdk_trainyard.hyperpod.monitoring import ClusterEvent, ClusterStatus
    from cdk_trainyard.hyperpod.spec import MultiHead, NodeProvisioning, NodeRecovery, SlurmConfigStrategy
    from cdk_trainyard.hyperpod.spec_groups import (
        AutoPatch,
        BatchSize,
        BatchUnit,
        DeepHealthCheck,
        EbsVolume,
        InstanceGroup,
        InterfaceType,
        Lifecycle,
        PatchingStrategy,
        RollingUpdate,
        ScheduledUpdate,
    )
    from cdk_trainyard.lifecycle import GroupRole
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "AutoPatch",
    "BatchSize",
    "BatchUnit",
    "ClusterEvent",
    "ClusterStatus",
    "ControllerRole",
    "DeepHealthCheck",
    "EbsVolume",
    "ExecutionRole",
    "GroupRole",
    "HyperPodCluster",
    "HyperPodClusterBase",
    "InstanceGroup",
    "InterfaceType",
    "Lifecycle",
    "MultiHead",
    "NodeProvisioning",
    "NodeRecovery",
    "PatchingStrategy",
    "RollingUpdate",
    "ScheduledUpdate",
    "SlurmConfigStrategy",
]
