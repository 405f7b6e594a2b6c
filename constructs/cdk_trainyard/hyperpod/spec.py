"""What can be said of a HyperPod cluster. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, nonmember
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.hyperpod.spec_groups import InstanceGroup, Lifecycle, Name, Overrides
from cdk_trainyard.lifecycle.spec import NodeSetup, SlurmTopology
from cdk_trainyard.options.fields import ByName, Said
from cdk_trainyard.options.node_paths import ON_HYPERPOD
from cdk_trainyard.storage.spec import NodeGrantsSpec

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_sns as sns

    from cdk_trainyard.storage import AccountingDatabaseBase


class NodeRecovery(StrEnum):
    """What happens to a node that fails."""

    FORMER_VALUES = nonmember({"true": "write Automatic"})

    AUTOMATIC = "Automatic"
    """HyperPod reboots or replaces it."""
    NONE = "None"
    """An administrator decides."""


class NodeProvisioning(StrEnum):
    """How nodes come, when a group need not come whole or not at all."""

    CONTINUOUS = "Continuous"
    """What is there starts, and what is missing is tried again in the background."""
    FORMER_VALUES = nonmember({"AllOrNothing": "leave it out: then a group comes whole or not at all"})


class SlurmConfigStrategy(StrEnum):
    """Who owns the partitions in ``slurm.conf``."""

    MERGE = "Merge"
    """``slurm.conf`` does: partitions are added, what people wrote stays."""
    MANAGED = "Managed"
    """The template does, and an update fails when somebody has edited ``slurm.conf`` meanwhile."""
    OVERWRITE = "Overwrite"
    """The template does, and an update overwrites what somebody has edited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MultiHead:
    """Several controller nodes, one of them active."""

    database: "AccountingDatabaseBase"
    """Accounting database that the controllers share."""
    shared_directory: Annotated[str, ON_HYPERPOD] = "/fsx"
    """Directory on a shared file system where the controllers keep their state. Default: /fsx."""
    topic: "sns.ITopic | None" = None
    """Where a change of the active controller is told. Default - nowhere."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodSpec(NodeGrantsSpec):
    """A HyperPod cluster with Slurm."""

    groups: Annotated[Sequence[InstanceGroup], ByName()]
    """The instance groups by name: one controller, at most one login group, one or more of compute."""
    cluster_name: Name | None = None
    """Its name, at most 63 letters, digits and inner hyphens; another name is another cluster. Default - a unique name
    made of the stack's and the construct's path: the API needs one, and whether CloudFormation would make one up is not
    documented."""
    lifecycle: Lifecycle = Lifecycle()  # noqa: RUF009  a frozen value
    """What runs when a node starts. Default - HyperPod's image alone."""
    node_setup: NodeSetup | None = None
    """What the project's own scripts set up on every node beside mounts, users and Slurm. Default - the defaults of its
    options."""
    topology: SlurmTopology = SlurmTopology.API_DRIVEN
    """Where the Slurm topology is written: in the cluster's configuration (api), as AWS recommends and which cannot be
    turned back; or in a file beside the scripts of every group (legacy). Default: api."""
    slurm_config_strategy: SlurmConfigStrategy | None = None
    """Who owns the partitions in slurm.conf. Documentation contradicts itself about the service's own default, so it is
    always written. Default - Merge; with continuous provisioning the service takes none, it merges."""
    multi_head: Annotated[MultiHead | None, Said(None)] = None
    """Several controller nodes, which only the legacy topology knows. Default - one controller."""
    provisioning: NodeProvisioning | None = None
    """How nodes come: with Continuous, what there is starts and the rest comes later. Default - each group whole, or
    the operation fails and rolls back."""
    node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC
    """What happens to a node that fails: replaced by HyperPod (Automatic), or left to you (None).
    Default: Automatic."""
    role: "iam.IRole | None" = None
    """An IAM role of yours for the nodes; a managed policy is attached to it. Default - one is made."""
    controller_role: "iam.IRole | None" = None
    """An IAM role of yours for the controllers, which alone read the accounting database's password; it gets the nodes'
    policy attached too, and must be given beside ``role`` when there is such a database. Default - ``role``; one is
    made where that is not given."""
    aws_managed_policy: bool = True
    """Whether roles that are made have AWS's AmazonSageMakerClusterInstanceRolePolicy, as its guide wants it; it lets
    nodes read every bucket sagemaker-* of the account. Default: true."""
    raw_overrides: Overrides = None
    """CloudFormation properties of the cluster by dotted path: the escape hatch for what CloudFormation has and
    this library has not. Default - none."""
