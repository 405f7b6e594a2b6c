"""What outside readings found wrong with a first deploy: each finding is settled on a page, by tests that exist."""

import ast
import re
from functools import cache

import pytest

from tests.support import ROOT

PAGE = ROOT / "docs" / "first-deploy.md"
FINDINGS = [
    f"{part}{number}" for part, last in (("A", 18), ("B", 9), ("C", 7), ("D", 4)) for number in range(1, last + 1)
]
ROW = re.compile(
    r"^\| (?P<id>[A-D]\d+) \|(?P<finding>[^|]+)\|(?P<became>[^|]+)\|(?P<tests>[^|]+)\|(?P<open>[^|]+)\|$", re.MULTILINE
)
TEST = re.compile(r"`(tests/[\w./-]+\.py)::(test_\w+)`")


def rows() -> list[re.Match[str]]:
    return list(ROW.finditer(PAGE.read_text(encoding="utf-8")))


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_finding_is_on_the_page_once() -> None:
    assert [row["id"] for row in rows()] == FINDINGS


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_a_finding_is_settled_by_tests_that_exist(row: re.Match[str]) -> None:
    named = TEST.findall(row["tests"])
    assert named
    assert [
        f"{path}::{name}" for path, name in named if not (ROOT / path).is_file() or name not in functions_of(path)
    ] == []
