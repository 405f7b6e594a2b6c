"""What FSx for Lustre allows: one table, and nothing that computes.

Sources, read 2026-11-20:

- deployment types, storage per server, regions: "Deployment and storage class options",
  https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
- capacities: ``StorageCapacity`` of https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html; with
  EFA: step 7 of https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html
- throughputs, metadata IOPS, read cache: botocore 1.44.5, ``fsx/2018-03-01/service-2.json``
- EFA: https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html
- metadata IOPS of the automatic mode: https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, nonmember

FACTS_DATE = "2026-11-20"
"""When the sources were read."""


class LustreType(StrEnum):
    """The deployment type of an FSx for Lustre file system."""

    SCRATCH_1 = "SCRATCH_1"
    SCRATCH_2 = "SCRATCH_2"
    PERSISTENT_1 = "PERSISTENT_1"
    PERSISTENT_2 = "PERSISTENT_2"
    FORMER_VALUES = nonmember({
        **{kind: f"it is a storage class: use 'storage' {kind}" for kind in ("SSD", "HDD", "INTELLIGENT_TIERING")},
        **{kind: f"use {kind}_1, or the newer {kind}_2" for kind in ("SCRATCH", "PERSISTENT")},
    })  # fmt: skip


class LustreStorage(StrEnum):
    """The storage class of an FSx for Lustre file system."""

    SSD = "SSD"
    HDD = "HDD"
    INTELLIGENT_TIERING = "INTELLIGENT_TIERING"


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreFacts:
    """What one deployment type allows on one storage class.

    Attributes:
        server_gib: GiB on one storage server, by throughput in MB/s per TiB. FSx sells capacity by whole servers, so
            this is also the step of the capacity.
        partial_gib: Capacities below one step that are sold too.
        efa_server_gib: As ``server_gib``, for EFA-enabled file systems. Empty: no EFA.
        throughput_chosen: The throughput is named at creation. False: it comes with the type.
        iops: The metadata IOPS one may ask for. Empty: the type has no metadata configuration.
        versions: The Lustre versions that the type runs.
        persistent: Servers and disks are replaced when they fail; backups and a key of one's own are possible.
        repositories: S3 data repositories can be linked.
    """

    server_gib: Mapping[int, int] = field(default_factory=dict)
    partial_gib: tuple[int, ...] = ()
    efa_server_gib: Mapping[int, int] = field(default_factory=dict)
    throughput_chosen: bool = True
    iops: tuple[int, ...] = ()
    versions: tuple[str, ...] = ("2.10", "2.12", "2.15")
    persistent: bool = True
    repositories: bool = True


LUSTRE_FACTS: Mapping[tuple[LustreType, LustreStorage], LustreFacts] = {
    (LustreType.SCRATCH_1, LustreStorage.SSD): LustreFacts(
        server_gib={200: 3600},
        partial_gib=(1200, 2400),
        throughput_chosen=False,
        persistent=False,
        repositories=False,
    ),
    (LustreType.SCRATCH_2, LustreStorage.SSD): LustreFacts(
        server_gib={200: 2400}, partial_gib=(1200,), throughput_chosen=False, persistent=False
    ),
    (LustreType.PERSISTENT_1, LustreStorage.SSD): LustreFacts(
        server_gib={50: 2400, 100: 2400, 200: 2400}, partial_gib=(1200,)
    ),
    (LustreType.PERSISTENT_1, LustreStorage.HDD): LustreFacts(server_gib={12: 6000, 40: 1800}),
    (LustreType.PERSISTENT_2, LustreStorage.SSD): LustreFacts(
        server_gib={125: 2400, 250: 2400, 500: 2400, 1000: 2400},
        partial_gib=(1200,),
        efa_server_gib={125: 38400, 250: 19200, 500: 9600, 1000: 4800},
        iops=(1500, 3000, 6000, *range(12000, 192001, 12000)),
        versions=("2.12", "2.15"),
    ),
    (LustreType.PERSISTENT_2, LustreStorage.INTELLIGENT_TIERING): LustreFacts(
        throughput_chosen=False,  # it is chosen for the whole file system, in MB/s
        iops=(6000, 12000),
        versions=("2.15",),
        repositories=False,
    ),
}

METADATA_VERSION = "2.15"
"""The only Lustre version with a metadata configuration, and so with EFA."""
IOPS_OF_A_METADATA_SERVER = 12000
"""FSx provisions one metadata server for every so many metadata IOPS."""
AUTOMATIC_METADATA_IOPS = ((1200, 1500), (2400, 3000), (9600, 6000), (45600, 12000))
"""Up to this many GiB, so many metadata IOPS in the automatic mode; above, 12000 for each whole 24000 GiB."""

TIERING_SERVER_MB_S = 4000
"""Throughput of one server of an Intelligent-Tiering file system: throughput is sold by whole servers."""
TIERING_MAX_MB_S = 2_000_000
"""The most throughput that an Intelligent-Tiering file system can be given."""
TIERING_CACHE_GIB = (32, 131072)
"""Least and most read cache for every server of an Intelligent-Tiering file system."""

MAX_REPOSITORIES = 8
"""Data repository associations of one file system (``CreateDataRepositoryAssociation``)."""
REPOSITORY_VERSIONS = ("2.12", "2.15")
"""Lustre versions that take data repository associations."""
MAX_BACKUP_DAYS = 90
"""Longest retention of automatic backups."""

PERSISTENT_2_REGIONS = frozenset({
    "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ca-central-1",
    "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
})  # fmt: skip
"""Regions with every kind of PERSISTENT_2 file system."""
PERSISTENT_2_BASIC_REGIONS = frozenset({
    "ap-east-2", "ap-southeast-5", "ap-southeast-7", "ca-west-1", "il-central-1", "mx-central-1",
})  # fmt: skip
"""Regions with PERSISTENT_2 on SSD at 125 and 250 MB/s per TiB, without EFA."""
WITHOUT_SCRATCH = frozenset({"aws-cn"})
"""Partitions without SCRATCH_1 and SCRATCH_2 ("Getting Started with Amazon Web Services in China", "Amazon FSx",
https://docs.amazonaws.cn/en_us/aws/latest/userguide/fsx.md)."""
