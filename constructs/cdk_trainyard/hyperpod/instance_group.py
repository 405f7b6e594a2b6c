"""A group of equal nodes in a HyperPod cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_iam as iam

from cdk_trainyard.hyperpod.capacity import Capacity
from cdk_trainyard.hyperpod.lifecycle_mode import Lifecycle
from cdk_trainyard.hyperpod.updates import AutoPatch, ScheduledUpdate
from cdk_trainyard.hyperpod.volumes import EbsVolume
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.lifecycle import GroupRole
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import Mount


class DeepHealthCheck(StrEnum):
    """Tests of the hardware before a node takes work; the API knows one more, which CloudFormation does not."""

    INSTANCE_STRESS = "InstanceStress"
    """One node: CPU, memory, disk, GPU diagnostics, EFA loopback. 45 to 90 minutes."""
    INSTANCE_CONNECTIVITY = "InstanceConnectivity"
    """NCCL between nodes; needs two or more."""


class InterfaceType(StrEnum):
    """What the accelerated network interfaces of a node are."""

    EFA = "efa"
    """EFA with IP: every network card takes an address."""
    EFA_ONLY = "efa-only"
    """EFA without IP on all but the primary card."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceGroup:
    """A group of equal nodes in a HyperPod cluster.

    Attributes:
        name: Its name in the cluster and in commands: letters, digits and inner hyphens, at most 63.
            Another name is another group: the old nodes are deleted.
        role: Controller, login or compute.
        count: Number of nodes, 0 to 6758. CloudFormation cannot say *which* nodes a smaller count removes.
        instance_type: The instance type, with or without ``ml.``, or a registered ``InstanceType``.
        instance_types: Instead of ``instance_type``, up to 20 types in order of preference: the service takes the first
            that has capacity.
        min_count: With continuous provisioning, how many nodes must have come before the group is in service; if they
            do not come in three hours, the group is rolled back.
            Default - the service's: 0 for compute, 1 for controller and login.
        partition: Slurm partition of a compute group. Default - the group's name.
        lifecycle: What runs when a node starts. Default - the cluster's ``lifecycle``.
        volumes: EBS volumes. Default - one of 500 GB at ``/opt/sagemaker``.
        mounts: File systems of this group. Default - the cluster's ``mounts``.
        threads_per_core: 1 or 2. Default - the service decides.
        capacity: On demand, Spot or a training plan. Default - on demand.
        deep_health_checks: Tests of new nodes before they take work; compute groups with accelerators only.
            Default - none.
        interface_type: EFA with or without IP addresses. Default - the service decides (with).
        network: Another subnet than the cluster's, for example in another zone. Default - the cluster's.
        security_groups: Other security groups than the cluster's. Default - the cluster's.
        image_id: An AMI of yours (``ami-…``), or ``default``. Default - HyperPod's newest.
        scheduled_update: Regular updates to the newest image. Default - none.
        auto_patch: Security patches by the service. Default - none.
        execution_role: A role for this group alone; it is used as it is, nothing is granted to it.
            Default - the cluster's.
        raw_overrides: CloudFormation properties under this group, by dotted path (``AutoPatchConfig.DrainPolicy``): the
            escape hatch for what the service has and this class does not. Default - none.
    """

    name: str
    role: GroupRole
    count: int
    instance_type: str | InstanceType | None = None
    instance_types: Sequence[str | InstanceType] = ()
    min_count: int | None = None
    partition: str | None = None
    lifecycle: Lifecycle | None = None
    volumes: Sequence[EbsVolume] = (EbsVolume(size_gb=500),)
    mounts: Sequence[Mount] | None = None
    threads_per_core: int | None = None
    capacity: Capacity | None = None
    deep_health_checks: Sequence[DeepHealthCheck] = ()
    interface_type: InterfaceType | None = None
    network: Network | None = None
    security_groups: Sequence[EfaSecurityGroup] = ()
    image_id: str | None = None
    scheduled_update: ScheduledUpdate | None = None
    auto_patch: AutoPatch | None = None
    execution_role: iam.IRole | None = None
    raw_overrides: JsonObject | None = None
