"""The tables agree with CloudFormation's own schemas."""

import pytest

from cdk_trainyard.local import supported_types
from cdk_trainyard.local.registry import type_of
from cdk_trainyard.local.resources.model import facts_of, replacing
from tests.local.provider_schemas import FACTS, text

_TYPES = sorted(supported_types() - {"AWS::CloudFormation::CustomResource"})
_ALSO_ATTRIBUTES = {
    # documented return values that the schemas do not call read-only
    "AWS::CloudFormation::Stack": {"*"},
    "AWS::SQS::Queue": {"QueueName"},
    "AWS::SNS::Topic": {"TopicName"},
}


def test_the_facts_are_those_of_the_installed_schemas() -> None:
    assert FACTS.read_text(encoding="utf-8") == text()


@pytest.mark.parametrize("name", _TYPES)
def test_a_table_names_only_what_exists(name: str) -> None:
    type_, facts = type_of(name), facts_of(name)
    assert facts is not None
    read_only = {path.replace("/", ".") for path in facts.read_only}
    assert set(type_.attributes) <= read_only | facts.properties | _ALSO_ATTRIBUTES.get(name, set())
    assert {path.split("/")[0] for path in type_.replace_also} <= facts.properties
    assert type_.named is None or type_.named.property in facts.properties


@pytest.mark.parametrize("name", _TYPES)
def test_what_is_called_in_place_by_the_schema_is_not_replaced(name: str) -> None:
    facts = facts_of(name)
    assert facts is not None
    for property_ in facts.properties:
        replaced = replacing(type_of(name), {property_: 1}, {property_: 2})
        create_only = {path for path in (*facts.create_only, *type_of(name).replace_also) if "/" not in path}
        assert bool(replaced) == (property_ in create_only)


def test_custom_resources_are_supported_whatever_their_name() -> None:
    assert type_of("Custom::Anything") is type_of("AWS::CloudFormation::CustomResource")
    assert facts_of("Custom::Anything") is None
