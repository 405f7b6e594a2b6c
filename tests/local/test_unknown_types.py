"""What is said of types that are not emulated: the service's nearest, eight at most, and where all of them are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.local import supported_types
from cdk_trainyard.local.engine.unknown_types import not_emulated

_WORD = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,12}", fullmatch=True)
_SERVICE = st.sampled_from(sorted({name.rpartition("::")[0] for name in supported_types()}))


@pytest.mark.parametrize(
    ("unknown", "said"),
    [
        (["AWS::EC2::VPCS"], "AWS::EC2::VPCS (X) is not emulated here: of AWS::EC2 it knows VPC, "),
        (["AWS::sqs::Queue"], "of AWS::SQS it knows Queue, QueuePolicy;"),
        (["Alexa::ASK::Skill"], "of Alexa::ASK it knows nothing;"),
        (["AWS::EC2::A", "AWS::EC2::B"], "AWS::EC2::A (X), AWS::EC2::B (X) are not emulated here: of AWS::EC2 "),
    ],
)
def test_the_nearest_of_the_service_are_named(unknown: list[str], said: str) -> None:
    assert said in not_emulated(dict.fromkeys(unknown, "X"))


@given(services=st.lists(_SERVICE, min_size=1, max_size=8, unique=True), name=_WORD)
def test_eight_at_most_and_only_what_exists(services: list[str], name: str) -> None:
    said = not_emulated({f"{service}::No{name}": "X" for service in services}).removesuffix(
        "; all that it knows: trainyard local types"
    )
    offered = [
        f"{service}::{word}"
        for part in said.split("; ")
        for service, _, words in [part.partition(": of ")[2].partition(" it knows ")]
        for word in words.split(", ")
        if word != "…"
    ]
    assert 0 < len(offered) <= 8
    assert set(offered) <= supported_types()
