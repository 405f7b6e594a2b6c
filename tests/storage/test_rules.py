# ruff: noqa: E501  the messages are the point, each on its line
"""Every rule of a file system, by its exact sentence; and silent when a value is known at deployment only."""

from typing import Any

import pytest
from aws_cdk import RemovalPolicy, Token
from aws_cdk.aws_logs import RetentionDays
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.stand_ins import DeploymentBucket, Key, Removal, Retention
from cdk_trainyard.problems import sentence
from cdk_trainyard.storage import (
    DataRepository,
    LustreBackups,
    LustreDeployment,
    LustreLogLevel,
    LustreReadCache,
    LustreStorage,
    LustreType,
    MaintenanceTime,
    RootSquash,
    Weekday,
    rules,
)
from cdk_trainyard.storage.resolve import resolve_lustre
from cdk_trainyard.storage.rules_squash import squash_warnings
from cdk_trainyard.storage.spec import ExistingLustreSpec, LustreSpec
from cdk_trainyard.tokens import Unknown

P1 = LustreDeployment.persistent_1
P2 = LustreDeployment.persistent_2
HDD = LustreDeployment.persistent_1_hdd
TIERING = LustreDeployment.intelligent_tiering
SCRATCH = LustreDeployment.scratch_2()
USUAL = P2(throughput_mb_s_per_tib=250)
NUMBER: Any = Token.as_number({"Ref": "Number"})
TEXT = Token.as_string({"Ref": "Text"})
KEY: Any = Key("arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef")
BUCKET: Any = DeploymentBucket("datasets")
LINK = DataRepository(file_system_path="/datasets", bucket=BUCKET)


def resolved(**said: Any) -> LustreSpec:
    return resolve_lustre(LustreSpec(**said))


def problems(**said: Any) -> list[str]:
    """What form and rules say together, as a constructor asks them."""
    judge = Judge(environment=Environment(region="us-west-2"))
    spec = resolve_lustre(judge.judged(LustreSpec(**said)))
    return [sentence(problem) for problem in (*judge.problems, *rules.lustre_problems(spec))]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        # kinds
        ({"deployment": P2(throughput_mb_s_per_tib=251)}, "'deployment.throughput_mb_s_per_tib' must be one of 125, 250, 500, 1000 for PERSISTENT_2, got 251; use 250"),
        ({"deployment": P2(throughput_mb_s_per_tib=100)}, "'deployment.throughput_mb_s_per_tib' must be one of 125, 250, 500, 1000 for PERSISTENT_2, got 100; use 125"),
        ({"deployment": P1(throughput_mb_s_per_tib=125)}, "'deployment.throughput_mb_s_per_tib' must be one of 50, 100, 200 for PERSISTENT_1, got 125; use 100"),
        ({"deployment": HDD(throughput_mb_s_per_tib=50)}, "'deployment.throughput_mb_s_per_tib' must be one of 12, 40 for PERSISTENT_1 on HDD, got 50; use 40"),
        ({"deployment": LustreDeployment(type=LustreType.PERSISTENT_1)}, "'deployment.throughput_mb_s_per_tib' must be one of 50, 100, 200 for PERSISTENT_1, got nothing; use 50"),
        ({"deployment": LustreDeployment(type=LustreType.SCRATCH_2, throughput_mb_s_per_tib=200)}, "'deployment.throughput_mb_s_per_tib' is fixed for SCRATCH_2, got 200; remove it"),
        ({"deployment": LustreDeployment(storage=LustreStorage.HDD, throughput_mb_s_per_tib=12)}, "'deployment.storage' must be SSD or INTELLIGENT_TIERING with 'type' PERSISTENT_2, got HDD; HDD goes with 'type' PERSISTENT_1 and 'throughput_mb_s_per_tib' 12 ('capacity_gib' 6000 or a multiple) or 40 ('capacity_gib' 1800 or a multiple)"),
        ({"deployment": LustreDeployment(hdd_read_cache=True)}, "'deployment.hdd_read_cache' is for HDD storage, got PERSISTENT_2; remove it"),
        ({"deployment": LustreDeployment(throughput_mb_s=4000)}, "'deployment.throughput_mb_s' is for INTELLIGENT_TIERING, got PERSISTENT_2; remove it"),
        ({"deployment": LustreDeployment(read_cache=LustreReadCache.none())}, "'deployment.read_cache' is for INTELLIGENT_TIERING, got PERSISTENT_2; remove it"),
        ({"deployment": TIERING(throughput_mb_s=5000)}, "'deployment.throughput_mb_s' must be a multiple of 4000 up to 2000000, got 5000; use 4000"),
        ({"deployment": TIERING(throughput_mb_s=0)}, "'deployment.throughput_mb_s' must be 1 or more, got 0"),
        ({"deployment": TIERING(throughput_mb_s=2_004_000)}, "'deployment.throughput_mb_s' must be a multiple of 4000 up to 2000000, got 2004000; use 2000000"),
        ({"deployment": TIERING(throughput_mb_s=8000, read_cache=LustreReadCache.gib(32))}, "'deployment.read_cache.size_gib' must be 64 to 262144 GiB for 8000 MB/s, got 32; use 64"),
        ({"deployment": TIERING(read_cache=LustreReadCache(mode="USER_PROVISIONED"))}, "'deployment.read_cache.size_gib' must be given with 'mode' USER_PROVISIONED, got nothing"),
        ({"deployment": TIERING(read_cache=LustreReadCache(mode="NO_CACHE", size_gib=64))}, "'deployment.read_cache.size_gib' is for USER_PROVISIONED, got 64 with NO_CACHE; remove it, or use 'mode' USER_PROVISIONED"),
        ({"deployment": LustreDeployment(storage=LustreStorage.INTELLIGENT_TIERING, throughput_mb_s_per_tib=250)}, "'deployment.throughput_mb_s_per_tib' is for SSD and HDD storage, got 250 with PERSISTENT_2 on INTELLIGENT_TIERING; use 'throughput_mb_s'"),
        # capacities
        ({"capacity_gib": 1300}, "'capacity_gib' must be 1200 or a multiple of 2400 for PERSISTENT_2, got 1300; use 1200 or 2400"),
        ({"capacity_gib": 3600}, "'capacity_gib' must be 1200 or a multiple of 2400 for PERSISTENT_2, got 3600; use 2400 or 4800"),
        ({"capacity_gib": -1}, "'capacity_gib' must be 1 GiB or more, got -1"),
        ({"deployment": LustreDeployment.scratch_1(), "capacity_gib": 4800}, "'capacity_gib' must be 1200, 2400 or a multiple of 3600 for SCRATCH_1, got 4800; use 3600 or 7200"),
        ({"deployment": HDD(throughput_mb_s_per_tib=12), "capacity_gib": 1200}, "'capacity_gib' must be a multiple of 6000 for PERSISTENT_1 on HDD at 12 MB/s per TiB, got 1200; use 6000"),
        ({"deployment": HDD(throughput_mb_s_per_tib=40), "capacity_gib": 2400}, "'capacity_gib' must be a multiple of 1800 for PERSISTENT_1 on HDD at 40 MB/s per TiB, got 2400; use 1800 or 3600"),
        ({"capacity_gib": 4800, "efa_enabled": True}, "'capacity_gib' must be a multiple of 19200 for PERSISTENT_2 with EFA at 250 MB/s per TiB, got 4800; use 19200"),
        ({"deployment": TIERING(), "capacity_gib": 1200}, "'capacity_gib' must be left out for PERSISTENT_2 on INTELLIGENT_TIERING, got 1200; storage is elastic"),
        ({"capacity_gib": 240_000_000}, "'capacity_gib' must be at most 157236000 for PERSISTENT_2, got 240000000: it takes 100016 addresses, and the largest subnet (a /16) has 65531; use several file systems"),
        ({"capacity_gib": 240_000_001, "deployment": SCRATCH}, "'capacity_gib' must be at most 157272000 for SCRATCH_2, got 240000001: it takes 100002 addresses, and the largest subnet (a /16) has 65531; use several file systems"),
        # metadata, versions, EFA
        ({"metadata_iops": 5000}, "'metadata_iops' must be 1500, 3000, 6000 or a multiple of 12000 up to 192000, got 5000; use 6000"),
        ({"metadata_iops": 204000}, "'metadata_iops' must be 1500, 3000, 6000 or a multiple of 12000 up to 192000, got 204000; use 192000"),
        ({"deployment": TIERING(), "metadata_iops": 1500}, "'metadata_iops' must be 6000 or 12000, got 1500; use 6000"),
        ({"deployment": SCRATCH, "metadata_iops": 1500}, "'metadata_iops' is for PERSISTENT_2 file systems, got 1500 with SCRATCH_2; remove it"),
        ({"metadata_iops": 6000, "lustre_version": "2.12"}, "'metadata_iops' needs Lustre 2.15, got 'lustre_version' 2.12; remove one of the two"),
        ({"lustre_version": "2.10"}, "'lustre_version' must be one of 2.12, 2.15 for PERSISTENT_2, got '2.10'; did you mean '2.15' or '2.12'?"),
        ({"deployment": TIERING(), "lustre_version": "2.12"}, "'lustre_version' must be one of 2.15 for PERSISTENT_2 on INTELLIGENT_TIERING, got '2.12'; did you mean '2.15'?"),
        ({"deployment": P1(throughput_mb_s_per_tib=200), "efa_enabled": True}, "'efa_enabled' needs a PERSISTENT_2 file system, got PERSISTENT_1"),
        ({"efa_enabled": True, "lustre_version": "2.12"}, "'efa_enabled' needs a metadata configuration and so Lustre 2.15, got 'lustre_version' 2.12; remove 'lustre_version'"),
        # backups and times
        ({"backups": LustreBackups(retention_days=91)}, "'backups.retention_days' must be 0 to 90, got 91"),
        ({"deployment": SCRATCH, "backups": LustreBackups()}, "'backups.retention_days' must be 0 for a file system that is not persistent, got 7 with SCRATCH_2"),
        ({"data_repositories": [LINK], "backups": LustreBackups()}, "'backups.retention_days' must be 0 with 'data_repositories', got 7; no backup is taken of what is linked to S3, which holds the data"),
        ({"backups": LustreBackups(hour=24)}, "'backups.hour' must be 0 to 23, got 24"),
        ({"backups": LustreBackups(minute=30)}, "'backups.minute' needs 'hour', got 30; FSx chooses the start without it"),
        ({"backups": LustreBackups(retention_days=0, hour=3)}, "'backups.hour' must be left out with 'retention_days' 0, got 3: no backup is taken"),
        ({"backups": LustreBackups(retention_days=0, minute=30)}, "'backups.minute' must be left out with 'retention_days' 0, got 30: no backup is taken"),
        ({"maintenance": MaintenanceTime(day=Weekday.SUNDAY, hour=3, minute=60)}, "'maintenance.minute' must be 0 to 59, got 60"),
        # root squash
        ({"root_squash": RootSquash(uid=0, gid=65534)}, "'root_squash.uid' must be 1 or more, got 0:65534; both are 0 to switch it off"),
        ({"root_squash": RootSquash(uid=5, gid=0)}, "'root_squash.gid' must be 1 or more, got 5:0; both are 0 to switch it off"),
        ({"root_squash": RootSquash(uid=4294967295, gid=1)}, "'root_squash.uid' must be 0 to 4294967294, got 4294967295"),
        ({"root_squash": RootSquash(uid=1, gid=1, no_squash_nids=["10.1.0.6"])}, "'root_squash.no_squash_nids[0]' must be a Lustre network id, as '10.1.0.6@tcp' or '10.1.0.[1-20]@tcp', got '10.1.0.6'"),
        ({"root_squash": RootSquash(uid=1, gid=1, no_squash_nids=[f"10.1.0.{number}@tcp" for number in range(65)])}, "'root_squash.no_squash_nids' must be at most 64 clients, got 65; use ranges, as '10.1.[2-10].[1-255]@tcp'"),
        ({"root_squash": RootSquash(uid=0, gid=0, no_squash_nids=["10.1.0.6@tcp"])}, "'root_squash.no_squash_nids' must be left out: 'uid' and 'gid' 0 leave root as it is for every client"),
        # logs
        ({"log_level": LustreLogLevel.DISABLED, "log_retention": Retention(30)}, "'log_retention' must be left out with 'log_level' DISABLED: there is no log"),
        ({"deployment": TIERING(), "log_retention": Retention(30)}, "'log_retention' must be left out: PERSISTENT_2 on INTELLIGENT_TIERING has no data repositories, whose events are logged"),
        ({"deployment": LustreDeployment.scratch_1(), "log_level": LustreLogLevel.ERROR_ONLY}, "'log_level' must be left out, or DISABLED, got ERROR_ONLY: SCRATCH_1 has no data repositories, whose events are logged"),
        # keys and removal
        ({"deployment": SCRATCH, "key": KEY}, "'key' is for persistent file systems, got one with SCRATCH_2: FSx encrypts it itself; remove it"),
        ({"removal_policy": RemovalPolicy.SNAPSHOT}, "'removal_policy' must be RETAIN, RETAIN_ON_UPDATE_OR_DELETE or DESTROY, got SNAPSHOT; use RETAIN"),
        # links
        ({"deployment": LustreDeployment.scratch_1(), "data_repositories": [LINK]}, "'data_repositories' cannot be linked to SCRATCH_1, got 1"),
        ({"deployment": TIERING(), "data_repositories": [LINK]}, "'data_repositories' cannot be linked to PERSISTENT_2 on INTELLIGENT_TIERING, got 1"),
        ({"deployment": SCRATCH, "lustre_version": "2.10", "data_repositories": [LINK]}, "'data_repositories' need Lustre 2.12 or 2.15, got 'lustre_version' 2.10; use '2.15'"),
        ({"data_repositories": [DataRepository(file_system_path=f"/d{number}", bucket=BUCKET, prefix=f"{number}") for number in range(9)]}, "'data_repositories' must be at most 8, got 9; link a common parent directory"),
    ],
)  # fmt: skip
def test_fails_what_fsx_would_refuse(said: dict[str, Any], says: str) -> None:
    assert problems(**said) == [says]


def test_a_start_without_backups_is_said_of_hour_and_minute_at_once() -> None:
    said = problems(backups=LustreBackups(retention_days=0, hour=3, minute=30))
    assert [each.split("'")[1] for each in said] == ["backups.hour", "backups.minute"]


@pytest.mark.parametrize(
    "said",
    [
        {},
        *({"deployment": kind} for kind in (LustreDeployment.scratch_1(), SCRATCH, HDD(throughput_mb_s_per_tib=12), HDD(throughput_mb_s_per_tib=40, read_cache=True))),
        *({"deployment": P1(throughput_mb_s_per_tib=throughput)} for throughput in (50, 100, 200)),
        *({"deployment": P2(throughput_mb_s_per_tib=throughput)} for throughput in (125, 250, 500, 1000)),
        {"deployment": LustreDeployment(storage=LustreStorage.INTELLIGENT_TIERING)},
        {"deployment": TIERING(throughput_mb_s=2_000_000, read_cache=LustreReadCache.none())},
        {"deployment": TIERING(throughput_mb_s=4000, read_cache=LustreReadCache.gib(131072)), "efa_enabled": True},
        {"deployment": P2(throughput_mb_s_per_tib=NUMBER)},
        {"deployment": TIERING(throughput_mb_s=NUMBER)},
        *({"metadata_iops": iops} for iops in (None, 1500, 3000, 6000, 12000, 24000, 192000, NUMBER)),
        {"deployment": SCRATCH, "lustre_version": "2.10"},
        {"lustre_version": TEXT, "efa_enabled": True},
        {"deployment": SCRATCH, "backups": LustreBackups(retention_days=0), "data_repositories": [LINK]},
        {"deployment": SCRATCH, "backups": LustreBackups(retention_days=NUMBER)},
        {"backups": LustreBackups(hour=3, minute=30)},
        {"backups": LustreBackups(hour=NUMBER, minute=30)},
        {"log_level": LustreLogLevel.DISABLED},
        {"deployment": TIERING(), "log_level": LustreLogLevel.DISABLED},
        {"log_level": LustreLogLevel.DISABLED, "log_retention": RetentionDays.ONE_WEEK},
        {"log_retention": Retention(30)},
        {"root_squash": RootSquash.disabled()},
        {"root_squash": RootSquash(uid=365534, gid=65534, no_squash_nids=["10.1.0.6@tcp", "10.1.[2-10].[1-255]@tcp", TEXT])},
        {"root_squash": RootSquash(uid=NUMBER, gid=65534)},
        {"key": KEY, "removal_policy": RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE},
        {"removal_policy": Removal("DESTROY")},
        *({"deployment": kind, "capacity_gib": NUMBER} for kind in (SCRATCH, USUAL, TIERING())),
        {"lustre_version": TEXT, "data_repositories": [LINK]},
    ],
)  # fmt: skip
def test_what_fsx_takes_and_what_is_known_at_deployment_only(said: dict[str, Any]) -> None:
    assert problems(**said) == []


@given(st.integers(1, 1000), st.sampled_from([125, 250, 500, 1000]), st.booleans())
def test_whole_servers_are_always_sold(servers: int, throughput: int, efa: bool) -> None:
    deployment = P2(throughput_mb_s_per_tib=throughput)
    step = deployment.step_gib(efa_enabled=efa)
    assert step is not None
    assert problems(deployment=deployment, capacity_gib=servers * step, efa_enabled=efa) == []


@given(st.integers(1, 100_000), st.sampled_from(["scratch_1", "scratch_2"]))
def test_what_a_message_proposes_is_sold(capacity: int, kind: str) -> None:
    deployment = getattr(LustreDeployment, kind)()
    for problem in problems(deployment=deployment, capacity_gib=capacity):
        for proposed in problem.rsplit("use ", 1)[1].split(" or "):
            assert problems(deployment=deployment, capacity_gib=int(proposed)) == []


def test_says_nothing_twice_about_a_kind_that_does_not_exist() -> None:
    nothing = LustreDeployment(type=LustreType.SCRATCH_2, storage=LustreStorage.HDD)
    found = problems(deployment=nothing, capacity_gib=1300, metadata_iops=5, lustre_version="1.0", efa_enabled=True)
    assert [problem.split("'")[1] for problem in found] == ["deployment.storage", "efa_enabled"]


@pytest.mark.parametrize("name", ["deployment", "capacity_gib", "efa_enabled", "metadata_iops", "lustre_version", "root_squash", "data_repositories", "key", "backups", "removal_policy"])  # fmt: skip
def test_what_was_written_in_a_wrong_form_is_not_answered_again(name: str) -> None:
    unknown: Any = Unknown()
    assert rules.lustre_problems(resolved(**{name: unknown})) == []


@pytest.mark.parametrize(
    ("said", "region", "says"),
    [
        ({"zone": "usw2-az1"}, "us-west-2", []),
        ({"zone": TEXT}, "us-west-2", []),
        ({}, "us-west-2", []),
        ({"zone": "use1-az1"}, "us-west-2", ["'zone' must be a zone of the stack's Region us-west-2, got 'use1-az1' of us-east-1"]),
    ],
)  # fmt: skip
def test_the_zone_of_a_file_system_that_exists(said: dict[str, Any], region: str, says: list[str]) -> None:
    spec = ExistingLustreSpec(file_system_id=TEXT, dns_name=TEXT, mount_name=TEXT, security_group_id=TEXT, **said)
    assert [sentence(problem) for problem in rules.existing_lustre_problems(spec, region)] == says


SOMEWHERE = "; check the region before deploying"


@pytest.mark.parametrize(
    ("deployment", "efa", "region", "warnings"),
    [
        (P2(throughput_mb_s_per_tib=1000), True, "us-west-2", []),
        (USUAL, False, "ca-west-1", []),
        (P2(throughput_mb_s_per_tib=500), False, "ca-west-1", [f"PERSISTENT_2 at 500 MB/s per TiB was not offered in ca-west-1 on 2026-11-20{SOMEWHERE}"]),
        (USUAL, True, "us-gov-west-1", [f"PERSISTENT_2 with EFA at 250 MB/s per TiB was not offered in us-gov-west-1 on 2026-11-20{SOMEWHERE}"]),
        (TIERING(), False, "eu-west-3", [f"PERSISTENT_2 on INTELLIGENT_TIERING was not offered in eu-west-3 on 2026-11-20{SOMEWHERE}"]),
        (SCRATCH, False, "us-gov-west-1", []),
        (SCRATCH, False, "cn-north-1", [f"SCRATCH_2 was not offered in cn-north-1 on 2026-11-20{SOMEWHERE}"]),
        (P1(throughput_mb_s_per_tib=100), False, "cn-north-1", []),
        (USUAL, True, None, []),
    ],
)  # fmt: skip
def test_warns_of_regions(deployment: LustreDeployment, efa: bool, region: str | None, warnings: list[str]) -> None:
    assert rules.region_warnings(resolved(deployment=deployment, efa_enabled=efa), region) == warnings


@pytest.mark.parametrize(
    ("changes", "least"),
    [
        ({"metadata_iops": 1500, "capacity_gib": 2400}, 3000),
        ({"metadata_iops": 12000, "capacity_gib": 48000}, 24000),
        ({"metadata_iops": 3000, "capacity_gib": 2400}, None),
        ({"metadata_iops": 1500}, None),
        ({"capacity_gib": 48000}, None),
        ({"metadata_iops": 1, "capacity_gib": 2400}, None),
        ({"metadata_iops": NUMBER, "capacity_gib": 2400}, None),
        ({"metadata_iops": 1500, "capacity_gib": NUMBER}, None),
        ({"deployment": TIERING()}, None),
    ],
)
def test_fewer_metadata_iops_than_fsx_has_by_itself_are_said(changes: dict[str, Any], least: int | None) -> None:
    said = [text.rpartition("; ")[2] for text in rules.metadata_warnings(resolved(**changes))]
    assert said == [f"leave 'metadata_iops' out, or use {least}"] * bool(least)


@pytest.mark.parametrize("nids", [[], ["10.1.0.[4-20]@tcp", "192.168.0.4@tcp"], ["10.1.127.[0-255]@tcp"]])
def test_root_that_is_squashed_on_every_node_is_warned_about(nids: list[str]) -> None:
    squash = RootSquash(uid=365534, gid=65534, no_squash_nids=nids)
    (said,) = squash_warnings(squash, "10.1.128.0/17")
    assert "exempt some in 'no_squash_nids', as '10.1.[128-255].[0-255]@tcp'" in said


@pytest.mark.parametrize("cidr", [None, TEXT])
def test_of_a_subnet_whose_block_is_not_known_a_squash_without_exceptions_is_warned_about(cidr: str | None) -> None:
    (said,) = squash_warnings(RootSquash(uid=365534, gid=65534), cidr)
    assert said == (
        "root of every node is squashed, and what sets nodes up writes to a new file system as root; exempt some in "
        "'no_squash_nids', as '10.1.0.[1-20]@tcp', or open the file system before"
    )
    for taken in (None, RootSquash.disabled(), RootSquash(uid=1, gid=1, no_squash_nids=["192.168.0.4@tcp"])):
        assert squash_warnings(taken, cidr) == []


@pytest.mark.parametrize(
    "squash",
    [
        None,
        RootSquash.disabled(),
        RootSquash(uid=1, gid=1, no_squash_nids=["10.1.0.6@tcp", "10.1.200.7@tcp"]),
        RootSquash(uid=1, gid=1, no_squash_nids=["[9-11].1.[0-255].[1-255]@tcp"]),
        RootSquash(uid=1, gid=1, no_squash_nids=[TEXT]),
        RootSquash(uid=NUMBER, gid=1),
    ],
)
def test_root_that_stays_on_some_nodes_is_not(squash: RootSquash | None) -> None:
    assert squash_warnings(squash, "10.1.128.0/17") == []
