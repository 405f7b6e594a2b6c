"""Whether a file system is known to stand in another zone than its clients."""

from types import SimpleNamespace
from typing import Any

import pytest
from aws_cdk import Aws, Fn

from cdk_trainyard.storage.reach import in_other_zone


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
    file_system: Any = SimpleNamespace(zone=other)
    assert in_other_zone(file_system, zone) is known_to_differ
