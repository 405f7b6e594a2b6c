"""What can be said of an instance group of a HyperPod cluster. No CDK."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.kinds import ClusterName, HyperPodTypeName, UpdateSchedule
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.options.fields import Said, Unit
from cdk_trainyard.options.kinds import Arn, Choice, Number, Open, Text
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:
    from aws_cdk import Duration
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms

    from cdk_trainyard.lifecycle import LifecycleScripts
    from cdk_trainyard.network import EfaSecurityGroup, Network
    from cdk_trainyard.storage import Mount


Name = Annotated[str, ClusterName()]
Count = Annotated[int, Number(minimum=limits.INSTANCES[0], maximum=limits.INSTANCES[-1])]
_Type = Annotated["str | InstanceType | ec2.InstanceType", HyperPodTypeName("ml.trn1.32xlarge")]
Script = Annotated[
    str,
    Text(
        pattern=r"[A-Za-z0-9._-]+",
        words="the name of a file at the top of the folder, of letters, digits, '.', '_' and '-'",
        example="on_create.sh",
        longest=limits.SCRIPT_LENGTH,
    ),
]
"""A file that HyperPod executes."""
Overrides = Annotated[Mapping[str, Any] | None, Open(rule="override_problems")]


PROPERTIES: Mapping[str, str] = {
    "InstanceCount": "count",
    "InstanceRequirements": "instance_types",
    "MinInstanceCount": "min_count",
    "InstanceStorageConfigs": "volumes",
    "LifeCycleConfig": "lifecycle",
    "CapacityRequirements": "capacity",
    "OnStartDeepHealthChecks": "deep_health_checks",
    "ScheduledUpdateConfig": "scheduled_update",
    "AutoPatchConfig": "auto_patch",
    "NetworkInterface": "interface_type",
    "SlurmConfig": "role",
}
"""CloudFormation's properties of a group that have another name here."""


class BatchUnit(StrEnum):
    """What a batch is counted in."""

    INSTANCES = "INSTANCE_COUNT"
    PERCENT = "CAPACITY_PERCENTAGE"


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


class PatchingStrategy(StrEnum):
    """When nodes may be patched; the API knows ``DrainFirst`` too, which CloudFormation does not."""

    WHEN_IDLE = "WhenIdle"
    WHEN_ALL_IDLE = "WhenAllIdle"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifecycle:
    """What runs on a node when it starts: one of two scripts; with neither, HyperPod's image alone.

    The image configures Slurm, containers, accounting and keys. The two are the documentation's modes C and B; the
    image alone is its mode A.
    """

    on_create: Script | None = None
    """A script that configures the node alone and starts Slurm. Default - none."""
    on_init_complete: Script | None = None
    """A script that runs after HyperPod's image has configured the node. Default - none."""
    scripts: Annotated["LifecycleScripts | None", Said(None)] = None
    """The bundle with the script. Default - the one that the cluster uploads to its ``scripts_bucket``: the project's
    own."""

    @property
    def script(self) -> str | None:
        """The script that runs; None when nothing of the user's does."""
        return self.on_init_complete if self.on_create is None else self.on_create

    @property
    def is_own(self) -> bool:
        """Whether one of the project's own scripts runs."""
        return self.script is not None and self.scripts is None


@dataclass(frozen=True, kw_only=True, slots=True)
class EbsVolume:
    """One EBS volume of every node in a group.

    A group has at most one root entry and one secondary volume. HyperPod decides the size of the root volume (100 GB);
    the root entry exists only to encrypt it with a key of yours. The secondary volume is mounted at ``/opt/sagemaker``,
    where containers and images belong: a root volume filled by images is the commonest way to lose a node.
    """

    size_gb: Annotated[int | None, Number(minimum=limits.VOLUME_GB[0], maximum=limits.VOLUME_GB[-1], unit="GB")] = None
    """Size of a secondary volume in GB, 1 to 16384. Default - none; only a root volume has none, HyperPod decides its
    size."""
    key: "kms.IKey | None" = None
    """The KMS key it is encrypted with. It needs continuous provisioning, and HyperPod cannot change it later. AWS
    recommends one key for each group (``smcluster-cmk`` in the SageMaker developer guide).
    Default - a key that AWS owns."""
    root: bool = False
    """Whether this is the root volume, which is configured only to be encrypted. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchSize:
    """How many instances are taken at a time."""

    unit: BatchUnit
    """Instances, or percent of the group."""
    value: Annotated[int, Number(minimum=1, maximum=limits.INSTANCES[-1])]
    """At least 1; at most 100 for percent."""

    @classmethod
    def instances(cls, count: int) -> "BatchSize":
        """So many instances at a time."""
        return cls(unit=BatchUnit.INSTANCES, value=count)

    @classmethod
    def percent(cls, share: int) -> "BatchSize":
        """So many percent of the group at a time."""
        return cls(unit=BatchUnit.PERCENT, value=share)


@dataclass(frozen=True, kw_only=True, slots=True)
class RollingUpdate:
    """How an update of the image goes through a group."""

    batch: BatchSize
    """Instances taken at a time."""
    rollback_batch: BatchSize | None = None
    """Instances taken at a time on the way back. Default - the service decides."""
    wait: Annotated["Duration | None", Unit("seconds")] = None
    """Pause between two batches, at most one hour. Default - none."""
    rollback_alarms: "Sequence[cloudwatch.IAlarm]" = ()
    """CloudWatch alarms that turn the update back, at most 10. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledUpdate:
    """A regular update to the newest HyperPod image. It replaces the root volumes: keep nothing there."""

    schedule: Annotated[str, UpdateSchedule()]
    """A cron expression, as ``cron(0 4 ? * SUN *)``. No page of AWS's says of which zone its hour is; alarms take
    UTC."""
    rolling: RollingUpdate | None = None
    """How it goes through the group. Default - the service decides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoPatch:
    """Security patches that the service applies by itself."""

    strategy: PatchingStrategy
    """A node as soon as it is idle, or all nodes when all are idle."""
    rolling: RollingUpdate | None = None
    """How it goes through the group. Default - the service decides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceGroup:
    """A group of equal nodes in a HyperPod cluster."""

    name: Name
    """Its name in the cluster and in commands: letters, digits and inner hyphens, at most 63. Another name is another
    group: the old nodes are deleted."""
    role: GroupRole
    """What its nodes are for: controller, login or compute."""
    count: Count
    """Number of nodes, 0 to 6758. CloudFormation cannot say *which* nodes a smaller count removes."""
    instance_type: _Type | None = None
    """The instance type, with or without ``ml.``. Default - ``instance_types`` is given instead."""
    instance_types: Sequence[_Type] = ()
    """Up to 20 types in order of preference: the service takes the first that has capacity.
    Default - ``instance_type`` is given."""
    min_count: Count | None = None
    """With continuous provisioning, how many nodes must have come before the group is in service; if they do not come
    in three hours, the group is rolled back. Default - the service's: 0 for compute, 1 for controller and login."""
    partition: Annotated[str | None, Open(rule="partition_problems", examples=("training",))] = None
    """Slurm partition of a compute group. Default - the group's name."""
    lifecycle: Lifecycle | None = None
    """What runs when a node starts. Default - the cluster's ``lifecycle``."""
    volumes: Sequence[EbsVolume] = (EbsVolume(size_gb=500),)
    """EBS volumes: at most one root and one other, at /opt/sagemaker. Default - one of 500 GB."""
    mounts: Annotated["Sequence[Mount] | None", Said(None)] = None
    """File systems of this group. Default - the cluster's ``mounts``."""
    threads_per_core: Annotated[int | None, Choice(values=limits.THREADS_PER_CORE)] = None
    """Threads per core, 1 or 2; 1 switches simultaneous multithreading off. Default - the service decides."""
    capacity: UsageClass | None = None
    """Where the instances come from, on-demand or spot; it cannot be changed after the group exists, and spot needs
    continuous provisioning. Default - on demand, or the training plan."""
    training_plan_arn: Annotated[
        str | None,
        Arn(
            service="sagemaker",
            resource=r"training-plan/[A-Za-z0-9](-*[A-Za-z0-9]){0,63}",
            form="training-plan/<name>",
            what="a training plan",
            any_account=False,
        ),
    ] = None
    """A SageMaker training plan that reserves the instances. Its zone must be the zone of the group's subnet, which no
    one can see from an ARN. Default - none."""
    deep_health_checks: Sequence[DeepHealthCheck] = ()
    """Tests of new nodes before they take work; compute groups with accelerators only. Default - none."""
    interface_type: InterfaceType | None = None
    """EFA with or without IP addresses on all cards. Default - the service decides (with)."""
    network: Annotated["Network | None", Said(None)] = None
    """Another subnet than the cluster's, for example in another zone. Default - the cluster's."""
    security_groups: Annotated["Sequence[EfaSecurityGroup]", Said(None)] = ()
    """Other security groups than the cluster's. Default - the cluster's."""
    image_id: Annotated[
        str | None,
        Text(
            pattern=limits.IMAGE_ID.pattern,
            words="the id of an AMI, or 'default'",
            example="ami-0123456789abcdef0",
        ),
    ] = None
    """An AMI of yours, or ``default``, HyperPod's newest. Default - HyperPod's newest."""
    scheduled_update: ScheduledUpdate | None = None
    """Regular updates to the newest image. Default - none."""
    auto_patch: AutoPatch | None = None
    """Security patches by the service. Default - none."""
    execution_role: Annotated["iam.IRole | None", Said(None)] = None
    """A role for this group alone; it is used as it is, nothing is granted to it. Default - the cluster's."""
    raw_overrides: Overrides = None
    """CloudFormation properties of the group by dotted path (``OverrideVpcConfig.Subnets``): the escape hatch for what
    CloudFormation has and this library has not. Default - none."""

    @property
    def names_of_types(self) -> tuple[str | InstanceType, ...]:
        """The instance types, one or several, those of CDK by name."""
        several = [self.instance_types] if unresolved(self.instance_types) else self.instance_types
        said: list[Any] = [*([] if self.instance_type is None else [self.instance_type]), *several]
        return tuple(each if isinstance(each, str | InstanceType) else each.to_string() for each in said)
