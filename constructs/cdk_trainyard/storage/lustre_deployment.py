"""Kinds of FSx for Lustre file systems as values: each kind takes only what it has."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated

from cdk_trainyard.options.fields import Said
from cdk_trainyard.options.kinds import Choice, Number
from cdk_trainyard.storage.lustre_facts import (
    AUTOMATIC_METADATA_IOPS,
    IOPS_OF_A_METADATA_SERVER,
    LUSTRE_FACTS,
    TIERING_CACHE_GIB,
    TIERING_SERVER_MB_S,
    LustreFacts,
    LustreStorage,
    LustreType,
)

_USUAL_MB_S_PER_TIB = 250
USER_PROVISIONED = "USER_PROVISIONED"
"""The mode of a read cache whose size is said."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreReadCache:
    """SSD read cache of an INTELLIGENT_TIERING file system. Make one with the class methods."""

    mode: Annotated[str, Choice(values=("NO_CACHE", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY", USER_PROVISIONED))]
    """Sizing mode, as FSx names it."""
    size_gib: Annotated[int | None, Number(minimum=TIERING_CACHE_GIB[0], unit="GiB")] = None
    """Size in GiB, for ``USER_PROVISIONED``, which must say it: 32 to 131072 for every 4000 MB/s. Default - FSx
    decides."""

    @classmethod
    def none(cls) -> "LustreReadCache":
        """No read cache."""
        return cls(mode="NO_CACHE")

    @classmethod
    def proportional(cls) -> "LustreReadCache":
        """A cache that FSx sizes by the throughput."""
        return cls(mode="PROPORTIONAL_TO_THROUGHPUT_CAPACITY")

    @classmethod
    def gib(cls, size_gib: int) -> "LustreReadCache":
        """A cache of ``size_gib`` GiB: 32 to 131072 for every 4000 MB/s."""
        return cls(mode=USER_PROVISIONED, size_gib=size_gib)

    @property
    def sized(self) -> bool:
        """Whether its size is said."""
        return self.mode == USER_PROVISIONED


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreDeployment:
    """The kind of a file system: deployment type, storage class and throughput together.

    Make one with the class methods: each takes only what its kind has. The numbers are checked by the construct that
    takes the value, together with everything else.
    """

    type: Annotated[LustreType, Said("deployment")] = LustreType.PERSISTENT_2
    """Deployment type; another one is another, empty file system. Default: PERSISTENT_2."""
    storage: LustreStorage = LustreStorage.SSD
    """Storage class. Default: SSD."""
    throughput_mb_s_per_tib: Annotated[int | None, Number(minimum=1)] = None
    """Throughput in MB/s for each TiB of storage. Default - 250 for PERSISTENT_2 on SSD; other kinds that have a choice
    must say it."""
    throughput_mb_s: Annotated[int | None, Number(minimum=1)] = None
    """Throughput in MB/s of the whole file system, for INTELLIGENT_TIERING only. Default - 4000 there."""
    read_cache: LustreReadCache | None = None
    """SSD read cache, for INTELLIGENT_TIERING only. Default - sized by FSx in proportion to the throughput."""
    hdd_read_cache: bool = False
    """Whether HDD storage has an SSD read cache of a fifth of it. Default: false."""

    @classmethod
    def scratch_1(cls) -> "LustreDeployment":
        """First-generation scratch: nothing is replicated, no encryption in transit, no data repositories."""
        return cls(type=LustreType.SCRATCH_1)

    @classmethod
    def scratch_2(cls) -> "LustreDeployment":
        """Scratch: nothing is replicated, a failed server takes its files along. 200 MB/s per TiB, bursts to 1300."""
        return cls(type=LustreType.SCRATCH_2)

    @classmethod
    def persistent_1(cls, *, throughput_mb_s_per_tib: int) -> "LustreDeployment":
        """First-generation persistent storage on SSD: 50, 100 or 200 MB/s per TiB."""
        return cls(type=LustreType.PERSISTENT_1, throughput_mb_s_per_tib=throughput_mb_s_per_tib)

    @classmethod
    def persistent_1_hdd(cls, *, throughput_mb_s_per_tib: int, read_cache: bool = False) -> "LustreDeployment":
        """Persistent storage on HDD: 12 or 40 MB/s per TiB, with an SSD read cache of 20 % of it if wanted."""
        return cls(
            type=LustreType.PERSISTENT_1,
            storage=LustreStorage.HDD,
            throughput_mb_s_per_tib=throughput_mb_s_per_tib,
            hdd_read_cache=read_cache,
        )

    @classmethod
    def persistent_2(cls, *, throughput_mb_s_per_tib: int) -> "LustreDeployment":
        """Persistent storage on SSD, the one for training: 125, 250, 500 or 1000 MB/s per TiB; EFA is possible."""
        return cls(type=LustreType.PERSISTENT_2, throughput_mb_s_per_tib=throughput_mb_s_per_tib)

    @classmethod
    def intelligent_tiering(
        cls, *, throughput_mb_s: int = TIERING_SERVER_MB_S, read_cache: LustreReadCache | None = None
    ) -> "LustreDeployment":
        """Elastic storage over several zones, paid by what is stored; EFA is possible, data repositories are not.

        Args:
            throughput_mb_s: Throughput of the file system in MB/s, a multiple of 4000.
            read_cache: The SSD read cache.
                Default - sized by FSx in proportion to the throughput.
        """
        return cls(
            type=LustreType.PERSISTENT_2,
            storage=LustreStorage.INTELLIGENT_TIERING,
            throughput_mb_s=throughput_mb_s,
            read_cache=read_cache or LustreReadCache.proportional(),
        )

    def resolved(self) -> "LustreDeployment":
        """Return it with the throughput and the cache that its kind has unless told otherwise."""
        if self.tiering:
            cache = self.read_cache or LustreReadCache.proportional()
            throughput = TIERING_SERVER_MB_S if self.throughput_mb_s is None else self.throughput_mb_s
            return replace(self, throughput_mb_s=throughput, read_cache=cache)
        if self.throughput_mb_s_per_tib is None and self.label == LustreType.PERSISTENT_2:
            return replace(self, throughput_mb_s_per_tib=_USUAL_MB_S_PER_TIB)
        return self

    @property
    def facts(self) -> LustreFacts | None:
        """What FSx allows for this kind; None when there is no such kind."""
        return LUSTRE_FACTS.get((self.type, self.storage))

    @property
    def tiering(self) -> bool:
        """Whether the storage is elastic: it has no capacity."""
        return self.storage == LustreStorage.INTELLIGENT_TIERING

    @property
    def label(self) -> str:
        """The kind in AWS's words, as messages say it: ``PERSISTENT_1 on HDD``."""
        return str(self.type) if self.storage == LustreStorage.SSD else f"{self.type} on {self.storage}"

    def step_gib(self, *, efa_enabled: bool = False) -> int | None:
        """Return what the capacity grows by, in GiB; None when that depends on a throughput that does not exist."""
        if self.facts is None:
            return None
        steps = self.facts.efa_server_gib if efa_enabled else self.facts.server_gib
        distinct = set(steps.values())
        return distinct.pop() if len(distinct) == 1 else steps.get(self.throughput_mb_s_per_tib or 0)

    def provisioned_mb_s(self, capacity_gib: int | None) -> int | None:
        """Return the throughput of a file system in MB/s; None when it depends on what is not said.

        Args:
            capacity_gib: Its capacity in GiB; None for Intelligent-Tiering.
        """
        if self.tiering:
            return self.throughput_mb_s
        of_type = [*self.facts.server_gib] if self.facts and not self.facts.throughput_chosen else []
        per_tib = self.throughput_mb_s_per_tib or next(iter(of_type), None)
        return None if capacity_gib is None or per_tib is None else per_tib * capacity_gib // 1024

    def smallest_gib(self, *, efa_enabled: bool = False) -> int | None:
        """Return the smallest capacity of this kind in GiB; None when it has no capacity."""
        partial = () if efa_enabled or self.facts is None else self.facts.partial_gib
        return min(partial, default=self.step_gib(efa_enabled=efa_enabled))


def automatic_metadata_iops(capacity_gib: int) -> int:
    """Return the metadata IOPS that FSx provisions by itself for ``capacity_gib`` GiB of SSD storage."""
    for limit, iops in AUTOMATIC_METADATA_IOPS:
        if capacity_gib <= limit:
            return iops
    return min(12000 * (capacity_gib // 24000), 192000)


def file_server_count(
    deployment: LustreDeployment, *, capacity_gib: int | None, efa_enabled: bool, iops: int | None
) -> int | None:
    """Return how many addresses a file system takes in its subnet: one for each storage and each metadata server.

    Source: "IP addresses for file systems" of
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html

    Args:
        deployment: The kind of file system.
        capacity_gib: Its capacity in GiB; None for Intelligent-Tiering.
        efa_enabled: Whether clients reach it over EFA: its servers are larger then.
        iops: Its metadata IOPS; None without a metadata configuration.
    """
    if deployment.tiering:
        storage = ceil((deployment.throughput_mb_s or 0) / TIERING_SERVER_MB_S)
    else:
        step = deployment.step_gib(efa_enabled=efa_enabled)
        if capacity_gib is None or step is None:
            return None
        storage = ceil(capacity_gib / step)
    return storage + max(1, ceil((iops or 0) / IOPS_OF_A_METADATA_SERVER))
