"""What the roles of the shipped deployments are granted is known to the mapping of calls."""

from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest

from cdk_trainyard.local.access.actions import types_of
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.access.keys import keys_of, may_be_absent
from cdk_trainyard.local.access.resources import _FINDERS
from tests.stacks.snapshots import shipped_templates

SERVED = set(botocore.session.get_session().get_available_services()) | {"cloudwatch"}


def statements(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict):
        if "Effect" in found and "Principal" not in found:
            yield found
        for inner in found.values():
            yield from statements(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from statements(inner)


def granted() -> list[dict[str, Any]]:
    return [
        statement
        for templates in shipped_templates().values()
        for template in templates.values()
        for statement in statements(template)
    ]


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


ACTIONS = sorted({action for statement in granted() for action in listed(statement["Action"])})


@pytest.mark.parametrize("action", [action for action in ACTIONS if action.partition(":")[0] in SERVED])
def test_an_action_and_its_types_of_resource_are_known(action: str) -> None:
    service = action.partition(":")[0]
    types = types_of(action)
    assert [kind for kind in types if service != "ec2" and f"{service}:{kind}" not in _FINDERS] == []


def test_actions_without_an_api_are_those_of_agents_and_meant_for_all() -> None:
    """Neither `ec2messages` nor `ssmmessages` is an API of an SDK: Systems Manager's agent alone speaks them."""
    assert {action.partition(":")[0] for action in ACTIONS} - SERVED == {"ec2messages", "ssmmessages"}


def test_condition_keys_are_known() -> None:
    asked = {key for statement in granted() for keys in statement.get("Condition", {}).values() for key in keys}
    calls = [Call(service=name, operation="", parameters={}, region="us-east-1") for name in ("ec2", "s3")]
    always = {key for call in calls for key in keys_of(call, "*")}
    assert sorted(key for key in asked if key not in always and not may_be_absent(key)) == []
