"""Kinds of file systems, their sizes and their servers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.storage import LustreDeployment, LustreReadCache, LustreStorage, LustreType
from cdk_trainyard.storage.lustre_deployment import automatic_metadata_iops, file_server_count
from cdk_trainyard.storage.lustre_facts import LUSTRE_FACTS

P2 = LustreDeployment.persistent_2


@pytest.mark.parametrize(
    ("deployment", "deployment_type", "storage", "label"),
    [
        (LustreDeployment.scratch_1(), "SCRATCH_1", "SSD", "SCRATCH_1"),
        (LustreDeployment.scratch_2(), "SCRATCH_2", "SSD", "SCRATCH_2"),
        (LustreDeployment.persistent_1(throughput_mb_s_per_tib=100), "PERSISTENT_1", "SSD", "PERSISTENT_1"),
        (
            LustreDeployment.persistent_1_hdd(throughput_mb_s_per_tib=12),
            "PERSISTENT_1",
            "HDD",
            "PERSISTENT_1 on HDD",
        ),
        (P2(throughput_mb_s_per_tib=250), "PERSISTENT_2", "SSD", "PERSISTENT_2"),
        (
            LustreDeployment.intelligent_tiering(),
            "PERSISTENT_2",
            "INTELLIGENT_TIERING",
            "PERSISTENT_2 on INTELLIGENT_TIERING",
        ),
    ],
)
def test_each_class_method_makes_a_kind_that_exists(
    deployment: LustreDeployment, deployment_type: str, storage: str, label: str
) -> None:
    assert (deployment.type, deployment.storage, deployment.label) == (deployment_type, storage, label)
    assert deployment.facts is LUSTRE_FACTS[LustreType(deployment_type), LustreStorage(storage)]


def test_a_class_method_takes_only_what_its_kind_has() -> None:
    with pytest.raises(TypeError):
        LustreDeployment.scratch_2(throughput_mb_s_per_tib=200)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        P2(throughput_mb_s_per_tib=250, hdd_read_cache=True)  # type: ignore[call-arg]


def test_intelligent_tiering_has_a_cache_and_a_throughput_by_itself() -> None:
    tiering = LustreDeployment.intelligent_tiering()
    assert tiering.throughput_mb_s == 4000
    assert tiering.read_cache == LustreReadCache.proportional()


@pytest.mark.parametrize(
    ("deployment", "efa", "smallest", "step"),
    [
        (LustreDeployment.scratch_1(), False, 1200, 3600),
        (LustreDeployment.scratch_2(), False, 1200, 2400),
        (LustreDeployment.persistent_1(throughput_mb_s_per_tib=50), False, 1200, 2400),
        (LustreDeployment.persistent_1_hdd(throughput_mb_s_per_tib=12), False, 6000, 6000),
        (LustreDeployment.persistent_1_hdd(throughput_mb_s_per_tib=40), False, 1800, 1800),
        (LustreDeployment.persistent_1_hdd(throughput_mb_s_per_tib=13), False, None, None),
        (P2(throughput_mb_s_per_tib=250), False, 1200, 2400),
        (P2(throughput_mb_s_per_tib=251), False, 1200, 2400),
        (P2(throughput_mb_s_per_tib=125), True, 38400, 38400),
        (P2(throughput_mb_s_per_tib=250), True, 19200, 19200),
        (P2(throughput_mb_s_per_tib=500), True, 9600, 9600),
        (P2(throughput_mb_s_per_tib=1000), True, 4800, 4800),
        (P2(throughput_mb_s_per_tib=251), True, None, None),
        (LustreDeployment(type=LustreType.SCRATCH_2, storage=LustreStorage.HDD), False, None, None),
    ],
)
def test_sizes(deployment: LustreDeployment, efa: bool, smallest: int | None, step: int | None) -> None:
    assert deployment.smallest_gib(efa_enabled=efa) == smallest
    assert deployment.step_gib(efa_enabled=efa) == step


@pytest.mark.parametrize(
    ("capacity", "iops"),
    [
        (1200, 1500), (2400, 3000), (4800, 6000), (9600, 6000), (12000, 12000), (45600, 12000),
        (48000, 24000), (72000, 36000), (480000, 192000),
    ],
)  # fmt: skip
def test_automatic_metadata_iops(capacity: int, iops: int) -> None:
    assert automatic_metadata_iops(capacity) == iops


@pytest.mark.parametrize(
    ("capacity", "servers"),
    # the table "Number of file servers" of AWS's page on deployment types
    [(1200, 2), (2400, 2), (4800, 3), (9600, 5), (50400, 22)],
)
def test_servers_are_as_aws_publishes_them(capacity: int, servers: int) -> None:
    scratch = LustreDeployment.scratch_2()
    assert file_server_count(scratch, capacity_gib=capacity, efa_enabled=False, iops=None) == servers


@pytest.mark.parametrize(
    ("deployment", "capacity", "efa", "iops", "servers"),
    [
        (P2(throughput_mb_s_per_tib=250), 4800, False, 6000, 3),
        (P2(throughput_mb_s_per_tib=250), 4800, False, 192000, 18),
        (P2(throughput_mb_s_per_tib=250), 96000, False, 48000, 44),
        (P2(throughput_mb_s_per_tib=250), 96000, True, 48000, 9),
        (LustreDeployment.persistent_1_hdd(throughput_mb_s_per_tib=40), 3600, False, None, 3),
        (LustreDeployment.intelligent_tiering(throughput_mb_s=12000), None, False, 6000, 4),
        (P2(throughput_mb_s_per_tib=251), 4800, True, 6000, None),
    ],
)
def test_servers_of_every_kind(
    deployment: LustreDeployment, capacity: int | None, efa: bool, iops: int | None, servers: int | None
) -> None:
    assert file_server_count(deployment, capacity_gib=capacity, efa_enabled=efa, iops=iops) == servers


@given(st.integers(1, 400), st.integers(1, 400))
def test_more_storage_never_takes_fewer_servers(one: int, other: int) -> None:
    small, large = sorted((one, other))
    count = [
        file_server_count(
            P2(throughput_mb_s_per_tib=125),
            capacity_gib=steps * 2400,
            efa_enabled=False,
            iops=automatic_metadata_iops(steps * 2400),
        )
        for steps in (small, large)
    ]
    assert count[0] is not None
    assert count[1] is not None
    assert count[0] <= count[1]


@pytest.mark.parametrize(
    ("deployment", "capacity_gib", "mb_s"),
    [
        (P2(throughput_mb_s_per_tib=250), 4800, 1171),
        (P2(throughput_mb_s_per_tib=250), None, None),
        (LustreDeployment.scratch_2(), 2048, 400),
        (LustreDeployment.intelligent_tiering(throughput_mb_s=8000), None, 8000),
        (LustreDeployment(type=LustreType.PERSISTENT_2), 2400, None),
    ],
)
def test_throughput_is_of_the_whole_file_system(
    deployment: LustreDeployment, capacity_gib: int | None, mb_s: int | None
) -> None:
    assert deployment.provisioned_mb_s(capacity_gib) == mb_s
