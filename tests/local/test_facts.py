"""The tables agree with CloudFormation's own schemas."""

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


def surplus(name: str) -> set[str]:
    """What a type's table names and its schema does not."""
    type_, facts = type_of(name), facts_of(name)
    assert facts is not None
    attributes = {path.replace("/", ".") for path in facts.read_only} | facts.properties
    named = {type_.named.property} if type_.named else set()
    properties = {path.split("/")[0] for path in type_.replace_also} | named
    return set(type_.attributes) - attributes - _ALSO_ATTRIBUTES.get(name, set()) | properties - facts.properties


def judged_otherwise(name: str) -> list[str]:
    """The properties whose change replaces a resource here, and by the schema does not, or the other way round."""
    type_, facts = type_of(name), facts_of(name)
    assert facts is not None
    create_only = {path for path in (*facts.create_only, *type_.replace_also) if "/" not in path}
    changed = {property_: replacing(type_, {property_: 1}, {property_: 2}) for property_ in facts.properties}
    return [property_ for property_, replaced in changed.items() if bool(replaced) != (property_ in create_only)]


def test_tables_name_only_what_exists() -> None:
    assert {name: found for name in _TYPES if (found := surplus(name))} == {}


def test_a_change_replaces_what_the_schema_cannot_change_in_place() -> None:
    assert {name: found for name in _TYPES if (found := judged_otherwise(name))} == {}


def test_custom_resources_are_supported_whatever_their_name() -> None:
    assert type_of("Custom::Anything") is type_of("AWS::CloudFormation::CustomResource")
    assert facts_of("Custom::Anything") is None
