"""What can be said of a fleet: its nodes, its master, a launch template alone. No CDK: a file is judged with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum, nonmember
from typing import TYPE_CHECKING, Annotated, Literal

from cdk_trainyard.fleet.spec_image import EfaTypeName, NodeImage, TypeName, VolumeSize
from cdk_trainyard.fleet.times import UtcTime
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.instances.kind import LARGEST_BLOCK
from cdk_trainyard.network.interfaces import EfaBackend
from cdk_trainyard.options.arns import RESERVATION_GROUP
from cdk_trainyard.options.kinds import Number, Text
from cdk_trainyard.options.stand_ins import Retention
from cdk_trainyard.options.tags import Tags
from cdk_trainyard.options.texts import RESERVATION_ID
from cdk_trainyard.storage.spec import NodeGrantsSpec
from cdk_trainyard.tokens import Unknown, unresolved

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_logs as logs

MOST_NODES = 5000
ReservationGroupArn = Annotated[str, RESERVATION_GROUP]
ThreadsPerCore = Literal[1, 2]


class FleetPlacement(StrEnum):
    """How close together the nodes stand."""

    FORMER_VALUES = nonmember({"true": "write cluster", "false": "write anywhere"})

    CLUSTER = "cluster"
    """In a cluster placement group: lowest latency."""
    ANYWHERE = "anywhere"
    """Wherever there is room in the zone, or where the reservation says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchTemplateSpec:
    """A launch template whose instances use all the EFA bandwidth of their type."""

    instance_type: EfaTypeName
    """A type with EFA."""
    backend: EfaBackend = EfaBackend.LAUNCH_TEMPLATE
    """Who launches, and so how the interfaces are laid out; LEGACY for ``efa`` on every card.
    Default: launch-template."""
    image: NodeImage | None = None
    """The machine image. Default - whoever launches chooses it."""
    capacity: UsageClass = UsageClass.ON_DEMAND
    """How instances are bought. Default: on-demand."""
    reservation_id: Annotated[str | None, RESERVATION_ID] = None
    """The capacity reservation, or with CAPACITY_BLOCK the capacity block. Default - none."""
    reservation_group_arn: ReservationGroupArn | None = None
    """A resource group of reservations instead. Default - none."""
    volume_gib: VolumeSize = 200
    """Size of the root volume in GiB, gp3 and encrypted; 200 is more than any DLAMI's snapshot. Default: 200."""
    root_device: (
        Annotated[str, Text(pattern=r"/dev/[a-z0-9]+", words="the name of a device", example="/dev/xvda")] | None
    ) = None
    """Name of the root volume in the image. Default - the image's; /dev/xvda (Amazon Linux) when no image is given."""
    volume_key: "kms.IKey | None" = None
    """The KMS key that encrypts it. Default - the account's key for EBS."""
    threads_per_core: ThreadsPerCore | None = None
    """Threads of a core; 1 switches simultaneous multithreading off. Default - the type's."""
    public_address: bool = False
    """Whether instances get a public address; only where the layout has one interface. Default: false."""
    key_pair: "ec2.IKeyPair | None" = None
    """An EC2 key pair. Default - none; sessions are opened by Session Manager."""
    instance_tags: Tags = field(default_factory=dict)
    """Tags of instances and volumes. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MasterSpec:
    """An instance from which jobs are started, and no part of them."""

    instance_type: TypeName = "c5n.18xlarge"
    """Its type, with EFA or without. Default: c5n.18xlarge."""
    image: NodeImage | None = None
    """Its machine image. Default - that of the nodes."""
    volume_gib: VolumeSize = 200
    """Size of its root volume in GiB, encrypted with the key of the nodes' volumes. Default: 200."""
    key_pair: "ec2.IKeyPair | None" = None
    """An EC2 key pair. Default - none; sessions are opened by Session Manager."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetSpec(NodeGrantsSpec):
    """EC2 instances with EFA in one subnet and one placement group, set up to run one MPI or torchrun job."""

    image: NodeImage
    """Their machine image."""
    instance_type: EfaTypeName | None = None
    """Their type, with EFA; EC2 has types whose facts are not known here, which are refused.
    Default - instance_types is given instead."""
    instance_types: Sequence[EfaTypeName] = ()
    """Several types in order of preference; a job across different ones runs at the pace of the slowest.
    Default - instance_type is given."""
    count: Annotated[int, Number(minimum=1, maximum=MOST_NODES, unit="nodes")] | None = None
    """How many nodes; one that is lost is replaced. Default - min_count and max_count are given instead."""
    min_count: Annotated[int, Number(minimum=0, maximum=MOST_NODES, unit="nodes")] | None = None
    """Nodes that there always are, when people decide how many there are. Default - count is given."""
    max_count: Annotated[int, Number(minimum=1, maximum=MOST_NODES, unit="nodes")] | None = None
    """Nodes that there can be. Default - count is given."""
    capacity: UsageClass = UsageClass.ON_DEMAND
    """How they are bought. Default: on-demand."""
    reservation_id: Annotated[str | None, RESERVATION_ID] = None
    """The capacity reservation, or with capacity-block the capacity block; its zone must be the network's.
    Default - none."""
    reservation_group_arn: ReservationGroupArn | None = None
    """A resource group of reservations instead. Default - none."""
    reserved_instances: Annotated[int, Number(minimum=1, maximum=LARGEST_BLOCK, unit="instances")] | None = None
    """Instances that the capacity block holds, all of which are paid for. Default - not known, nothing is compared."""
    starts: Annotated[str, UtcTime()] | None = None
    """When the capacity block starts, in UTC: no nodes until then. Leave it out once that has passed, as Auto Scaling
    takes no such time. Default - it has started."""
    ends: Annotated[str, UtcTime()] | None = None
    """When the capacity block ends, in UTC: 40 minutes before, there are no nodes. Default - not known; instances are
    launched in vain when it is over."""
    placement: FleetPlacement | None = None
    """Whether they are close together, in a placement group (cluster), or not (anywhere).
    Default - cluster; where a reservation says."""
    interfaces: Literal["launch-template", "legacy"] = "launch-template"
    """How network interfaces are laid out: one address a node, or with legacy one a card. Default: launch-template."""
    fleet_name: (
        Annotated[
            str,
            Text(
                pattern="[A-Za-z][A-Za-z0-9-]{0,62}",
                words="a letter and then letters, digits and hyphens, 63 at most",
                example="nlp",
                remedy="leave it out for a unique one",
            ),
        ]
        | None
    ) = None
    """The name that its members find one another by. Default - a unique name made of the stack's."""
    role: "iam.IRole | None" = None
    """An IAM role of yours for the nodes; it gets the policy attached. Default - one is made."""
    volume_gib: VolumeSize = 200
    """Size of the root volume in GiB. Default: 200."""
    volume_key: "kms.IKey | None" = None
    """The KMS key that encrypts it, and a master's; its policy must let Auto Scaling's service-linked role use it, and
    for a master the role that deploys.
    Default - the account's key for EBS."""
    threads_per_core: ThreadsPerCore | None = None
    """Threads of a core; 1 switches simultaneous multithreading off. Default - the type's."""
    key_pair: "ec2.IKeyPair | None" = None
    """An EC2 key pair. Default - none; sessions are opened by Session Manager."""
    log_retention: "logs.RetentionDays" = Retention(90)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """How long logs of set-ups are kept, in days. Default: 90."""

    @property
    def given_types(self) -> "tuple[str | InstanceType | ec2.InstanceType, ...]":
        """The types as they were given."""
        one = () if self.instance_type is None else (self.instance_type,)
        return (*one, *self.instance_types)

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """The facts of those that are known."""
        return tuple(
            known for given in self.given_types if not unresolved(given) and (known := InstanceType.find(given))
        )

    @property
    def least(self) -> int:
        """The fewest nodes."""
        return (self.min_count or 0) if self.count is None else self.count

    @property
    def most(self) -> int:
        """The most nodes."""
        return (self.max_count or 0) if self.count is None else self.count

    @property
    def always_on(self) -> bool:
        """Whether some node is there as long as the fleet is."""
        return self.least > 0 and self.starts is None and self.ends is None

    @property
    def reserved(self) -> bool:
        """Whether instances come from a reservation or a capacity block, which decides where they stand."""
        named = (self.reservation_id, self.reservation_group_arn)
        return self.capacity is UsageClass.CAPACITY_BLOCK or any(
            each is not None and not isinstance(each, Unknown) for each in named
        )

    @property
    def clustered(self) -> bool:
        """Whether the nodes are in a cluster placement group of this library."""
        return not self.reserved if self.placement is None else self.placement is FleetPlacement.CLUSTER

    @property
    def backend(self) -> EfaBackend:
        """How interfaces are laid out."""
        return EfaBackend.LAUNCH_TEMPLATE if unresolved(self.interfaces) else EfaBackend(self.interfaces)
