"""Every rule of a file system, by its exact sentence; and silent when a value is known at deployment only."""

import pytest
from aws_cdk import App, CfnParameter, RemovalPolicy, Stack, Token
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.storage import (
    LustreBackups,
    LustreDeployment,
    LustreReadCache,
    LustreStorage,
    LustreType,
    MaintenanceTime,
    RootSquash,
    Weekday,
    rules,
)

P1 = LustreDeployment.persistent_1
P2 = LustreDeployment.persistent_2
HDD = LustreDeployment.persistent_1_hdd
TIERING = LustreDeployment.intelligent_tiering
SCRATCH = LustreDeployment.scratch_2()
NUMBER = Token.as_number({"Ref": "Number"})
TEXT = Token.as_string({"Ref": "Text"})


@pytest.mark.parametrize(
    ("deployment", "problem"),
    [
        (
            P2(throughput_mb_s_per_tib=251),
            "'throughput_mb_s_per_tib' must be one of 125, 250, 500, 1000 for PERSISTENT_2, got 251; use 250",
        ),
        (
            P2(throughput_mb_s_per_tib=100),
            "'throughput_mb_s_per_tib' must be one of 125, 250, 500, 1000 for PERSISTENT_2, got 100; use 125",
        ),
        (
            P1(throughput_mb_s_per_tib=125),
            "'throughput_mb_s_per_tib' must be one of 50, 100, 200 for PERSISTENT_1, got 125; use 100",
        ),
        (
            HDD(throughput_mb_s_per_tib=50),
            "'throughput_mb_s_per_tib' must be one of 12, 40 for PERSISTENT_1 on HDD, got 50; use 40",
        ),
        (
            LustreDeployment(type=LustreType.PERSISTENT_2),
            "'throughput_mb_s_per_tib' must be one of 125, 250, 500, 1000 for PERSISTENT_2, got None; use 125",
        ),
        (
            LustreDeployment(type=LustreType.SCRATCH_2, throughput_mb_s_per_tib=200),
            "'throughput_mb_s_per_tib' is fixed for SCRATCH_2, got 200; remove it",
        ),
        (
            LustreDeployment(type=LustreType.PERSISTENT_2, storage=LustreStorage.HDD, throughput_mb_s_per_tib=12),
            (
                "'deployment' must be one of PERSISTENT_1 on HDD, PERSISTENT_1 on SSD, PERSISTENT_2 on "
                "INTELLIGENT_TIERING, PERSISTENT_2 on SSD, SCRATCH_1 on SSD, SCRATCH_2 on SSD, "
                "got PERSISTENT_2 on HDD; make it with a class method of LustreDeployment"
            ),
        ),
        (
            LustreDeployment(type=LustreType.PERSISTENT_2, throughput_mb_s_per_tib=250, hdd_read_cache=True),
            "'hdd_read_cache' is for HDD storage, got PERSISTENT_2; remove it",
        ),
        (
            LustreDeployment(type=LustreType.PERSISTENT_2, throughput_mb_s_per_tib=250, throughput_mb_s=4000),
            (
                "'throughput_mb_s' and 'read_cache' are for Intelligent-Tiering, got PERSISTENT_2; "
                "use LustreDeployment.intelligent_tiering"
            ),
        ),
        (
            TIERING(throughput_mb_s=5000),
            "'throughput_mb_s' must be a multiple of 4000 up to 2000000, got 5000; use 4000",
        ),
        (TIERING(throughput_mb_s=0), "'throughput_mb_s' must be a multiple of 4000 up to 2000000, got 0; use 4000"),
        (
            TIERING(throughput_mb_s=2_004_000),
            "'throughput_mb_s' must be a multiple of 4000 up to 2000000, got 2004000; use 2000000",
        ),
        (
            TIERING(throughput_mb_s=8000, read_cache=LustreReadCache.gib(32)),
            "'read_cache' must be 64 to 262144 GiB for 8000 MB/s, got 32; use LustreReadCache.gib(64)",
        ),
        (
            LustreDeployment(
                type=LustreType.PERSISTENT_2, storage=LustreStorage.INTELLIGENT_TIERING, throughput_mb_s=4000
            ),
            "'read_cache' is required for PERSISTENT_2 on INTELLIGENT_TIERING; use LustreReadCache.proportional()",
        ),
        (
            LustreDeployment(
                type=LustreType.PERSISTENT_2,
                storage=LustreStorage.INTELLIGENT_TIERING,
                throughput_mb_s=4000,
                throughput_mb_s_per_tib=250,
                read_cache=LustreReadCache.none(),
            ),
            (
                "'throughput_mb_s_per_tib' is for SSD and HDD storage, "
                "got 250 with PERSISTENT_2 on INTELLIGENT_TIERING; use 'throughput_mb_s'"
            ),
        ),
    ],
)
def test_fails_kinds_that_do_not_exist(deployment: LustreDeployment, problem: str) -> None:
    assert rules.deployment_problems(deployment) == [problem]


@pytest.mark.parametrize(
    "deployment",
    [
        LustreDeployment.scratch_1(),
        SCRATCH,
        *(P1(throughput_mb_s_per_tib=throughput) for throughput in (50, 100, 200)),
        *(P2(throughput_mb_s_per_tib=throughput) for throughput in (125, 250, 500, 1000)),
        HDD(throughput_mb_s_per_tib=12),
        HDD(throughput_mb_s_per_tib=40, read_cache=True),
        TIERING(throughput_mb_s=2_000_000, read_cache=LustreReadCache.none()),
        TIERING(throughput_mb_s=4000, read_cache=LustreReadCache.gib(131072)),
        P2(throughput_mb_s_per_tib=NUMBER),  # type: ignore[arg-type]
        TIERING(throughput_mb_s=NUMBER),  # type: ignore[arg-type]
    ],
)
def test_kinds_that_exist(deployment: LustreDeployment) -> None:
    assert rules.deployment_problems(deployment) == []


@pytest.mark.parametrize(
    ("deployment", "efa", "capacity", "problem"),
    [
        (
            P2(throughput_mb_s_per_tib=250),
            False,
            1300,
            "'capacity_gib' must be 1200 or a multiple of 2400 for PERSISTENT_2, got 1300; use 1200 or 2400",
        ),
        (
            P2(throughput_mb_s_per_tib=250),
            False,
            3600,
            "'capacity_gib' must be 1200 or a multiple of 2400 for PERSISTENT_2, got 3600; use 2400 or 4800",
        ),
        (
            SCRATCH,
            False,
            -1,
            "'capacity_gib' must be 1200 or a multiple of 2400 for SCRATCH_2, got -1; use 1200",
        ),
        (
            LustreDeployment.scratch_1(),
            False,
            4800,
            "'capacity_gib' must be 1200, 2400 or a multiple of 3600 for SCRATCH_1, got 4800; use 3600 or 7200",
        ),
        (
            HDD(throughput_mb_s_per_tib=12),
            False,
            1200,
            "'capacity_gib' must be a multiple of 6000 for PERSISTENT_1 on HDD at 12 MB/s per TiB, got 1200; use 6000",
        ),
        (
            HDD(throughput_mb_s_per_tib=40),
            False,
            2400,
            (
                "'capacity_gib' must be a multiple of 1800 for PERSISTENT_1 on HDD at 40 MB/s per TiB, got 2400; "
                "use 1800 or 3600"
            ),
        ),
        (
            P2(throughput_mb_s_per_tib=250),
            True,
            4800,
            (
                "'capacity_gib' must be a multiple of 19200 for PERSISTENT_2 with EFA at 250 MB/s per TiB, got 4800; "
                "use 19200"
            ),
        ),
        (
            TIERING(),
            False,
            1200,
            "'capacity_gib' must not be given for PERSISTENT_2 on INTELLIGENT_TIERING, got 1200; storage is elastic",
        ),
    ],
)
def test_fails_capacities_that_are_not_sold(
    deployment: LustreDeployment, efa: bool, capacity: int, problem: str
) -> None:
    assert rules.capacity_problems(deployment, capacity, efa_enabled=efa) == [problem]


@given(st.integers(1, 1000), st.sampled_from([125, 250, 500, 1000]), st.booleans())
def test_whole_servers_are_always_sold(servers: int, throughput: int, efa: bool) -> None:
    deployment = P2(throughput_mb_s_per_tib=throughput)
    step = deployment.step_gib(efa_enabled=efa)
    assert step is not None
    assert rules.capacity_problems(deployment, servers * step, efa_enabled=efa) == []


@given(st.integers(-5000, 100_000), st.sampled_from(["scratch_1", "scratch_2"]))
def test_what_a_message_proposes_is_sold(capacity: int, kind: str) -> None:
    deployment = getattr(LustreDeployment, kind)()
    for problem in rules.capacity_problems(deployment, capacity):
        for proposed in problem.rsplit("use ", 1)[1].split(" or "):
            assert rules.capacity_problems(deployment, int(proposed)) == []


@pytest.mark.parametrize(
    ("deployment", "iops", "version", "problem"),
    [
        (
            P2(throughput_mb_s_per_tib=250),
            5000,
            "2.15",
            "'metadata_iops' must be 1500, 3000, 6000 or a multiple of 12000 up to 192000, got 5000; use 6000",
        ),
        (
            P2(throughput_mb_s_per_tib=250),
            204000,
            "2.15",
            "'metadata_iops' must be 1500, 3000, 6000 or a multiple of 12000 up to 192000, got 204000; use 192000",
        ),
        (TIERING(), 1500, "2.15", "'metadata_iops' must be 6000 or 12000, got 1500; use 6000"),
        (
            SCRATCH,
            1500,
            "2.15",
            (
                "'metadata_iops' is for PERSISTENT_2 file systems, got 1500 with SCRATCH_2; "
                "remove it or use LustreDeployment.persistent_2"
            ),
        ),
        (
            P2(throughput_mb_s_per_tib=250),
            6000,
            "2.12",
            "'metadata_iops' needs Lustre 2.15, got 'lustre_version' 2.12; remove one of the two",
        ),
    ],
)
def test_fails_metadata_iops(deployment: LustreDeployment, iops: int, version: str, problem: str) -> None:
    assert rules.metadata_problems(deployment, iops, version) == [problem]


@pytest.mark.parametrize("iops", [None, 1500, 3000, 6000, 12000, 24000, 192000, NUMBER])
def test_metadata_iops(iops: int | None) -> None:
    assert rules.metadata_problems(P2(throughput_mb_s_per_tib=250), iops, "2.15") == []


def test_fails_a_version_the_type_does_not_run() -> None:
    assert rules.version_problems(P2(throughput_mb_s_per_tib=250), "2.10") == [
        "'lustre_version' must be one of 2.12, 2.15 for PERSISTENT_2, got '2.10'; did you mean '2.15' or '2.12'?"
    ]
    assert rules.version_problems(SCRATCH, "2.10") == []
    assert rules.version_problems(SCRATCH, TEXT) == []


def test_fails_efa_without_its_conditions() -> None:
    assert rules.efa_problems(P1(throughput_mb_s_per_tib=200), "2.12", efa_enabled=True) == [
        (
            "'efa_enabled' needs a PERSISTENT_2 file system, got PERSISTENT_1; "
            "use LustreDeployment.persistent_2 or .intelligent_tiering"
        ),
        (
            "'efa_enabled' needs a metadata configuration and so Lustre 2.15, got 'lustre_version' 2.12; "
            "remove 'lustre_version'"
        ),
    ]
    assert rules.efa_problems(P1(throughput_mb_s_per_tib=200), "2.12", efa_enabled=False) == []
    assert rules.efa_problems(TIERING(), "2.15", efa_enabled=True) == []
    assert rules.efa_problems(P2(throughput_mb_s_per_tib=250), TEXT, efa_enabled=True) == []


@pytest.mark.parametrize(
    ("deployment", "backups", "linked", "problem"),
    [
        (
            P2(throughput_mb_s_per_tib=250),
            LustreBackups(retention_days=91),
            False,
            "'backups' must be kept 0 to 90 days, got 91; use 90",
        ),
        (
            SCRATCH,
            LustreBackups(),
            False,
            (
                "'backups' are for persistent file systems, got 7 days with SCRATCH_2; "
                "remove them or use LustreDeployment.persistent_2"
            ),
        ),
        (
            P2(throughput_mb_s_per_tib=250),
            LustreBackups(),
            True,
            (
                "'backups' cannot be taken of a file system with 'data_repositories', got 7 days; "
                "remove one of the two: S3 holds the data"
            ),
        ),
        (
            P2(throughput_mb_s_per_tib=250),
            LustreBackups(hour=24),
            False,
            "'backups' must start at hour 0 to 23, minute 0 to 59 (UTC), got 24:00",
        ),
    ],
)
def test_fails_backups(deployment: LustreDeployment, backups: LustreBackups, linked: bool, problem: str) -> None:
    assert rules.backup_problems(deployment, backups, linked=linked) == [problem]


def test_backups() -> None:
    assert rules.backup_problems(SCRATCH, None, linked=True) == []
    assert rules.backup_problems(SCRATCH, LustreBackups(retention_days=0), linked=True) == []
    days = Token.as_number({"Ref": "Days"})
    assert rules.backup_problems(SCRATCH, LustreBackups(retention_days=days), linked=True) == []  # type: ignore[arg-type]


def test_fails_a_maintenance_time_that_is_no_time() -> None:
    time = MaintenanceTime(day=Weekday.SUNDAY, hour=3, minute=60)
    assert rules.maintenance_problems(time) == [
        "'maintenance' must start at hour 0 to 23, minute 0 to 59 (UTC), got 3:60"
    ]
    assert rules.maintenance_problems(None) == []


@pytest.mark.parametrize(
    ("root_squash", "problem"),
    [
        (
            RootSquash(uid=0, gid=65534),
            (
                "'root_squash' must have a uid and a gid of 1 to 4294967294, got 0:65534; "
                "use RootSquash.disabled() to switch it off"
            ),
        ),
        (
            RootSquash(uid=4294967295, gid=1),
            (
                "'root_squash' must have a uid and a gid of 1 to 4294967294, got 4294967295:1; "
                "use RootSquash.disabled() to switch it off"
            ),
        ),
        (
            RootSquash(uid=1, gid=1, no_squash_nids=("10.1.0.6",)),
            (
                "'root_squash' exempts clients by Lustre network id, got '10.1.0.6'; "
                "write '10.1.0.6@tcp' or '10.1.0.[1-20]@tcp'"
            ),
        ),
        (
            RootSquash(uid=1, gid=1, no_squash_nids=tuple(f"10.1.0.{number}@tcp" for number in range(65))),
            "'root_squash' exempts at most 64 clients, got 65; use ranges, as '10.1.[2-10].[1-255]@tcp'",
        ),
    ],
)
def test_fails_a_malformed_root_squash(root_squash: RootSquash, problem: str) -> None:
    assert rules.root_squash_problems(root_squash) == [problem]


@pytest.mark.parametrize(
    "root_squash",
    [
        None,
        RootSquash.disabled(),
        RootSquash(uid=365534, gid=65534, no_squash_nids=("10.1.0.6@tcp", "10.1.[2-10].[1-255]@tcp", TEXT)),
        RootSquash(uid=NUMBER, gid=65534),  # type: ignore[arg-type]
    ],
)
def test_root_squash(root_squash: RootSquash | None) -> None:
    assert rules.root_squash_problems(root_squash) == []


def test_fails_without_a_place() -> None:
    assert rules.place_problems(network_given=False, subnet_given=False, efa_group=False) == [
        "'network' or 'subnet' is required: a file system stands in one subnet, that of the nodes",
        (
            "'security_group' must be an EfaSecurityGroup: FSx refuses a group without the rules to itself; "
            "wrap yours with EfaSecurityGroup.from_security_group"
        ),
    ]
    assert rules.place_problems(network_given=True, subnet_given=True, efa_group=True) == []


@pytest.mark.parametrize(
    ("arn", "region", "problems"),
    [
        (
            "arn:aws:kms:us-east-1:111111111111:key/1",
            "us-west-2",
            [
                (
                    "'key' must be in us-west-2, got arn:aws:kms:us-east-1:111111111111:key/1 in us-east-1; "
                    "use a key or a replica in us-west-2"
                )
            ],
        ),
        ("arn:aws-cn:kms:cn-north-1:111111111111:key/1", "cn-north-1", []),
        ("arn:aws:kms:us-east-1:111111111111:key/1", TEXT, []),
        (TEXT, "us-west-2", []),
        ("no-arn", "us-west-2", []),
        (None, "us-west-2", []),
    ],
)
def test_fails_a_key_of_another_region(arn: str | None, region: str, problems: list[str]) -> None:
    assert rules.key_problems(arn, region) == problems


def test_fails_a_key_for_scratch() -> None:
    assert rules.file_system_key_problems(SCRATCH, key_given=True) == [
        "'key' is for persistent file systems, got one with SCRATCH_2: FSx encrypts it itself; remove it"
    ]
    assert rules.file_system_key_problems(SCRATCH, key_given=False) == []
    assert rules.file_system_key_problems(TIERING(), key_given=True) == []


def test_fails_a_snapshot_instead_of_a_file_system() -> None:
    assert rules.removal_problems(RemovalPolicy.SNAPSHOT) == [
        "'removal_policy' must be RETAIN, RETAIN_ON_UPDATE_OR_DELETE or DESTROY, got SNAPSHOT; use RETAIN"
    ]
    assert rules.removal_problems(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE) == []


def test_fails_attributes_of_something_else() -> None:
    assert rules.attribute_problems(file_system_id="fs-1", dns_name="lustre", mount_name="toolongname") == [
        "'file_system_id' must look like fs-0123456789abcdef0, got 'fs-1'; copy it from the FSx console",
        (
            "'dns_name' must look like fs-0123456789abcdef0.fsx.<region>.<suffix>, got 'lustre'; "
            "copy it from the FSx console"
        ),
        (
            "'mount_name' must look like 1 to 8 letters, digits, '_' or '-', got 'toolongname'; "
            "copy it from the FSx console"
        ),
    ]
    assert rules.attribute_problems(file_system_id=TEXT, dns_name=TEXT, mount_name=TEXT) == []


@pytest.mark.parametrize(
    ("deployment", "efa", "region", "warnings"),
    [
        (P2(throughput_mb_s_per_tib=1000), True, "us-west-2", []),
        (P2(throughput_mb_s_per_tib=250), False, "ca-west-1", []),
        (
            P2(throughput_mb_s_per_tib=500),
            False,
            "ca-west-1",
            [
                (
                    "PERSISTENT_2 at 500 MB/s per TiB was not offered in ca-west-1 on 2026-11-20; "
                    "check the region before deploying"
                )
            ],
        ),
        (
            P2(throughput_mb_s_per_tib=250),
            True,
            "us-gov-west-1",
            [
                (
                    "PERSISTENT_2 with EFA at 250 MB/s per TiB was not offered in us-gov-west-1 on 2026-11-20; "
                    "check the region before deploying"
                )
            ],
        ),
        (
            TIERING(),
            False,
            "eu-west-3",
            [
                (
                    "PERSISTENT_2 on INTELLIGENT_TIERING was not offered in eu-west-3 on 2026-11-20; "
                    "check the region before deploying"
                )
            ],
        ),
        (SCRATCH, False, "us-gov-west-1", []),
        (P2(throughput_mb_s_per_tib=250), True, TEXT, []),
    ],
)
def test_warns_of_regions(deployment: LustreDeployment, efa: bool, region: str, warnings: list[str]) -> None:
    assert rules.region_warnings(deployment, region, efa_enabled=efa) == warnings


def test_says_nothing_about_tokens() -> None:
    number = CfnParameter(Stack(App(), "Stack"), "Capacity", type="Number").value_as_number
    for deployment in (SCRATCH, P2(throughput_mb_s_per_tib=250), TIERING()):
        assert rules.capacity_problems(deployment, number) == []  # type: ignore[arg-type]


def test_says_nothing_twice_about_a_kind_that_does_not_exist() -> None:
    nothing = LustreDeployment(type=LustreType.SCRATCH_2, storage=LustreStorage.HDD)
    assert rules.capacity_problems(nothing, 1300) == []
    assert rules.metadata_problems(nothing, 5, "2.15") == []
    assert rules.version_problems(nothing, "1.0") == []
    assert rules.efa_problems(nothing, "2.15", efa_enabled=True) == []
