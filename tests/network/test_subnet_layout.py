"""The arithmetic of blocks: what goes where, that nothing overlaps, and that a new zone moves nothing."""

from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.network.rules import layout_problems
from cdk_trainyard.network.subnet_layout import (
    LayoutRequest,
    SubnetLayout,
    plan_subnets,
    usable_addresses,
    zone_ordinal,
)

ZONES = [f"us-east-1{letter}" for letter in "abcdef"]
SOME_ZONES = st.lists(st.sampled_from(ZONES), unique=True)


def request(**changes: Any) -> LayoutRequest:
    given_changes = {"cidr": "10.1.0.0/16", "zone": "us-east-1a", "public_zones": ("us-east-1a",), **changes}
    blocks = ("cidr", "secondary_cidr", "accelerator_cidr")
    return LayoutRequest(
        **{key: IPv4Network(value) if key in blocks and value else value for key, value in given_changes.items()}
    )


def blocks(layout: SubnetLayout) -> list[IPv4Network]:
    return [layout.accelerator, *layout.public.values(), *layout.service.values()]


@st.composite
def requests(draw: st.DrawFn) -> LayoutRequest:
    prefix = draw(st.integers(16, 22))
    secondary = draw(st.sampled_from([None, "100.64.0.0/16", "100.64.0.0/20", "100.64.0.0/28"]))
    largest = prefix + 1 if secondary is None else int(secondary.rpartition("/")[2])
    return request(
        cidr=f"10.0.0.0/{prefix}",
        secondary_cidr=secondary,
        accelerator_mask=draw(st.none() | st.integers(largest, 28)),
        zone=draw(st.sampled_from(ZONES)),
        public_zones=tuple(draw(SOME_ZONES)),
        service_zones=tuple(draw(SOME_ZONES)),
    )


def test_a_16_gives_half_to_the_accelerators() -> None:
    layout = plan_subnets(
        request(public_zones=("us-east-1a", "us-east-1c"), service_zones=("us-east-1b", "us-east-1f"))
    )
    assert str(layout.accelerator) == "10.1.128.0/17"
    assert {zone: str(block) for zone, block in layout.public.items()} == {
        "us-east-1a": "10.1.0.0/24",
        "us-east-1c": "10.1.12.0/24",
    }
    assert {zone: str(block) for zone, block in layout.service.items()} == {
        "us-east-1b": "10.1.68.0/22",
        "us-east-1f": "10.1.84.0/22",
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"accelerator_mask": 18}, "10.1.128.0/18"),
        ({"accelerator_cidr": "10.1.192.0/20"}, "10.1.192.0/20"),
        ({"secondary_cidr": "100.64.0.0/16"}, "100.64.0.0/16"),
        ({"secondary_cidr": "100.64.0.0/16", "accelerator_mask": 18}, "100.64.0.0/18"),
        ({"cidr": "10.1.0.0/24"}, "10.1.0.128/25"),
        ({"cidr": "10.1.0.0/27", "public_zones": ()}, "10.1.0.16/28"),
        ({"cidr": "10.1.0.0/28", "secondary_cidr": "100.64.0.0/28", "public_zones": ()}, "100.64.0.0/28"),
    ],
)
def test_the_accelerator_subnet_is_where_and_as_large_as_asked(changes: dict[str, Any], expected: str) -> None:
    assert str(plan_subnets(request(**changes)).accelerator) == expected


def test_the_small_subnets_give_way_to_an_accelerator_subnet_in_the_lower_half() -> None:
    layout = plan_subnets(request(accelerator_cidr="10.1.0.0/18"))
    assert [str(block) for block in layout.public.values()] == ["10.1.128.0/24"]


def test_a_secondary_block_leaves_the_whole_first_one_to_the_small_subnets() -> None:
    layout = plan_subnets(
        request(cidr="10.1.0.0/26", secondary_cidr="100.64.0.0/16", service_zones=("us-east-1a", "us-east-1b"))
    )
    assert [str(block) for block in layout.public.values()] == ["10.1.0.0/28"]
    assert [str(block) for block in layout.service.values()] == ["10.1.0.32/28", "10.1.0.48/28"]


@pytest.mark.parametrize(("zone", "ordinal"), [("us-east-1a", 1), ("us-east-1f", 6), ("use1-az6", 6), ("apne1-az1", 1)])
def test_a_zone_has_its_ordinal(zone: str, ordinal: int) -> None:
    assert zone_ordinal(zone) == ordinal


def test_a_local_zone_has_its_public_subnet() -> None:
    layout = plan_subnets(request(zone="us-west-2-lax-1a", public_zones=("us-west-2-lax-1a", "us-west-2a")))
    assert [str(block) for block in layout.public.values()] == ["10.1.0.0/24", "10.1.4.0/24"]


@pytest.mark.parametrize(("prefix", "usable"), [(28, 11), (24, 251), (20, 4091), (17, 32763), (16, 65531)])
def test_aws_keeps_five_addresses(prefix: int, usable: int) -> None:
    assert usable_addresses(prefix) == usable


@given(requests())
def test_no_two_subnets_overlap_and_all_lie_in_the_vpc(asked: LayoutRequest) -> None:
    layout = plan_subnets(asked)
    assert list(layout_problems(asked)) == []
    assert [pair for pair in combinations(blocks(layout), 2) if pair[0].overlaps(pair[1])] == []
    assert layout.accelerator.subnet_of(asked.room)
    assert all(block.subnet_of(asked.cidr) for block in [*layout.public.values(), *layout.service.values()])
    assert all(16 <= block.prefixlen <= 28 for block in blocks(layout))


@given(requests(), SOME_ZONES, SOME_ZONES)
def test_zones_added_removed_or_reordered_move_no_subnet(
    asked: LayoutRequest, public: list[str], service: list[str]
) -> None:
    first, second = (
        plan_subnets(LayoutRequest(
            cidr=asked.cidr, secondary_cidr=asked.secondary_cidr, accelerator_mask=asked.accelerator_mask,
            zone=asked.zone, public_zones=public_zones, service_zones=service_zones,
        ))
        for public_zones, service_zones in ((asked.public_zones, asked.service_zones), (public, service))
    )  # fmt: skip
    assert first.accelerator == second.accelerator
    assert {zone: first.public[zone] for zone in first.public.keys() & second.public.keys()} == {
        zone: second.public[zone] for zone in first.public.keys() & second.public.keys()
    }
    assert {zone: first.service[zone] for zone in first.service.keys() & second.service.keys()} == {
        zone: second.service[zone] for zone in first.service.keys() & second.service.keys()
    }


@given(requests(), st.integers(16, 28))
def test_another_size_of_the_accelerator_subnet_moves_no_small_one(asked: LayoutRequest, mask: int) -> None:
    resized = LayoutRequest(
        cidr=asked.cidr,
        secondary_cidr=asked.secondary_cidr,
        accelerator_mask=max(mask, asked.largest_mask),
        zone=asked.zone,
        public_zones=asked.public_zones,
        service_zones=asked.service_zones,
    )
    assert plan_subnets(resized).public == plan_subnets(asked).public
    assert plan_subnets(resized).service == plan_subnets(asked).service
