"""The machines that people log in to: the head node and the login nodes; and the disks of every node."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.parallelcluster.scripts import CustomAction
from cdk_trainyard.parallelcluster.shared_storage import VolumeType


@dataclass(frozen=True, kw_only=True, slots=True)
class RootVolume:
    """The disk that a node starts from. ParallelCluster encrypts it with the account's EBS key.

    Attributes:
        size_gib: Size in GiB, at least that of the image (45). Default - the image's.
        type: Type of the volume. Default - GP3.
        iops: Operations per second. Default - EC2's for the type.
        throughput_mb_s: Throughput in MB/s, of GP3. Default - 125.
    """

    size_gib: int | None = None
    type: VolumeType | None = None
    iops: int | None = None
    throughput_mb_s: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Dcv:
    """A remote desktop (Amazon DCV) on a node.

    Attributes:
        allowed_from: Addresses that may connect, as ``"203.0.113.0/24"``, or a prefix list.
        port: Its port. Default - 8443.
    """

    allowed_from: str
    port: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadNode:
    """The head node: Slurm's controller, NFS server, and where ParallelCluster's daemons run.

    Most of it can never be changed: ParallelCluster refuses another type, subnet, key pair, disk, image or script.
    Files of a ``NodeScripts`` folder are the exception: they are fetched through a fixed address.

    Attributes:
        instance_type: Its type, as ``"c5.xlarge"``.
        public: Whether it stands in the network's first public subnet. Default: False, in the accelerator subnet.
        subnet: Another subnet. Default - as ``public`` says.
        elastic_ip: Whether it has a public address that stays, or the address that exists. Default - with ``public``:
            the subnets of ``TrainingNetwork`` give no public address by themselves.
        key_pair: Key pair for SSH; on Ubuntu an ED25519 one. Default - none: sessions are opened by Session Manager.
        ssh_from: Addresses that may use SSH, as ``"203.0.113.7/32"``, or a prefix list. Default - nobody.
        root_volume: Its disk. Default - as large as the image.
        scratch_at: Where its NVMe disks are mounted, for types that have them. Default - ``/scratch``.
        simultaneous_multithreading: Whether a core runs two threads. Default: True.
        dcv: A remote desktop. Default - none.
        on_start: What runs before anything is set up. Default - nothing.
        on_configured: What runs when the node is set up, and again after a change of it. Default - nothing.
        on_updated: What runs after every update of the cluster. Default - nothing.
        image_id: An image of yours that ParallelCluster built; never changed. Default - the cluster's.
        policies: Further policies, of the path ``/parallelcluster/`` unless the provider may attach them.
            Default - none.
        extra: Keys of ParallelCluster's ``HeadNode`` that have no keyword here. Default - none.
    """

    instance_type: str | InstanceType
    public: bool = False
    subnet: ec2.ISubnet | None = None
    elastic_ip: bool | str | None = None
    key_pair: ec2.IKeyPair | None = None
    ssh_from: str | None = None
    root_volume: RootVolume | None = None
    scratch_at: str | None = None
    simultaneous_multithreading: bool = True
    dcv: Dcv | None = None
    on_start: Sequence[CustomAction] = ()
    on_configured: Sequence[CustomAction] = ()
    on_updated: Sequence[CustomAction] = ()
    image_id: str | None = None
    policies: Sequence[iam.IManagedPolicy] = ()
    extra: JsonObject | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginPool:
    """Equal login nodes behind one address, so that users do not work on the head node.

    Attributes:
        name: Its name: lower case letters, digits and hyphens, at most 25.
        instance_type: Their type.
        count: How many.
        subnet: Their subnet. A public one must give public addresses by itself, which those of ``TrainingNetwork`` do
        not.
            Default - the accelerator subnet; people come by VPN or Session Manager.
        ssh_from: Addresses that may use SSH. Default - the head node's.
        grace_period: How long users are warned before a node goes, 3 to 120 minutes. Default - 10 minutes.
        dcv: A remote desktop. Default - none.
        on_start: What runs before anything is set up. Default - nothing.
        on_configured: What runs when a node is set up. Default - nothing.
        on_updated: What runs after every update of the cluster. Default - nothing.
        image_id: An image of yours that ParallelCluster built. Default - the cluster's.
        policies: Further policies. Default - none.
        extra: Keys of ParallelCluster's ``LoginNodes/Pools`` that have no keyword here. Default - none.
    """

    name: str
    instance_type: str | InstanceType
    count: int = 1
    subnet: ec2.ISubnet | None = None
    ssh_from: str | None = None
    grace_period: Duration | None = None
    dcv: Dcv | None = None
    on_start: Sequence[CustomAction] = ()
    on_configured: Sequence[CustomAction] = ()
    on_updated: Sequence[CustomAction] = ()
    image_id: str | None = None
    policies: Sequence[iam.IManagedPolicy] = ()
    extra: JsonObject | None = None
