"""HyperPod clusters with Slurm: groups, topology, scripts, file systems, accounting, role, events."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.hyperpod.capacity import Capacity, CapacityKind
    from cdk_trainyard.hyperpod.cluster import HyperPodCluster, NodeProvisioning, NodeRecovery
    from cdk_trainyard.hyperpod.cluster_base import HyperPodClusterBase
    from cdk_trainyard.hyperpod.execution_role import ControllerRole, ExecutionRole
    from cdk_trainyard.hyperpod.instance_group import DeepHealthCheck, InstanceGroup, InterfaceType
    from cdk_trainyard.hyperpod.lifecycle_mode import Lifecycle, LifecycleTrigger
    from cdk_trainyard.hyperpod.monitoring import ClusterEvent, ClusterStatus
    from cdk_trainyard.hyperpod.topology import ApiTopology, LegacyTopology, MultiHead, SlurmConfigStrategy
    from cdk_trainyard.hyperpod.updates import (
        AutoPatch,
        BatchSize,
        BatchUnit,
        PatchingStrategy,
        RollingUpdate,
        ScheduledUpdate,
    )
    from cdk_trainyard.hyperpod.volumes import EbsVolume
    from cdk_trainyard.lifecycle import GroupRole
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "ApiTopology",
    "AutoPatch",
    "BatchSize",
    "BatchUnit",
    "Capacity",
    "CapacityKind",
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
    "LegacyTopology",
    "Lifecycle",
    "LifecycleTrigger",
    "MultiHead",
    "NodeProvisioning",
    "NodeRecovery",
    "PatchingStrategy",
    "RollingUpdate",
    "ScheduledUpdate",
    "SlurmConfigStrategy",
]
