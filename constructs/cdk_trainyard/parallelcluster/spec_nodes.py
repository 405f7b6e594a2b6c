"""What can be said of nodes of a ParallelCluster: their disks and scripts, the head node, login nodes. No CDK."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

from cdk_trainyard.instances import kind
from cdk_trainyard.options.fields import Repeats, Said, Unit
from cdk_trainyard.options.kinds import Choice, Cidr, Environment, Number, Open, Text, resource_id
from cdk_trainyard.options.node_paths import NodePath
from cdk_trainyard.options.texts import ARGUMENT
from cdk_trainyard.parallelcluster.kinds import IMAGE_ID
from cdk_trainyard.problems import Flaw

if TYPE_CHECKING:
    from aws_cdk import Duration
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam

    from cdk_trainyard.parallelcluster.scripts import NodeScripts

RawOverrides = Mapping[str, Any]
"""Keys of ParallelCluster's configuration, as it spells them."""
SlurmParameters = Mapping[str, Any]
"""Parameters of Slurm by name, each with one value."""
InstanceTypeName = Annotated["str | ec2.InstanceType", kind.InstanceTypeName("trn1.32xlarge")]
ImageId = Annotated[str, IMAGE_ID]
MOST_NODES: Final = 65_531
"""Addresses of the largest subnet, a /16: a VPC's are at most that large, and AWS keeps five."""
ThreadsPerCore = Annotated[int, Choice(values=(1, 2))]
NodeName = Annotated[
    str,
    Text(
        pattern=r"[a-z][a-z0-9-]*",
        words="a lower case letter and then lower case letters, digits and hyphens",
        example="compute",
        longest=25,
    ),
]
"""What becomes part of a host name (``NAME_REGEX`` and ``NAME_MAX_LENGTH`` of ParallelCluster's validators)."""
MountDir = Annotated[str, NodePath(hidden=False)]
"""Where nodes mount something."""


@dataclass(frozen=True, slots=True)
class BlockOrList:
    """An IPv4 block, or a prefix list of EC2."""

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match the id of a list, or judge the block as one."""
        if re.fullmatch(_PREFIX_LIST, value):
            return None
        return Cidr(words=_BLOCK_OR_LIST).problem(value, environment)

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": rf"^(([0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}/[0-9]{{1,2}}|{_PREFIX_LIST})$", "examples": [_BLOCK]}


_PREFIX_LIST: Final = r"pl-[0-9a-f]{8}([0-9a-f]{9})?"
_BLOCK: Final = "203.0.113.7/32"
_BLOCK_OR_LIST: Final = f"an IPv4 block or a prefix list, as {_BLOCK}"
Addresses = Annotated[str, BlockOrList()]
"""Who may connect (``AllowedIps``)."""


class VolumeType(StrEnum):
    """Types of EBS volumes."""

    GP3 = "gp3"
    GP2 = "gp2"
    IO1 = "io1"
    IO2 = "io2"
    ST1 = "st1"
    SC1 = "sc1"
    STANDARD = "standard"


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomAction:
    """One script that a node runs as root: an address of yours, or a file of a folder that was uploaded.

    Whoever can write to an address is root on the node. On the head node and on login nodes, address and arguments can
    never be changed: ParallelCluster refuses the update. A file of a folder can, which `NodeScripts.action` names.
    """

    script: Annotated[str, Open(rule="action_problems", examples=("neuron.sh", "s3://bucket/key"))]
    """An address that begins with s3:// or https://, or a file of the folder of scripts."""
    args: Annotated[Sequence[Annotated[str, ARGUMENT]], Repeats()] = ()
    """Its arguments, which reach it as they are, without a shell. Default - none."""
    scripts: Annotated["NodeScripts | None", Said(None)] = None
    """The uploaded folder that has the file. Default - none; the script is an address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RootVolume:
    """The disk that a node starts from; ParallelCluster encrypts it with the account's EBS key."""

    size_gib: Annotated[int | None, Number(minimum=1, unit="GiB")] = None
    """Size in GiB, at least that of the image (45; 50 from version 3.16.2 on). Default - the image's."""
    type: VolumeType | None = None
    """Type of the volume. Default - gp3."""
    iops: Annotated[int | None, Number(minimum=1)] = None
    """Operations per second. Default - EC2's for the type."""
    throughput_mb_s: Annotated[int | None, Number(minimum=1, unit="MB/s")] = None
    """Throughput in MB/s, of gp3. Default - 125."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dcv:
    """A remote desktop (Amazon DCV) on a node."""

    allowed_from: Addresses
    """Addresses that may connect, as ``203.0.113.0/24``, or a prefix list."""
    port: Annotated[int | None, Number(minimum=1024, maximum=65535)] = None
    """Its port. Default - 8443."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSoftware:
    """What every kind of nodes says of its software."""

    on_start: Sequence[CustomAction] = ()
    """What runs before a node is set up. Default - nothing."""
    on_configured: Sequence[CustomAction] = ()
    """What runs when a node is set up; on head and login nodes again after a change of it. Default - nothing."""
    image_id: ImageId | None = None
    """An image of yours that ParallelCluster built; it can change for queues only. Default - the cluster's."""
    policies: Annotated["Sequence[iam.IManagedPolicy]", Said("policy_arns")] = ()
    """Further policies, of the path ``/parallelcluster/`` unless the provider may attach them. Default - none."""
    raw_overrides: RawOverrides | None = None
    """Keys of ParallelCluster's own section of these nodes that have no option here; they add to what options say, and
    change none of it. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginNode(NodeSoftware):
    """What nodes say of themselves that people log in to."""

    instance_type: InstanceTypeName
    """Their type, as ``c5.xlarge``, of those whose facts are known here."""
    ssh_from: Addresses | None = None
    """Addresses that may use SSH, as ``203.0.113.7/32``, or a prefix list.
    Default - nobody; of login nodes: the head node's."""
    dcv: Dcv | None = None
    """A remote desktop. Default - none."""
    on_updated: Sequence[CustomAction] = ()
    """What runs after every update of the cluster. Default - nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadNode(LoginNode):
    """The head node: Slurm's controller, NFS server, and where ParallelCluster's daemons run.

    Most of it can never be changed: ParallelCluster refuses another type, subnet, key pair, disk, image or script.
    Files of a `NodeScripts` folder are the exception: they are fetched through a fixed address.
    """

    public: bool = False
    """Whether it stands in the network's first public subnet. Default: false."""
    subnet: Annotated["ec2.ISubnet | None", Said(None)] = None
    """Another subnet. Default - as ``public`` says."""
    elastic_ip: bool | None = None
    """Whether it has a public address that stays. Default - with ``public``, as the subnets of a new network give no
    public address by themselves."""
    elastic_ip_id: Annotated[str | None, resource_id("eipalloc", "an elastic address")] = None
    """An address that exists, for it. Default - a new one where it has one."""
    key_pair: "ec2.IKeyPair | None" = None
    """Key pair for SSH; on Ubuntu an ED25519 one. Default - none; sessions are opened by Session Manager."""
    root_volume: RootVolume | None = None
    """Its disk. Default - as large as the image."""
    scratch_at: MountDir | None = None
    """Where its NVMe disks are mounted, for types that have them. Default - ``/scratch``."""
    threads_per_core: ThreadsPerCore | None = None
    """Threads of a core: 1 or 2. Default - what the type has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginPool(LoginNode):
    """Equal login nodes behind one address, so that users do not work on the head node."""

    name: NodeName
    """Its name."""
    count: Annotated[int, Number(minimum=0, maximum=MOST_NODES)] = 1
    """How many. Default: 1."""
    subnet: "ec2.ISubnet | None" = None
    """Their subnet, in a file accelerator, public or service; a public one must give public addresses by itself, which
    those of a new network do not. Default - the accelerator subnet; people come by VPN or Session Manager."""
    grace_period: Annotated["Duration | None", Unit("minutes"), Said("grace_minutes")] = None
    """How long users are warned before a node goes, 3 to 120 minutes. Default - 10 minutes."""
