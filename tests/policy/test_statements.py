"""Conditions, actions and resources: what AWS's documentation says of each, row by row."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.policy import Context, Statement, parse_policy

HERE = Path(__file__).parent


def rows(name: str) -> list[Any]:
    """The rows of a table, each with its source and a readable id."""
    found = []
    for table in yaml.safe_load((HERE / name).read_text(encoding="utf-8")):
        assert table["source"]
        found += [pytest.param(*row, id=" ".join(map(str, row[:3]))) for row in table["rows"]]
    return found


def one(version: str = "2012-10-17", **elements: Any) -> Statement:
    statement = {"Effect": "Allow", **elements}
    if "NotAction" not in statement:
        statement.setdefault("Action", "*")
    if "NotResource" not in statement:
        statement.setdefault("Resource", "*")
    (read,) = parse_policy({"Version": version, "Statement": statement}, name="p").statements
    return read


@pytest.mark.parametrize(("operator", "key", "values", "context", "holds"), rows("conditions.yaml"))
def test_condition(operator: str, key: str, values: list[Any], context: dict[str, Any], holds: bool) -> None:
    statement = one(Condition={operator: {key: values}})
    assert (statement.unmet(Context(context)) == []) == holds


@pytest.mark.parametrize(("elements", "action", "resource", "keys", "is_about"), rows("statements.yaml"))
def test_statement(elements: dict[str, Any], action: str, resource: str, keys: dict[str, Any], is_about: bool) -> None:
    statement = one(elements.get("Version", "2012-10-17"), **{k: v for k, v in elements.items() if k != "Version"})
    found = statement.is_about_action(action) and statement.is_about_resource(resource, Context(keys))
    assert found == is_about


def test_operators_and_keys_are_all_demanded() -> None:
    statement = one(
        Condition={
            "StringEqualsIgnoreCase": {
                "aws:PrincipalTag/department": ["finance", "hr", "legal"],
                "aws:PrincipalTag/role": ["audit", "security"],
            },
            "StringEquals": {"aws:PrincipalAccount": "123456789012"},
        }
    )
    met = {
        "aws:PrincipalTag/department": "HR",
        "aws:PrincipalTag/role": "audit",
        "aws:PrincipalAccount": "123456789012",
    }
    assert statement.unmet(Context(met)) == []
    for key in met:
        (unmet,) = statement.unmet(Context({**met, key: "other"}))
        assert unmet.key == key
