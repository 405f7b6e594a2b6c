"""What the roles of the shipped deployments are granted is known to the mapping of calls."""

from typing import Any

import botocore.session
import pytest

from cdk_trainyard.local.access.actions import types_of
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.access.keys import keys_of, may_be_absent
from cdk_trainyard.local.access.resources import _FINDERS
from tests.authorization import listed, statements, unmet
from tests.stacks.snapshots import shipped_templates

SERVED = set(botocore.session.get_session().get_available_services()) | {"cloudwatch"}


def granted() -> list[dict[str, Any]]:
    return [
        statement
        for templates in shipped_templates().values()
        for template in templates.values()
        for statement in statements(template)
        if "Principal" not in statement
    ]


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


@pytest.mark.parametrize("stem", shipped_templates())
def test_a_request_can_meet_every_statement(stem: str) -> None:
    written = [one for template in shipped_templates()[stem].values() for one in statements(template)]
    assert [(unmet(one), one) for one in written if unmet(one)] == []


AGENT = {"Effect": "Allow", "Action": "ecs:Poll", "Resource": "*"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        ({"Condition": {"ArnEquals": {"ecs:cluster": "c"}}}, []),
        ({"Action": "ecs:Submit*", "Condition": {"ArnEquals": {"ecs:cluster": "c"}}}, ["ecs:Submit* if ecs:cluster"]),
        ({"Condition": {"ArnEqualsIfExists": {"ecs:service": "s"}}}, []),
        ({"Condition": {"StringEquals": {"aws:TagKeys": "t"}}}, ["ecs:Poll if aws:TagKeys"]),
        ({"Condition": {"StringEquals": {"aws:ResourceAccount": "a"}}}, []),
        ({"Action": "ecs:Pool"}, ["ecs:Pool on *", "no action on *"]),
        (
            {"Resource": ["*", "arn:aws:ecs:us-east-1:1:cluster/c"]},
            ["no action on arn:aws:ecs:us-east-1:1:cluster/c"],
        ),
        ({"Action": ["ecs:Poll", "ecs:DiscoverPollEndpoint"], "Resource": {"Fn::GetAtt": ["C", "Arn"]}}, []),
        (
            {"Action": "ecs:DiscoverPollEndpoint", "Resource": "arn:aws:ecs:us-east-1:1:cluster/c"},
            [
                "ecs:DiscoverPollEndpoint on arn:aws:ecs:us-east-1:1:cluster/c",
                "no action on arn:aws:ecs:us-east-1:1:cluster/c",
            ],
        ),
    ],
)
def test_what_no_request_meets_is_told(changed: dict[str, Any], said: list[str]) -> None:
    assert unmet({**AGENT, **changed}) == said
