"""The ``cluster:`` section with ``orchestrator: fleet``."""

from typing import Annotated, Literal

from pydantic import Field

from cdk_trainyard.deployment._section import (
    KeyArn,
    ReservationId,
    ResourceGroupArn,
    RetentionDays,
    RoleArn,
    Section,
    never,
    resource_id,
    shown,
)
from cdk_trainyard.deployment.node_grants import NodeGrantsSection
from cdk_trainyard.fleet import dlami_names

InstanceTypeName = Annotated[str, Field(examples=["p5.48xlarge"])]
DlamiName = Annotated[str, shown(enum=list(dlami_names()))]
CapacityName = Literal["on-demand", "spot", "capacity-block"]
PlacementName = Literal["cluster", "anywhere"]
InterfacesName = Literal["launch-template", "legacy"]
AcceleratorName = Literal["gpu", "neuron"]
BlockTime = Annotated[str, Field(examples=["2027-06-01T11:30:00Z"])]

_ONE_SUBNET = "nodes stand in the one accelerator subnet of 'network', since EFA does not cross zones; leave it out"
_NO_ADDRESS = (
    "EC2 gives no public address to an instance with several network interfaces; leave it out, and reach nodes by SSM"
)


class EfaInstallerSection(Section):
    """One version of AWS's installer of EFA; AWS's signature is always verified."""

    version: Annotated[str, Field(examples=["1.49.0"])]
    """The version; its driver must fit the kernel of the base."""
    sha256: str | None = None
    """Checksum of aws-efa-installer-VERSION.tar.gz, 64 hex digits. Default - the signature is enough."""


class ImageBuildSection(Section):
    """An image that EC2 Image Builder makes: the base with EFA, a Lustre client for its kernel, drivers, and a test."""

    base: DlamiName
    """The Deep Learning AMI, or plain Ubuntu, to begin with."""
    accelerator: AcceleratorName | None = None
    """What the image has drivers for, which its test asks for. Default - nothing is asked."""
    families: Annotated[tuple[str, ...], Field(examples=[["p3dn"]])] = ()
    """Families of instance types that it is for, when the base does not know them. Default - the base's."""
    nvidia_branch: Annotated[str | None, Field(examples=["580"])] = None
    """Branch of NVIDIA's driver to install, in quotes; on plain Ubuntu. Default - the base's driver."""
    efa_installer: EfaInstallerSection | None = None
    """The EFA installer. Default - the base's EFA; without one, the version that fits the kernel of plain Ubuntu."""
    commands: tuple[str, ...] = ()
    """Further shell commands, run as root. Default - none."""
    instance_type: InstanceTypeName = "m5.2xlarge"
    """What builds and tests. Default: m5.2xlarge."""
    volume_gib: int = 200
    """Size of its root volume in GiB. Default: 200."""
    regions: tuple[str, ...] = ()
    """Regions that it is copied to. Default - the file's."""
    schedule: Annotated[str | None, Field(examples=["cron(0 4 ? * SUN *)"])] = None
    """When it is built anew, if the base has changed. Default - when it is asked."""
    while_deploying: bool = False
    """Whether it is built while the stack is deployed, which then takes about an hour. Default: false."""


class NodeImageSection(Section):
    """A machine image: one of dlami, ami_id, parameter and build."""

    dlami: DlamiName | None = None
    """The newest AWS Deep Learning AMI of a kind, as it is when the stack is deployed. Default - another key says."""
    ami_id: Annotated[str | None, resource_id("ami")] = None
    """An AMI of yours: with the AWS CLI, the EFA software, a Lustre client and drivers. Default - another key says."""
    parameter: Annotated[str | None, Field(examples=["/images/training"])] = None
    """The parameter of Parameter Store that holds an AMI's id. Default - another key says."""
    build: ImageBuildSection | None = None
    """An image that is built here. Default - another key says."""
    architecture: Literal["x86_64", "arm64"] | None = None
    """Architecture of ami_id or parameter. Default - not known: a wrong one fails at launch."""
    user: str | None = None
    """Who people and jobs work as on ami_id or parameter. Default - ubuntu."""


class MasterSection(Section):
    """An instance from which jobs are started, and no part of them."""

    instance_type: InstanceTypeName = "c5n.18xlarge"
    """Its type, with EFA or without. Default: c5n.18xlarge."""
    image: NodeImageSection | None = None
    """Its machine image. Default - that of the nodes."""
    volume_gib: int = 200
    """Size of its root volume in GiB. Default: 200."""
    key_pair: str | None = None
    """Name of an EC2 key pair. Default - none; sessions are opened by Session Manager."""


class FleetSection(NodeGrantsSection):
    """EC2 instances with EFA in one subnet and one placement group, set up to run one MPI or torchrun job."""

    model_config = never(
        subnet=_ONE_SUBNET, subnets=_ONE_SUBNET, zones=_ONE_SUBNET, public=_NO_ADDRESS, public_address=_NO_ADDRESS
    )

    instance_type: InstanceTypeName | None = None
    """Their type, with EFA. Default - instance_types is given instead."""
    instance_types: tuple[InstanceTypeName, ...] = ()
    """Several types in order of preference. Default - instance_type is given."""
    count: int | None = None
    """How many nodes; one that is lost is replaced. Default - min_count and max_count are given instead."""
    min_count: int | None = None
    """Nodes that there always are, when people decide how many there are. Default - count is given."""
    max_count: int | None = None
    """Nodes that there can be. Default - count is given."""
    image: NodeImageSection
    """Their machine image."""
    capacity: CapacityName = "on-demand"
    """Where they come from. Default: on-demand."""
    reservation_id: ReservationId | None = None
    """The capacity reservation, or with capacity-block the capacity block. Default - none."""
    reservation_group_arn: ResourceGroupArn | None = None
    """A resource group of reservations instead. Default - none."""
    reserved_instances: int | None = None
    """Instances that the capacity block holds, all of which are paid for. Default - not known, nothing is compared."""
    starts: BlockTime | None = None
    """When the capacity block starts, in UTC: no nodes until then. Leave it out once that has passed. Default - it has
    started."""
    ends: BlockTime | None = None
    """When the capacity block ends, in UTC: 40 minutes before, there are no nodes. Default - not known; instances are
    launched in vain when it is over."""
    placement: PlacementName | None = None
    """Whether they are close together, in a placement group (cluster), or not (anywhere).
    Default - cluster; where a reservation says."""
    interfaces: InterfacesName = "launch-template"
    """How network interfaces are laid out: one address a node, or with legacy one a card. Default: launch-template."""
    master: MasterSection | None = None
    """A node from which jobs are started. Default - none; any node can start one."""
    fleet_name: str | None = None
    """The name that its members find one another by. Default - a unique name made of the stack's."""
    role_arn: RoleArn | None = None
    """An IAM role of yours for the nodes. Default - one is made."""
    volume_gib: int = 200
    """Size of the root volume in GiB. Default: 200."""
    volume_key_arn: KeyArn | None = None
    """The KMS key that encrypts it; its policy must let Auto Scaling use it. Default - the account's key for EBS."""
    threads_per_core: Annotated[int | None, shown(enum=[1, 2])] = None
    """Threads of a core; 1 switches simultaneous multithreading off. Default - the type's."""
    key_pair: str | None = None
    """Name of an EC2 key pair. Default - none; sessions are opened by Session Manager."""
    log_retention_days: RetentionDays = 90
    """How long logs of set-ups are kept. Default: 90."""
