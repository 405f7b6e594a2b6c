"""Every row of the gateway endpoints' policies is needed by a fetch of the table, or stands in a list with the reason.

A row is taken out of the policy, and every server of the table is judged again: the row is used when one is refused
then. What nothing notices is in ``unused_rows.json``, and nothing else is.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.reach import Gateway, Place, Region, Target, fetches, judge_target, read_places
from tests.stacks.snapshots import shipped_templates
from tests.support import ROOT

UNUSED = json.loads((Path(__file__).parent / "unused_rows.json").read_text(encoding="utf-8"))


def deployments() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield Region and templates of every shipped deployment."""
    for name, templates in shipped_templates().items():
        yield yaml.safe_load((ROOT / "deployments" / f"{name}.yaml").read_text(encoding="utf-8"))["region"], templates


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def rows(policy: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name of every row, and the policy without it."""
    statements = policy["Statement"]
    for place, statement in enumerate(statements):
        others = [other for at, other in enumerate(statements) if at != place]
        for resource in listed(statement["Resource"]):
            rest = [other for other in listed(statement["Resource"]) if other != resource]
            kept = [{**statement, "Resource": rest}] if rest else []
            yield f"{statement.get('Sid', '')} {resource}".strip(), {**policy, "Statement": [*others, *kept]}


def through(place: Place, service: str, policy: Mapping[str, Any]) -> Place:
    return replace(place, gateways={**place.gateways, service: Gateway(policy=policy)})


def targets(region: str) -> list[Target]:
    every = {target for fetch in fetches() for address in fetch.addresses for target in address.targets}
    return [target for target in every if target.asked_in(region)]


@pytest.fixture(scope="module")
def judged() -> tuple[set[str], set[str]]:
    """Return every row of every shipped policy, and those that a fetch needs."""
    every, used = set(), set()
    for name, templates in deployments():
        region = Region(name=name)
        place = next(place for place in read_places(templates, region) if place.gateways)
        for service, gateway in place.gateways.items():
            if gateway.policy is None:
                continue
            reached = [target for target in targets(name) if judge_target(target, place, region).reached]
            for row, policy in rows(gateway.policy):
                general = row.replace(name, "REGION")
                every.add(general)
                changed = through(place, service, policy)
                if general not in used and any(not judge_target(one, changed, region).reached for one in reached):
                    used.add(general)
    return every, used


REASONED = {row for entry in UNUSED["rows"] for row in entry["rows"]}


def test_every_row_is_used_or_has_a_reason(judged: tuple[set[str], set[str]]) -> None:
    every, used = judged
    assert every
    assert sorted(every - used - REASONED) == []


def test_a_reason_is_for_what_nothing_uses(judged: tuple[set[str], set[str]]) -> None:
    every, used = judged
    assert sorted(REASONED & used) == []
    assert sorted(REASONED - every) == []


@pytest.mark.parametrize("entry", UNUSED["rows"], ids=lambda entry: entry["rows"][0])
def test_a_reason_is_a_sentence(entry: Mapping[str, Any]) -> None:
    assert len(entry["reason"].split()) > 4
