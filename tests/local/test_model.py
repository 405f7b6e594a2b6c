"""Names that are made up, and changes that replace."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.local.engine.records import _NO_HOST
from cdk_trainyard.local.registry import type_of
from cdk_trainyard.local.resources.model import Name, Where, replacing

_WORD = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,127}", fullmatch=True)


def _where(stack: str = "stack", logical_id: str = "Thing") -> Where:
    return Where(
        account="1",
        region="us-west-2",
        partition="aws",
        stack_id="",
        stack_name=stack,
        logical_id=logical_id,
        type_name="",
        host=_NO_HOST,
    )


@given(stack=_WORD, logical_id=_WORD, limit=st.integers(32, 255), lower=st.booleans())
def test_names_are_short_enough_and_unique(stack: str, logical_id: str, limit: int, lower: bool) -> None:
    name = Name(property="Name", limit=limit, lower=lower)
    made = name.make(_where(stack, logical_id))
    assert len(made) <= limit
    assert made != name.make(_where(stack, logical_id))
    assert not lower or made == made.lower()


def test_a_name_tells_where_it_comes_from() -> None:
    assert Name(property="Name").make(_where()).startswith("stack-Thing-")


@pytest.mark.parametrize(
    ("type_name", "old", "new", "replaced"),
    [
        ("AWS::SageMaker::Cluster", {"InstanceGroups": [1]}, {"InstanceGroups": [2]}, []),
        ("AWS::SageMaker::Cluster", {"VpcConfig": {"Subnets": [1]}}, {"VpcConfig": {"Subnets": [2]}}, ["VpcConfig"]),
        ("AWS::SageMaker::Cluster", {"Orchestrator": {"Slurm": 1}}, {"Orchestrator": {"Slurm": 2}}, []),
        ("AWS::SageMaker::Cluster", {"Orchestrator": {"Eks": 1}}, {"Orchestrator": {"Eks": 2}}, ["Orchestrator"]),
        ("AWS::FSx::FileSystem", {"StorageCapacity": 1200}, {"StorageCapacity": 2400}, []),
        ("AWS::FSx::FileSystem", {"StorageType": "SSD"}, {"StorageType": "HDD"}, ["StorageType"]),
        (
            "AWS::FSx::FileSystem",
            {"LustreConfiguration": {"EfaEnabled": False, "PerUnitStorageThroughput": 125}},
            {"LustreConfiguration": {"EfaEnabled": False, "PerUnitStorageThroughput": 250}},
            [],
        ),
        (
            "AWS::FSx::FileSystem",
            {"LustreConfiguration": {"EfaEnabled": False}},
            {"LustreConfiguration": {"EfaEnabled": True}},
            ["LustreConfiguration"],
        ),
        ("Custom::Anything", {"A": 1}, {"A": 2}, []),
    ],
)
def test_replacement(type_name: str, old: Any, new: Any, replaced: list[str]) -> None:
    assert replacing(type_of(type_name), old, new) == replaced
