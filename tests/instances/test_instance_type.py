import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, asdict, fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import (
    Accelerator,
    AcceleratorKind,
    InstanceType,
    NetworkCard,
    catalogue_date,
    hyperpod_type_names,
)

NAMES = sorted(load("instances", "instance_types")["types"])
NEW = InstanceType(
    name="trn9.32xlarge",
    vcpus=128,
    threads_per_core=2,
    memory_mib=524288,
    architecture="x86_64",
    accelerators=(Accelerator(kind=AcceleratorKind.NEURON, name="Trainium9", count=4, memory_mib=98304, cores=8),),
    network_cards=(
        NetworkCard(index=0, max_interfaces=4, efa=False),
        NetworkCard(index=1, max_interfaces=4, efa=True),
    ),
    max_efa_interfaces=1,
    network_gbps=800,
    ipv4_per_interface=50,
)


# ---------------------------------------------------------------- looking up
def test_of_takes_the_name_of_ec2_and_of_sagemaker() -> None:
    assert InstanceType.of("ml.trn1.32xlarge") == InstanceType.of("trn1.32xlarge")


def test_of_returns_an_instance_type_as_it_is() -> None:
    assert InstanceType.of(NEW) is NEW


@pytest.mark.parametrize("name", ["trn1.32xlarge", "ml.trn1.32xlarge", NEW])
def test_find_takes_what_of_takes(name: str | InstanceType) -> None:
    assert InstanceType.find(name) is InstanceType.of(name)


@pytest.mark.parametrize("name", ["trn1.32xlage", "", "ml.", "${Token[TOKEN.1]}"])
def test_find_knows_no_other_name_and_no_token(name: str) -> None:
    assert InstanceType.find(name) is None


def test_the_derived_facts_of_trn1() -> None:
    trn1 = InstanceType.of("trn1.32xlarge")
    assert (trn1.name, trn1.sagemaker_name, trn1.family) == ("trn1.32xlarge", "ml.trn1.32xlarge", "trn1")
    assert (trn1.neuron_cores, trn1.gpus) == (32, 0)
    assert trn1.accelerated
    assert trn1.efa_supported
    assert trn1.placement_strategies == ("cluster", "partition", "spread")


def test_the_derived_facts_of_p5() -> None:
    p5 = InstanceType.of("p5.48xlarge")
    assert (p5.neuron_cores, p5.gpus) == (0, 8)


def test_the_derived_facts_of_a_cpu_type() -> None:
    m5 = InstanceType.of("m5.large")
    assert (m5.neuron_cores, m5.gpus, m5.accelerated, m5.efa_supported) == (0, 0, False, False)


def test_zones_of_a_region() -> None:
    trn1 = InstanceType.of("trn1.32xlarge")
    assert trn1.offered_in("us-west-2") == ("usw2-az1", "usw2-az4")
    assert trn1.offered_in("eu-west-3") == ()
    assert trn1.offered_in("nowhere") == ()


def test_the_catalogue_has_a_date() -> None:
    assert catalogue_date() == "2026-10-27"


def test_the_catalogue_has_every_captured_type_and_the_one_added() -> None:
    assert len(NAMES) == 1396


def test_facts_are_frozen_hashable_and_can_be_copied() -> None:
    p5 = InstanceType.of("p5.48xlarge")
    with pytest.raises(FrozenInstanceError):
        p5.vcpus = 1
    assert len({p5, InstanceType.of("ml.p5.48xlarge")}) == 1
    assert deepcopy(p5) == pickle.loads(pickle.dumps(p5)) == p5  # noqa: S301  our own bytes
    assert asdict(p5)["zones"] == p5.zones


@given(st.sampled_from(NAMES))
def test_every_name_is_found_with_and_without_the_prefix(name: str) -> None:
    known = InstanceType.of(name)
    assert InstanceType.of(known.sagemaker_name) == known == InstanceType.of(known)
    assert known.name == name
    assert known.hyperpod == (known.sagemaker_name in hyperpod_type_names())


def incomplete(known: InstanceType) -> list[str]:
    """Return what is missing or contradictory in a type."""
    parts, cards = known.accelerators, known.network_cards
    sound = {
        "counts": min(known.vcpus, known.threads_per_core, known.memory_mib, known.ipv4_per_interface) >= 1,
        "architecture": known.architecture in {"x86_64", "arm64", "x86_64_mac", "arm64_mac"},
        "card indexes": [card.index for card in cards] == list(range(len(cards))) != [],
        "EFA": known.max_efa_interfaces <= sum(card.efa for card in cards),
        "bandwidth": known.network_gbps > 0,
        "accelerators": all(part.count >= 1 and part.memory_mib >= 1 for part in parts),
        "cores": all((part.cores > 0) == (part.kind is AcceleratorKind.NEURON) for part in parts),
        "unknown": set(known.unknown) <= {fact.name for fact in fields(known)} | {"hyperpod_addresses"},
        "offers": bool(known.unknown or (known.usage_classes and known.zones)),
        "interfaces": bool(known.unknown or all(card.max_interfaces >= 1 for card in cards)),
    }
    return [name for name, holds in sound.items() if not holds]


def test_every_type_is_whole() -> None:
    found = {name: incomplete(InstanceType.of(name)) for name in NAMES}
    assert {name: missing for name, missing in found.items() if missing} == {}


# ---------------------------------------------------------------- names that are not known
def problem_of(name: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        InstanceType.of(name)
    assert caught.value.path == "InstanceType"
    (problem,) = caught.value.problems
    return problem


RULE = "'instance_type' must be the name of an EC2 instance type, got "


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "trn1.32xlage",
            "'trn1.32xlage'; did you mean 'trn1.32xlarge' or 'trn1n.32xlarge' or 'trn1.2xlarge'?",
        ),
        (
            "ml.trn1.32xlage",
            "'ml.trn1.32xlage'; did you mean 'ml.trn1.32xlarge' or 'ml.trn1n.32xlarge' or 'ml.trn1.2xlarge'?",
        ),
        (
            "P5.48XLARGE",
            "'P5.48XLARGE'; did you mean 'p5.48xlarge'?",
        ),
        ("trn1", "'trn1'; the family has 'trn1.2xlarge', 'trn1.32xlarge'"),
        ("ml.trn1", "'ml.trn1'; the family has 'ml.trn1.2xlarge', 'ml.trn1.32xlarge'"),
        ("p5-48xlarge", "'p5-48xlarge'; did you mean 'p5.48xlarge'?"),
        ("trn1.?!?!?!?!", "'trn1.?!?!?!?!'; the family has 'trn1.2xlarge', 'trn1.32xlarge'"),
        ("", "''; the catalogue is of 2026-10-27, a newer type is added with InstanceType.register"),
        ("?", "'?'; the catalogue is of 2026-10-27, a newer type is added with InstanceType.register"),
    ],
)
def test_fails_with_the_nearest_names(name: str, problem: str) -> None:
    assert problem_of(name) == RULE + problem


def test_a_type_that_ec2_has_and_the_catalogue_does_not_is_said_to_be_one() -> None:
    assert problem_of("p3.16xlarge") == (
        "'instance_type' must be an instance type whose facts are known, got 'p3.16xlarge': EC2 has it, but its facts "
        "are not in the catalogue of 2026-10-27; use another, a newer type is added with InstanceType.register"
    )


@pytest.mark.parametrize("name", ["ml-trn1.32xlarge", "mltrn1.32xlarge", "trn1.32xlarge ", "ml.ml.trn1.32xlarge"])
def test_fails_on_a_garbled_prefix_but_names_the_type(name: str) -> None:
    assert "trn1.32xlarge'" in problem_of(name).partition("did you mean")[2]


@given(st.text(max_size=40))
@settings(max_examples=60 * settings().max_examples // 100)
def test_any_text_is_found_or_refused_in_words(text: str) -> None:
    if text.removeprefix("ml.") in NAMES:
        assert InstanceType.of(text).name == text.removeprefix("ml.")
    else:
        assert problem_of(text).startswith(f"{RULE}{text!r};")


@given(st.sampled_from(NAMES), st.sampled_from(["", "ml."]), st.integers(min_value=0, max_value=30))
@settings(max_examples=60 * settings().max_examples // 100)
def test_a_name_with_a_letter_lost_is_found_or_suggested(name: str, prefix: str, at: int) -> None:
    lost = at % len(name)
    written = prefix + name[:lost] + name[lost + 1 :]
    if written.removeprefix("ml.") not in NAMES:
        problem = problem_of(written)
        assert "did you mean" in problem or "the family has" in problem


# ---------------------------------------------------------------- registering
def test_a_registered_type_is_found() -> None:
    InstanceType.register(NEW)
    assert InstanceType.of("ml.trn9.32xlarge") is NEW
    assert NEW.neuron_cores == 32
    assert NEW.hyperpod_addresses("eks") == 51
    assert (NEW.hyperpod, NEW.zones, NEW.offered_in("us-east-1")) == (False, {}, ())


def test_a_registered_type_is_suggested() -> None:
    InstanceType.register(NEW)
    assert "'trn9.32xlarge'" in problem_of("trn9.32xlage")


def test_equal_facts_can_be_registered_again() -> None:
    InstanceType.register(NEW)
    InstanceType.register(replace(NEW))
    InstanceType.register(InstanceType.of("trn1.32xlarge"))


def test_offers_newer_than_the_catalogue_can_be_registered() -> None:
    newer = replace(InstanceType.of("inf2.xlarge"), zones={"us-east-1": ("use1-az1",)}, hyperpod=True)
    InstanceType.register(newer)
    assert InstanceType.of("ml.inf2.xlarge").hyperpod
    assert InstanceType.of("inf2.xlarge").offered_in("us-east-1") == ("use1-az1",)


def test_what_the_catalogue_does_not_know_can_be_filled_in() -> None:
    gb200 = InstanceType.of("p6e-gb200.36xlarge")
    cards = tuple(replace(card, max_interfaces=2) for card in gb200.network_cards)
    InstanceType.register(replace(gb200, network_cards=cards, max_efa_interfaces=16, unknown=()))
    known = InstanceType.of("ml.p6e-gb200.36xlarge")
    assert known.hyperpod_addresses() == 9  # the odd cards take EFA-only interfaces, which have no address
    assert known.hyperpod_addresses("eks") == 58


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"name": "ml.trn9.32xlarge"},
            "'name' must be a family, a dot and a size, without 'ml.', got 'ml.trn9.32xlarge'",
        ),
        ({"name": "trn9"}, "'name' must be a family, a dot and a size, without 'ml.', got 'trn9'"),
        ({"vcpus": 0}, "'vcpus' of 'trn9.32xlarge' must be at least 1, got 0"),
        ({"threads_per_core": 0}, "'threads_per_core' of 'trn9.32xlarge' must be at least 1, got 0"),
        ({"memory_mib": -1}, "'memory_mib' of 'trn9.32xlarge' must be at least 1, got -1"),
        ({"ipv4_per_interface": 0}, "'ipv4_per_interface' of 'trn9.32xlarge' must be at least 1, got 0"),
        (
            {"network_cards": (NetworkCard(index=1, max_interfaces=4, efa=True),)},
            "'network_cards' of 'trn9.32xlarge' must be numbered from 0 in order, got [1]",
        ),
        (
            {"network_cards": (), "max_efa_interfaces": 0},
            "'network_cards' of 'trn9.32xlarge' must be numbered from 0 in order, got []",
        ),
        (
            {"network_cards": (NetworkCard(index=0, max_interfaces=4, efa=False),)},
            "'max_efa_interfaces' of 'trn9.32xlarge' must be 0 without a network card that takes EFA, got 1",
        ),
    ],
)
def test_fails_to_register_what_cannot_be(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        InstanceType.register(replace(NEW, **changes))
    assert caught.value.problems == (problem,)


@pytest.mark.parametrize("in_catalogue", [True, False])
def test_fails_to_change_known_facts_and_names_each(in_catalogue: bool) -> None:
    known = InstanceType.of("trn1.32xlarge") if in_catalogue else NEW
    InstanceType.register(known)
    with pytest.raises(ConfigurationError) as caught:
        InstanceType.register(replace(known, memory_mib=1024, vcpus=64))
    remedy = "give a type with other facts a name of its own"
    assert caught.value.problems == (
        f"'memory_mib' of {known.name!r} is known as 524288, got 1024; {remedy}",
        f"'vcpus' of {known.name!r} is known as 128, got 64; {remedy}",
    )
    assert InstanceType.of(known.name) == known


# ---------------------------------------------------------------- what zones are known to offer
@pytest.mark.parametrize(
    ("name", "region", "zones", "words"),
    [
        ("trn1.32xlarge", "us-west-2", ["usw2-az1", "usw2-az3"], "in usw2-az3, only in usw2-az1, usw2-az4 (data of 20"),
        ("trn1.32xlarge", "us-west-2", ["usw2-az4"], None),
        ("trn1.32xlarge", "us-west-2", ["us-west-2c"], None),
        ("trn1.32xlarge", "us-west-2", ["us-west-2-lax-1a"], "in us-west-2-lax-1a, only in usw2-az1, usw2-az4 (data"),
        ("trn1.32xlarge", "us-west-2", [], None),
        ("trn1.32xlarge", "us-west-2", [None], None),
        ("trn1.32xlarge", None, ["usw2-az3"], None),
        ("trn2u.48xlarge", "us-east-1", [], "trn2u.48xlarge is not known to be offered in us-east-1, only in "),
        ("p4d.24xlarge", "us-west-1", [], "ca-central-1, us-east-1, us-east-2, us-west-2 and 5 more (data"),
        ("trn1.32xlarge", "xx-nowhere-1", ["xxn1-az1"], None),
        ("c5.xlarge", "us-gov-west-1", ["usgw1-az1"], None),  # of other partitions no offers are known
    ],
)
def test_an_offer_that_is_not_known_is_warned_of(
    name: str, region: str | None, zones: list[str | None], words: str | None
) -> None:
    warning = InstanceType.of(name).offer_warning(region, zones)
    assert warning is None if words is None else words in str(warning)
