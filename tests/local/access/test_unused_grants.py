"""Every permission of a shipped role is needed by a recorded call, or stands in a list with the reason why it stays.

``recorded_calls.json`` is what roles called in demos and rehearsals of the shipped deployments (``python -m
tools.record_calls``). A permission is taken out of its statement, and the calls of the policy are decided again: it is
used when one of them is refused then. What nothing used is in ``unused_grants.json``, and nothing else is.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stacks.snapshots import shipped_templates
from tools.record_calls import OUTPUT, decide

DEPLOYMENTS = Path(__file__).parents[3] / "deployments"
RECORDED = json.loads(OUTPUT.read_text(encoding="utf-8"))
UNUSED = json.loads((Path(__file__).parent / "unused_grants.json").read_text(encoding="utf-8"))
POLICY = re.compile(r"<(?P<stack>[^.>]+)\.(?P<logical_id>[^.>]+)>")
NAMES = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8"))["name"] for file in DEPLOYMENTS.glob("*.yaml")}
"""What each shipped file calls its deployment, which begins the names of its stacks."""
STATEMENTS = ("AWS::IAM::ManagedPolicy", "AWS::IAM::Policy")

Grant = tuple[str, str, str]
"""Logical id of the policy, action, resource with the logical ids of what it names."""


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def written(text: str) -> str:
    """Return a text of an ARN, the same in every account and Region and for every deployment."""
    text = re.sub(r":\d{12}:", ":ACCOUNT:", re.sub(r"\b[a-z]{2}-[a-z]+-\d\b", "REGION", text))
    return re.sub(r"[\w.*-]+-[0-9A-F]{8}\b", "NAME", text)


def named(resource: Any, deployment: str) -> str:
    """A resource of a template, the same in every deployment: logical ids for references, ``*`` for its own name."""
    if isinstance(resource, str):
        return written(resource.replace("${AWS::AccountId}", "ACCOUNT"))
    (function, value), *_ = resource.items()
    if function == "Fn::Join":
        return "".join(named(part, deployment) for part in value[1])
    if function == "Fn::Sub":
        return named(value, deployment)
    if function == "Fn::ImportValue":
        found = re.search(r"ExportsOutput(?:Ref|FnGetAtt)(.+?)(?:Arn|GroupId)?[0-9A-F]{8}$", value)
        assert found, value
        return f"<{found[1]}>"
    known = {"AWS::Partition": "aws", "AWS::AccountId": "ACCOUNT", "AWS::Region": "REGION"}
    return known.get(listed(value)[0], f"<{listed(value)[0]}>")


def policies() -> Iterator[tuple[str, str, str, list[Mapping[str, Any]]]]:
    """Yield deployment, stack, logical id and statements of every policy of a shipped role."""
    for stem, templates in shipped_templates().items():
        for stack, template in templates.items():
            for logical_id, resource in template["Resources"].items():
                properties = resource.get("Properties", {})
                if resource["Type"] in STATEMENTS:
                    yield NAMES[stem], stack, logical_id, properties["PolicyDocument"]["Statement"]
                assert not properties.get("Policies"), "an inline policy that this test does not read"


def grants() -> dict[Grant, list[tuple[str, int]]]:
    """Every permission, with the deployments and the place of the statement that grants it."""
    found = defaultdict(list)
    for deployment, _, logical_id, statements in policies():
        for place, statement in enumerate(statements):
            for action in listed(statement["Action"]):
                for resource in listed(statement["Resource"]):
                    found[logical_id, action, named(resource, deployment)].append((deployment, place))
    return dict(found)


def without(policy: Mapping[str, Any], place: int, resource: int, action: str) -> Mapping[str, Any]:
    """The policy with one permission taken out: the action on one of the resources of a statement."""
    statement = policy["statements"][place]
    actions, resources = listed(statement["Action"]), listed(statement["Resource"])
    rest = [
        {**statement, "Action": [other for other in actions if other != action]},
        {**statement, "Action": action, "Resource": [other for at, other in enumerate(resources) if at != resource]},
    ]
    kept = [one for one in rest if one["Action"] and one["Resource"]]
    others = [one for at, one in enumerate(policy["statements"]) if at != place]
    return {**policy, "statements": [*others, *kept]}


def recorded_policies() -> Iterator[tuple[str, str, str, list[Mapping[str, Any]]]]:
    """Yield name in the recording, deployment, logical id and statements of shipped policies that a call met."""
    shipped = {(deployment, logical_id): statements for deployment, _, logical_id, statements in policies()}
    deployments = {deployment for deployment, _ in shipped}
    for name in RECORDED["policies"]:
        found = POLICY.fullmatch(name)
        owners = [one for one in deployments if found and found["stack"].rpartition("-")[0] == one]
        if found and owners and (owners[0], found["logical_id"]) in shipped:
            yield name, owners[0], found["logical_id"], shipped[owners[0], found["logical_id"]]


def told(resource: str) -> str:
    """A resource of a recording, as `named` writes those of templates: ``<Logical>`` for ``<stack.Logical>``."""
    text = resource.replace("<CDKToolkit.StagingBucket>", "cdk-hnb659fds-assets-ACCOUNT-REGION")
    return written(re.sub(r"<[^<>]+\.([^<>.]+)>", r"<\1>", text))


def is_told(resource: str, named_resource: str) -> bool:
    """Whether a recorded resource is this one of a template, where a reference may stand for a whole ARN."""
    pattern = re.sub(r"<\w+>", lambda found: f"({found[0]}|[a-z]+-ID)", re.escape(named_resource))
    pattern = pattern.replace("NAME", r"(NAME|<\w+>)")
    start = r"(arn:[^<]*)?" if named_resource.startswith("<") else ""
    end = r"(:\*)?" if named_resource.endswith(">") else ""
    return re.fullmatch(start + pattern + end, told(resource)) is not None


def place_of(action: str, resource: str, recorded: list[Mapping[str, Any]]) -> tuple[int, int] | None:
    """Return where a permission of a template stands in the recorded policy: statement and resource."""
    for place, statement in enumerate(recorded):
        for at, other in enumerate(listed(statement["Resource"])):
            if action in listed(statement["Action"]) and is_told(other, resource):
                return place, at
    return None


def used() -> Iterator[Grant]:
    """Yield every permission without which a recorded call would be refused."""
    for name, deployment, logical_id, statements in recorded_policies():
        recorded = RECORDED["policies"][name]
        rows = [row for row in RECORDED["calls"] if name in row["policies"]["identity"]]
        for statement in statements:
            for action, resource in product(listed(statement["Action"]), listed(statement["Resource"])):
                grant = logical_id, action, named(resource, deployment)
                place = place_of(action, grant[2], recorded["statements"])
                asked = [row for row in rows if place and row["action"] == action]
                documents = {**RECORDED["policies"], name: without(recorded, *place, action)} if place else {}
                if any(not decide(row, documents).allowed for row in asked):
                    yield grant


GRANTS, USED = grants(), set(used())
REASONED = {
    (row["policy"], action, resource) for row in UNUSED["grants"] for action in row["actions"] for resource in row["on"]
}


def test_every_recorded_call_is_allowed_again() -> None:
    assert RECORDED["calls"]
    assert [row for row in RECORDED["calls"] if not decide(row, RECORDED["policies"]).allowed] == []


def test_every_permission_is_used_or_has_a_reason() -> None:
    assert sorted(set(GRANTS) - USED - REASONED) == []


def test_a_reason_is_for_what_nothing_uses() -> None:
    assert sorted(REASONED & USED) == []
    assert sorted(REASONED - set(GRANTS)) == []


@pytest.mark.parametrize("row", UNUSED["grants"], ids=lambda row: row["policy"])
def test_a_reason_is_a_sentence(row: Mapping[str, Any]) -> None:
    assert len(row["reason"].split()) > 4
