"""The small values, as FSx reads them."""

import pytest

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.storage import LustreBackups, LustreReadCache, MaintenanceTime, RootSquash, Weekday
from cdk_trainyard.storage.file_system_name import FileSystemDnsName


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (MaintenanceTime(day=Weekday.MONDAY, hour=0), "1:00:00"),
        (MaintenanceTime(day=Weekday.SUNDAY, hour=3, minute=5), "7:03:05"),
    ],
)
def test_maintenance_counts_days_from_monday(time: MaintenanceTime, text: str) -> None:
    assert time.text == text


def test_a_backup_starts_when_it_is_told_or_when_fsx_likes() -> None:
    assert LustreBackups().start is None
    assert LustreBackups(hour=4, minute=30).start == "04:30"


def test_root_squash_is_written_as_uid_and_gid() -> None:
    assert RootSquash(uid=365534, gid=65534).text == "365534:65534"
    assert RootSquash.disabled().text == "0:0"


def test_a_read_cache_has_a_size_only_when_it_is_chosen() -> None:
    assert LustreReadCache.none() == LustreReadCache(mode="NO_CACHE")
    assert LustreReadCache.proportional() == LustreReadCache(mode="PROPORTIONAL_TO_THROUGHPUT_CAPACITY")
    assert LustreReadCache.gib(64) == LustreReadCache(mode="USER_PROVISIONED", size_gib=64)


@pytest.mark.parametrize(
    ("region", "domain"),
    [("us-west-2", "us-west-2.amazonaws.com"), ("cn-north-1", "cn-north-1.amazonaws.com.cn")],
)
def test_a_dns_name_is_shown_as_the_region_has_them(region: str, domain: str) -> None:
    example = f"fs-0123456789abcdef0.fsx.{domain}"
    said = FileSystemDnsName().problem("lustre", Environment(region=region))
    assert str(said) == f"must be the DNS name that the FSx console shows, as {example}, got 'lustre'"
    assert FileSystemDnsName().problem(example, Environment(region=region)) is None


@pytest.mark.parametrize("region", ["us-west-2", None])
@pytest.mark.parametrize(
    ("domain", "refused"),
    [
        ("fsx.amazonaws.com", True),
        ("us-west-2.fsx.amazonaws.com", True),
        ("s3.us-west-2.amazonaws.com", True),
        ("fsx.us-west-2.AmazonAWS.com", False),
        ("fsx.us-west-2.api.aws", False),
        ("storage.example.com", False),
    ],
)
def test_in_the_domain_of_aws_a_name_is_as_fsx_makes_them(region: str | None, domain: str, *, refused: bool) -> None:
    value = f"fs-0123456789abcdef0.{domain}"
    said = str(FileSystemDnsName().problem(value, Environment(region=region)))
    assert said.startswith("must be the DNS name that the FSx console shows, as fs-0123456789abcdef0.fsx.") is refused
    assert said.endswith(f"got '{value}'") is refused
