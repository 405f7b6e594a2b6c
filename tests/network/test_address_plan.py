"""Addresses: counts times addresses per node, in words, and which subnet holds them."""

from collections.abc import Sequence
from typing import Any

import pytest
from aws_cdk import CfnParameter
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import AddressPlan, AddressUse
from cdk_trainyard.network.address_plan import endpoint_addresses
from cdk_trainyard.network.spec import Endpoint, NetworkSpec
from cdk_trainyard.tokens import Unknown
from tests.network.parts import new_stack


def use(count: int, addresses: int, *, name: str = "worker-group", instance_type: str = "trn1.32xlarge") -> AddressUse:
    return AddressUse(name=name, instance_type=instance_type, count=count, addresses_per_node=addresses)


def hyperpod_use(count: int, instance_type: str) -> AddressUse:
    return use(count, InstanceType.of(instance_type).hyperpod_addresses(), instance_type=instance_type)


ULTRACLUSTER = hyperpod_use(30_000 // 16, "trn1.32xlarge")
USES = st.lists(st.builds(use, st.integers(0, 400), st.integers(0, 81)), max_size=4)
EXTRAS = st.integers(0, 300)


@st.composite
def plans(draw: st.DrawFn) -> AddressPlan:
    keywords = ("lustre_file_servers", "interface_endpoints", "other", "reserve")
    return AddressPlan(draw(USES), **{keyword: draw(EXTRAS) for keyword in keywords})


def test_an_ultracluster_of_30000_chips_needs_an_18() -> None:
    plan = AddressPlan([ULTRACLUSTER])
    assert ULTRACLUSTER.count == 1875
    assert ULTRACLUSTER.addresses == 15_000
    assert plan.required == 15_016
    assert plan.smallest_prefix == 18
    assert plan.problems("10.1.128.0/17") == []
    assert plan.problems("10.1.128.0/18") == []


def test_fails_on_a_subnet_too_small_with_the_arithmetic() -> None:
    plan = AddressPlan(
        [use(1, 1, name="controller-group", instance_type="m5.xlarge"), ULTRACLUSTER], lustre_file_servers=2
    )
    (problem,) = plan.problems("10.1.0.0/20")
    assert problem == (
        "'accelerator_cidr' must hold 15019 addresses (controller-group 1 x m5.xlarge x 1 = 1, "
        "worker-group 1875 x trn1.32xlarge x 8 = 15000, Lustre file servers = 2, reserve = 16), got 10.1.0.0/20 with "
        "4091; use a /18 or larger"
    )


def test_the_arithmetic_names_the_largest() -> None:
    small = [use(1, 1, name=f"q{index}", instance_type="c5.large") for index in range(9)]
    assert AddressPlan([*small, use(5, 1, name="last", instance_type="c5.large")]).arithmetic == (
        "q0 1 x c5.large x 1 = 1, q1 1 x c5.large x 1 = 1, q2 1 x c5.large x 1 = 1, q3 1 x c5.large x 1 = 1, "
        "q4 1 x c5.large x 1 = 1, q5 1 x c5.large x 1 = 1, last 5 x c5.large x 1 = 5, reserve = 16, and 3 more = 3"
    )


def test_the_message_uses_the_users_own_keyword() -> None:
    assert AddressPlan([use(100, 8)]).problems("10.0.0.0/24", keyword="subnet")[0].startswith("'subnet' must hold 816 ")


def test_the_message_names_the_option_that_makes_room() -> None:
    (problem,) = AddressPlan([use(40_000, 1)]).problems("10.0.0.0/17")
    assert problem.endswith("got 10.0.0.0/17 with 32763; use a /16, as 'secondary_cidr' of a new network may be")


def test_fails_beyond_the_largest_subnet() -> None:
    plan = AddressPlan([use(2048, 32, instance_type="p5.48xlarge")], reserve=0)
    expected = (
        "the nodes must take at most 65531 addresses, all that the largest subnet (a /16) has, got 65536 "
        "(worker-group 2048 x p5.48xlarge x 32 = 65536); use EFA-only interfaces, or several networks"
    )
    assert plan.problems("10.0.0.0/16") == [expected]
    with pytest.raises(ConfigurationError) as caught:
        _ = plan.smallest_prefix
    assert caught.value.problems == (expected,)
    assert plan.table().endswith("no subnet is that large: the largest is a /16")


@pytest.mark.parametrize(
    ("nodes", "cidr", "says"),
    [
        (11, "10.0.0.0/28", "at most 0 of 11 addresses left"),
        (3, "10.0.0.0/28", "at most 8 of 11 addresses left"),
        (12, "10.0.0.0/28", ""),  # which is refused
        (11, "10.0.0.0/27", ""),  # 16 are left
        (12, "10.0.0.0/27", "at most 15 of 27 addresses left"),
        (0, "10.0.0.0/28", "at most 11 of 11 addresses left"),
        (3, None, ""),
    ],
)
def test_warns_of_a_subnet_that_holds_all_nodes_and_no_reserve(nodes: int, cidr: str | None, says: str) -> None:
    found = AddressPlan([use(nodes, 1)]).warnings(cidr)
    assert [says in text for text in found] == [True] * bool(says), found


def test_the_warning_has_the_numbers_and_the_remedy() -> None:
    plan = AddressPlan([use(1, 8, instance_type="trn1.32xlarge")], other=1)
    (text,) = plan.warnings("10.0.0.0/28")
    assert text == (
        "the subnet 10.0.0.0/28 has at most 2 of 11 addresses left when all nodes are there (worker-group 1 x "
        "trn1.32xlarge x 8 = 8, other = 1), fewer than 16 for nodes that are replaced before their predecessors are "
        "gone, and for whatever else takes addresses; use a /27 or larger, or fewer nodes"
    )
    assert (
        AddressPlan([use(32760, 1)])
        .warnings("10.0.0.0/17")[0]
        .endswith("; use a /16, as 'secondary_cidr' of a new network may be, or fewer nodes")
    )
    assert AddressPlan([use(65530, 1)]).warnings("10.0.0.0/16")[0].endswith("; use several networks, or fewer nodes")
    assert AddressPlan([], other=1).warnings("10.0.0.0/28") == []  # nothing is replaced


@pytest.mark.parametrize(("prefix", "slurm", "eks"), [(24, 7, 3), (20, 127, 50), (17, 1023, 404), (16, 2047, 809)])
def test_as_many_p5_fit_as_documented(prefix: int, slurm: int, eks: int) -> None:
    p5, cidr = InstanceType.of("ml.p5.48xlarge"), f"10.0.0.0/{prefix}"
    for nodes, addresses in ((slurm, p5.hyperpod_addresses("slurm")), (eks, p5.hyperpod_addresses("eks"))):
        assert AddressPlan([use(nodes, addresses)], reserve=0).problems(cidr) == []
        assert AddressPlan([use(nodes + 1, addresses)], reserve=0).problems(cidr) != []


def test_the_table_adds_up() -> None:
    plan = AddressPlan([hyperpod_use(4, "trn1.32xlarge")], lustre_file_servers=2, interface_endpoints=4, other=3)
    assert plan.table().splitlines() == [
        "worker-group 4 x trn1.32xlarge x 8      32",
        "Lustre file servers                      2",
        "interface endpoints                      4",
        "other                                    3",
        "reserve                                 16",
        "reserved by AWS in every subnet          5",
        "together                                62",
        "smallest subnet: a /26 of               64",
    ]


@pytest.mark.parametrize(
    ("uses", "keywords", "problem"),
    [
        ([use(-1, 8)], {}, "'count' of 'worker-group' must be 0 or more, got -1"),
        ([use(1, -8)], {}, "'addresses_per_node' of 'worker-group' must be 0 or more, got -8"),
        ([], {"lustre_file_servers": -2}, "'lustre_file_servers' must be 0 or more, got -2"),
        ([], {"interface_endpoints": -1}, "'interface_endpoints' must be 0 or more, got -1"),
        ([], {"other": -1}, "'other' must be 0 or more, got -1"),
        ([], {"reserve": -1}, "'reserve' must be 0 or more, got -1"),
    ],
)
def test_fails_on_numbers_below_zero(uses: Sequence[AddressUse], keywords: dict[str, int], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        AddressPlan(uses, **keywords)
    assert caught.value.problems == (problem,)


@pytest.mark.parametrize(
    ("network", "taken"),
    [
        ({"zone": "us-east-1a"}, 2),
        ({"zone": "us-east-1a", "interface_endpoints": ()}, 0),
        ({"zone": "us-east-1a", "service_zones": ("us-east-1b", "us-east-1c")}, 2),
        ({"zone": "us-east-1a", "service_zones": ("us-east-1a", "us-east-1b")}, 0),
        ({"zone": "use1-az4", "service_zones": ("use1-az4", "use1-az6")}, 0),
        ({"zone": "us-east-1-bos-1a", "service_zones": ("us-east-1a", "us-east-1b")}, 0),
        ({"zone": "us-east-1a", "service_zones": Unknown()}, 0),
        ({"zone": "us-east-1a", "service_zones": (Unknown(), "us-east-1b")}, 0),
        ({"zone": Unknown()}, 0),
        ({"zone": "us-east-1a", "interface_endpoints": (Unknown(), Endpoint.SSM)}, 1),
    ],
)
def test_interface_endpoints_take_addresses_where_no_service_subnet_is(network: dict[str, Any], taken: int) -> None:
    endpoints = {"interface_endpoints": (Endpoint.SSM, Endpoint.DYNAMODB, Endpoint.LOGS)}
    assert endpoint_addresses(NetworkSpec(**{**endpoints, **network})) == taken


def test_tokens_pass_and_what_is_known_still_counts() -> None:
    stack = new_stack()
    unknown = CfnParameter(stack, "Count", type="Number").value_as_number
    plan = AddressPlan([use(unknown, 8, name="unknown"), use(100, 8)], other=unknown)
    assert plan.required == 816
    assert plan.problems(CfnParameter(stack, "Cidr").value_as_string) == []
    assert len(plan.problems("10.0.0.0/24")) == 1


@given(plans())
def test_what_is_required_fits_the_smallest_subnet_and_none_smaller(plan: AddressPlan) -> None:
    if plan.required > 65_531:
        assert plan.problems("10.0.0.0/16") != []
        return
    assert plan.problems(f"10.0.0.0/{plan.smallest_prefix}") == []
    if plan.smallest_prefix < 28:
        assert plan.problems(f"10.0.0.0/{plan.smallest_prefix + 1}") != []


@given(plans(), USES, EXTRAS)
def test_more_never_needs_less(plan: AddressPlan, further: list[AddressUse], more: int) -> None:
    larger = AddressPlan(
        [*plan.uses, *further],
        lustre_file_servers=plan.lustre_file_servers + more,
        interface_endpoints=plan.interface_endpoints + more,
        other=plan.other + more,
        reserve=plan.reserve + more,
    )
    assert larger.required >= plan.required
    if larger.required <= 65_531:
        assert larger.smallest_prefix <= plan.smallest_prefix
