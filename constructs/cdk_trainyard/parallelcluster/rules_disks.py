"""Whether EBS volumes are ones that EC2 has: root volumes and shared ones. Pure: nothing is created here."""

from collections.abc import Iterator

from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.spec_nodes import RootVolume, VolumeType
from cdk_trainyard.parallelcluster.spec_storage import SharedEbs
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_HARD_DISKS = (VolumeType.ST1, VolumeType.SC1)
_GP3_IOPS = 3000


def root_volume_problems(at: At, volume: RootVolume | None, least: int | None) -> Problems:
    """The disk is as large as the image, one that EC2 starts from, and fast as its type can be.

    Args:
        at: Where it is said.
        volume: The disk, or None.
        least: Size of the image in GiB. None: it is not known.
    """
    if volume is None or unresolved(volume):
        return
    if volume.size_gib is not None and least is not None and volume.size_gib < least:
        text = f"must be at least {least} GiB, as ParallelCluster's image is, got {volume.size_gib}"
        yield Problem((*at, "size_gib"), text)
    if volume.type in _HARD_DISKS:
        yield Problem((*at, "type"), f"must not be {volume.type}, of which no instance starts; use gp3")
        return
    yield from block_volume_problems(
        at, volume, volume.type or VolumeType.GP3, volume.size_gib or least or fact("root_volume_gib")
    )


def block_volume_problems(at: At, volume: RootVolume | SharedEbs, kind: VolumeType, size_gib: int) -> Problems:
    """An EBS volume's size, operations and throughput go together.

    Args:
        at: Where it is said.
        volume: The volume.
        kind: Its type.
        size_gib: Its size.
    """
    if unresolved(kind):
        return
    least, most = fact("ebs_size_gib")[kind]
    if not unresolved(size_gib) and not least <= size_gib <= most:
        yield Problem((*at, "size_gib"), f"must be {least} to {most} GiB for {kind}, got {size_gib}")
    if volume.iops is not None and not unresolved(volume.iops):
        yield from _iops_problems((*at, "iops"), kind, size_gib, volume.iops)
    elif volume.iops is None and kind is VolumeType.GP3:
        yield from _gp3_size_problems((*at, "size_gib"), size_gib, least)
    if volume.throughput_mb_s is not None and not unresolved(volume.throughput_mb_s):
        yield from _throughput_problems((*at, "throughput_mb_s"), kind, volume.iops, volume.throughput_mb_s)


def _iops_problems(at: At, kind: VolumeType, size_gib: int, iops: int) -> Problems:
    bounds = fact("ebs_iops").get(kind)
    if bounds is None:
        yield Problem(at, f"must be left out for {kind}, got {iops}", of_key=True)
        return
    least, most = bounds
    ratio = fact("ebs_iops_per_gib")[kind]
    if not least <= iops <= most:
        yield Problem(at, f"must be {least} to {most} for {kind}, got {iops}")
    elif not unresolved(size_gib) and iops > size_gib * ratio:
        text = f"must be at most {ratio} for each GiB of {kind}, got {iops} for {size_gib} GiB"
        yield Problem(at, text)


def _gp3_size_problems(at: At, size_gib: int, least: int) -> Problems:
    """ParallelCluster asks for the operations that gp3 has at least (``EBS_VOLUME_TYPE_IOPS_DEFAULT`` of 3.16.1)."""
    ratio = fact("ebs_iops_per_gib")[VolumeType.GP3]
    if not unresolved(size_gib) and least <= size_gib and size_gib * ratio < _GP3_IOPS:
        text = f"must be {_GP3_IOPS // ratio} or more for gp3, got {size_gib}: it has {_GP3_IOPS} operations per second"
        yield Problem(at, f"{text}, and at most {ratio} for each GiB")


def _throughput_problems(at: At, kind: VolumeType, iops: int | None, throughput: int) -> Problems:
    first, last = limits.GP3_THROUGHPUT_MB_S[0], limits.GP3_THROUGHPUT_MB_S[-1]
    operations = iops or _GP3_IOPS
    if kind is not VolumeType.GP3:
        yield Problem(at, f"must be left out for {kind}, got {throughput}; only gp3 takes one", of_key=True)
    elif throughput not in limits.GP3_THROUGHPUT_MB_S:
        yield Problem(at, f"must be {first} to {last} MB/s, got {throughput}")
    elif not unresolved(operations) and throughput > operations * limits.GP3_THROUGHPUT_PER_IOPS:
        text = f"must be at most a quarter of the operations per second, got {throughput} MB/s for {operations}"
        yield Problem(at, text)
