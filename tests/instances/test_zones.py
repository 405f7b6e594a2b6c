import pytest
from aws_cdk import Aws, Fn
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.data_files import load
from cdk_trainyard.instances import is_zone_id, zone_ids, zone_region
from cdk_trainyard.instances.zones import decode_zones, differ

REGIONS = sorted(load("instances", "zones")["regions"])

ZONES = [
    ("us-east-1a", "us-east-1"),
    ("ap-southeast-4c", "ap-southeast-4"),
    ("us-gov-west-1b", "us-gov-west-1"),
    ("cn-northwest-1a", "cn-northwest-1"),
    ("eusc-de-east-1a", "eusc-de-east-1"),
    ("us-west-2-lax-1a", "us-west-2"),
    ("us-east-1-dfw-2a", "us-east-1"),
    ("us-east-1-wl1-bos-wlz-1", "us-east-1"),
]
IDS = [
    ("use1-az4", "us-east-1"),
    ("apne1-az1", "ap-northeast-1"),
    ("usgw1-az1", "us-gov-west-1"),
    ("cnnw1-az3", "cn-northwest-1"),
    ("usw2-lax1-az1", "us-west-2"),
    ("use1-wl1-bos-wlz1", "us-east-1"),
    ("apse8-az1", "ap-southeast-8"),  # newer than the catalogue
]


@pytest.mark.parametrize(("zone", "region"), ZONES + IDS)
def test_region_of_a_zone(zone: str, region: str) -> None:
    assert zone_region(zone) == region


@pytest.mark.parametrize(
    "word",
    ["", "us-east-1", "us-east-1aa", "us-esat-1a", "use1", "use1-az", "xx1-az1", "usx1-az1", "az1", "US-EAST-1A"],
)
def test_no_region_of_what_is_no_zone(word: str) -> None:
    assert zone_region(word) is None


def test_zone_ids_and_names_are_told_apart() -> None:
    assert [zone for zone, _ in ZONES if is_zone_id(zone)] == []
    assert [zone for zone, _ in IDS if not is_zone_id(zone)] == []
    assert not is_zone_id("")


@pytest.mark.parametrize("region", REGIONS)
def test_the_zones_of_a_region_are_read_back(region: str) -> None:
    assert zone_ids(region)
    assert {zone_region(zone) for zone in zone_ids(region)} == {region}
    assert all(is_zone_id(zone) for zone in zone_ids(region))
    assert zone_region(f"{region}a") == region


def test_zones_of_known_regions() -> None:
    assert zone_ids("us-east-1") == ("use1-az1", "use1-az2", "use1-az3", "use1-az4", "use1-az5", "use1-az6")
    assert zone_ids("us-west-1") == ("usw1-az1", "usw1-az3")
    assert zone_ids("ca-central-1") == ("cac1-az1", "cac1-az2", "cac1-az4")
    assert zone_ids("nowhere") == ()


def test_every_zone_set_can_be_read_and_lies_in_its_region() -> None:
    for text in load("instances", "zones")["sets"].values():
        for region, ids in decode_zones(text).items():
            assert set(ids) <= set(zone_ids(region))


@given(st.text(max_size=30))
def test_any_text_can_be_asked(text: str) -> None:
    zone_region(text)
    is_zone_id(text)
    zone_ids(text)


@pytest.mark.parametrize(
    ("zone", "other", "known_to_differ"),
    [
        ("us-west-2a", "us-west-2a", False),
        ("us-west-2a", "us-west-2b", True),
        ("usw2-az1", "usw2-az1", False),
        ("usw2-az1", "usw2-az2", True),
        ("us-west-2a", "usw2-az2", False),  # which is which differs from account to account
        (None, "us-west-2b", False),
        ("us-west-2a", None, False),
        (Fn.select(0, Fn.get_azs()), "us-west-2b", False),
        ("us-west-2a", f"{Aws.REGION}b", False),
    ],
)
def test_only_zones_of_one_spelling_are_compared(zone: str | None, other: str | None, *, known_to_differ: bool) -> None:
    assert differ(zone, other) is known_to_differ
