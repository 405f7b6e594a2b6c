"""The ``cluster:`` section with ``orchestrator: hyperpod``."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from cdk_trainyard.deployment._schema import NAME_KEY
from cdk_trainyard.deployment._section import (
    LAX,
    AlarmArn,
    KeyArn,
    OrExisting,
    RoleArn,
    SecretArn,
    Section,
    SecurityGroupId,
    shown,
)
from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.hyperpod.node_setup import NodeSetupSection
from cdk_trainyard.deployment.node_grants import NodeGrantsSection
from cdk_trainyard.hyperpod import (
    BatchUnit,
    DeepHealthCheck,
    InterfaceType,
    NodeProvisioning,
    NodeRecovery,
    PatchingStrategy,
    SlurmConfigStrategy,
    limits,
)
from cdk_trainyard.instances import hyperpod_type_names
from cdk_trainyard.lifecycle import GroupRole, SlurmTopology

_InstanceType = Annotated[
    str,
    WithJsonSchema({
        NAME_KEY: "HyperPodInstanceType",
        "anyOf": [
            {"enum": list(hyperpod_type_names())},
            {"type": "string", "pattern": r"^(?!ml\.)[a-z0-9-]+\.[a-z0-9-]+$"},
        ],
        "examples": ["ml.trn1.32xlarge"],
    }),
]  # fmt: skip
"""A type that HyperPod accepts. Editors complete the names with ``ml.``; the rule takes them without as well."""
_Count = Annotated[int, shown(minimum=limits.INSTANCES[0], maximum=limits.INSTANCES[-1])]
_Overrides = Mapping[str, Any]


class LifecycleSection(Section):
    """What runs on a node when it starts; with neither script, HyperPod's image alone."""

    on_create: Annotated[str | None, Field(examples=["on_create.sh"])] = None
    """A script that configures the node alone and starts Slurm. Default - none."""
    on_init_complete: Annotated[str | None, Field(examples=["on_init_complete.sh"])] = None
    """A script that runs after HyperPod's image has configured the node. Default - none."""
    folder: str | None = None
    """Folder with the scripts, relative to this file. Default - the scripts that come with cdk-trainyard."""


class VolumeSection(Section):
    """One EBS volume of every node."""

    size_gb: Annotated[int | None, shown(minimum=limits.VOLUME_GB[0], maximum=limits.VOLUME_GB[-1])] = None
    """Size in GB. Default - none; only a root volume has none, HyperPod decides its size."""
    key_arn: KeyArn | None = None
    """The KMS key it is encrypted with; needs provisioning Continuous. Default - a key that AWS owns."""
    root: bool = False
    """Whether this is the root volume, which is configured only to be encrypted. Default: false."""


class BatchSection(Section):
    """How many instances are taken at a time."""

    unit: Annotated[BatchUnit, LAX]
    """Instances, or percent of the group."""
    value: int
    """How many."""


class RollingSection(Section):
    """How an update goes through a group."""

    batch: BatchSection
    """Instances taken at a time."""
    rollback_batch: BatchSection | None = None
    """Instances taken at a time on the way back. Default - the service decides."""
    wait_seconds: Annotated[int | None, Field(ge=0)] = None
    """Pause between two batches. Default - none."""
    rollback_alarm_arns: tuple[AlarmArn, ...] = ()
    """CloudWatch alarms that turn the update back. Default - none."""


class ScheduledUpdateSection(Section):
    """A regular update to the newest HyperPod image; it replaces the root volumes."""

    schedule: Annotated[str, Field(examples=["cron(0 4 ? * SUN *)"])]
    """A cron expression."""
    rolling: RollingSection | None = None
    """How it goes through the group. Default - the service decides."""


class AutoPatchSection(Section):
    """Security patches that the service applies by itself."""

    strategy: Annotated[PatchingStrategy, LAX]
    """A node as soon as it is idle, or all nodes when all are."""
    rolling: RollingSection | None = None
    """How it goes through the group. Default - the service decides."""


class GroupSection(Section):
    """A group of equal nodes; its name is its key."""

    role: Annotated[GroupRole, LAX]
    """What its nodes are for: controller, login or compute."""
    count: _Count
    """Number of nodes."""
    instance_type: _InstanceType | None = None
    """The instance type. Default - instance_types is given instead."""
    instance_types: tuple[_InstanceType, ...] = ()
    """Up to 20 types in order of preference: the first that has capacity is taken. Default - instance_type is given."""
    min_count: _Count | None = None
    """Nodes that must have come before the group is in service; needs provisioning Continuous.
    Default - the service's: 0 for compute, 1 for controller and login."""
    partition: Annotated[str | None, shown(pattern=f"^{limits.NAME.pattern}$", maxLength=limits.NAME_LENGTH)] = None
    """Slurm partition of a compute group. Default - the group's name."""
    lifecycle: LifecycleSection | None = None
    """What runs when a node starts. Default - the cluster's lifecycle."""
    volumes: tuple[VolumeSection, ...] = (VolumeSection(size_gb=500),)
    """EBS volumes: at most one root and one other, at /opt/sagemaker. Default - one of 500 GB."""
    threads_per_core: Annotated[int | None, shown(enum=list(limits.THREADS_PER_CORE))] = None
    """Threads per core; 1 switches simultaneous multithreading off. Default - the service decides."""
    capacity: Literal["OnDemand", "Spot"] | None = None
    """Where the instances come from; Spot needs provisioning Continuous. Default - on demand."""
    training_plan_arn: Annotated[
        str | None, Field(examples=["arn:<partition>:sagemaker:<region>:<account>:training-plan/<name>"])
    ] = None
    """A SageMaker training plan that reserves the instances, in the zone of the network. Default - none."""
    deep_health_checks: tuple[Annotated[DeepHealthCheck, LAX], ...] = ()
    """Tests of new compute nodes before they take work. Default - none."""
    interface_type: Annotated[InterfaceType, LAX] | None = None
    """EFA with or without IP addresses on all cards. Default - the service decides."""
    image_id: Annotated[str | None, Field(examples=["ami-0123456789abcdef0"])] = None
    """An AMI of yours. Default - HyperPod's newest."""
    scheduled_update: ScheduledUpdateSection | None = None
    """Regular updates to the newest image. Default - none."""
    auto_patch: AutoPatchSection | None = None
    """Security patches by the service. Default - none."""
    raw_overrides: _Overrides = Field(default_factory=dict)
    """CloudFormation properties of the group by dotted path: what the service has and this file has not.
    Default - none."""


class ExistingAccountingSection(Section):
    """A MySQL-compatible database that exists already."""

    endpoint: str
    """Its host name."""
    secret_arn: SecretArn
    """Secret with username and password."""
    security_group_id: SecurityGroupId
    """Its security group; the cluster is let in."""
    port: Annotated[int, Field(ge=1, le=65535)] = 3306
    """Its port. Default: 3306."""
    schema_name: str | None = None
    """Schema of the accounting. Default - named after the cluster."""


AnyAccounting = Annotated[AccountingSection | ExistingAccountingSection, OrExisting("endpoint")]
"""A new database, or with ``endpoint`` one that exists."""


class HyperPodSection(NodeGrantsSection):
    """A HyperPod cluster with Slurm."""

    groups: Annotated[
        Mapping[str, GroupSection],
        shown(
            minProperties=limits.GROUPS[0],
            maxProperties=limits.GROUPS[-1],
            propertyNames={"pattern": f"^{limits.NAME.pattern}$", "maxLength": limits.NAME_LENGTH},
        ),
    ]
    """The instance groups by name: one controller, at most one login group, one or more of compute."""
    cluster_name: Annotated[str | None, shown(pattern=f"^{limits.NAME.pattern}$", maxLength=limits.NAME_LENGTH)] = None
    """Its name; another name is another cluster. Default - a unique name made of the stack's."""
    lifecycle: LifecycleSection = LifecycleSection()
    """What runs when a node starts. Default - HyperPod's image alone."""
    node_setup: NodeSetupSection = NodeSetupSection()
    """What the scripts that come with cdk-trainyard set up beside mounts, users and Slurm. Default - what the keys
    below say."""
    topology: Annotated[SlurmTopology, LAX] = SlurmTopology.API_DRIVEN
    """Where the Slurm topology is written: in the cluster's configuration (api), or in a file beside the scripts
    (legacy). Default: api."""
    slurm_config_strategy: Annotated[SlurmConfigStrategy, LAX] | None = None
    """Who owns the partitions in slurm.conf. Default - Merge; with provisioning Continuous the service takes none."""
    provisioning: Annotated[NodeProvisioning, LAX] = NodeProvisioning.ALL_OR_NOTHING
    """How nodes come: each group whole or not at all, or what there is and the rest later. Default: AllOrNothing."""
    node_recovery: Annotated[NodeRecovery, LAX] = NodeRecovery.AUTOMATIC
    """What happens to a node that fails: replaced by HyperPod, or left to you. Default: Automatic."""
    accounting: AnyAccounting | None = None
    """Database for Slurm's accounting; needs provisioning Continuous, or on_create.sh on the controller. Default - a
    MariaDB on the controller where HyperPod's image configures it."""
    role_arn: RoleArn | None = None
    """An IAM role of yours for the nodes; a managed policy is attached to it. Default - one is made."""
    controller_role_arn: RoleArn | None = None
    """An IAM role of yours for the controllers, which alone read the accounting database's password; must be given
    beside role_arn when there is one. Default - role_arn; one is made where that is not given."""
    aws_managed_policy: bool = True
    """Whether roles that are made have AWS's AmazonSageMakerClusterInstanceRolePolicy, as its guide wants it; it lets
    nodes read every bucket sagemaker-* of the account. Default: true."""
    raw_overrides: _Overrides = Field(default_factory=dict)
    """CloudFormation properties of the cluster by dotted path: what the service has and this file has not.
    Default - none."""
