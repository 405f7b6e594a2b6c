"""Placement groups."""

from typing import Any

import pytest
from aws_cdk import CfnParameter
from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.network import PlacementGroup
from tests.network.parts import new_stack, resources

Strategy, Level = ec2.PlacementGroupStrategy, ec2.PlacementGroupSpreadLevel


def test_it_packs_instances_together_by_default() -> None:
    stack = new_stack()
    group = PlacementGroup(stack, "Group")
    ((name, properties),) = resources(stack, "AWS::EC2::PlacementGroup").items()
    assert properties == {"Strategy": "cluster"}
    assert stack.resolve(group.placement_group_name) == {"Fn::GetAtt": [name, "GroupName"]}
    assert group.placement_group.strategy is Strategy.CLUSTER


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"strategy": Strategy.PARTITION, "partitions": 7},
            {"Strategy": "partition", "PartitionCount": 7},
        ),
        (
            {"strategy": Strategy.SPREAD, "spread_level": Level.RACK},
            {"Strategy": "spread", "SpreadLevel": "rack"},
        ),
    ],
)
def test_everything_can_be_set(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    stack = new_stack()
    PlacementGroup(stack, "Group", **settings)
    assert list(resources(stack, "AWS::EC2::PlacementGroup").values()) == [expected]


def test_an_existing_group_is_taken_as_it_is() -> None:
    stack = new_stack()
    imported = ec2.PlacementGroup.from_placement_group_name(stack, "Imported", "training")
    group = PlacementGroup.from_placement_group(stack, "Group", imported)
    assert isinstance(group, PlacementGroup)
    assert group.placement_group_name == "training"
    assert resources(stack, "AWS::EC2::PlacementGroup") == {}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"partitions": 2}, "'partitions' must be left out for CLUSTER, got 2; use PARTITION"),
        ({"strategy": Strategy.PARTITION, "partitions": 8}, "'partitions' must be 1 to 7, got 8"),
        ({"strategy": Strategy.PARTITION, "partitions": 0}, "'partitions' must be 1 to 7, got 0"),
        ({"spread_level": Level.HOST}, "'spread_level' must be left out for CLUSTER, got HOST; use SPREAD"),
    ],
)
def test_fails_on_settings_of_another_strategy(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        PlacementGroup(new_stack(), "Group", **settings)
    assert caught.value.problems == (problem,)
    assert caught.value.path == "Stack/Group"


def test_tokens_pass() -> None:
    stack = new_stack()
    partitions = CfnParameter(stack, "Partitions", type="Number").value_as_number
    PlacementGroup(stack, "Group", strategy=Strategy.PARTITION, partitions=partitions)
