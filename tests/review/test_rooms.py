"""What each room of the library builds passes every reviewer's tool: no open finding, and no explanation of nothing."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk_trainyard.review import unmatched_acknowledgments
from tests.fleet.reviewed import ROOM as FLEET
from tests.hyperpod.reviewed import ROOM as HYPERPOD
from tests.network.reviewed import ROOM as NETWORK
from tests.parallelcluster.reviewed import ROOM as PARALLELCLUSTER
from tests.review.tools import Room, Templates
from tests.serving.reviewed import ROOM as SERVING
from tests.storage.reviewed import ROOM as STORAGE

ROOMS: dict[str, Room[Any]] = {
    "fleet": FLEET,
    "hyperpod": HYPERPOD,
    "network": NETWORK,
    "parallelcluster": PARALLELCLUSTER,
    "serving": SERVING,
    "storage": STORAGE,
}
BUILDS = {f"{room}-{build}": (room, build) for room, reviewed in ROOMS.items() for build in reviewed.builds}
Synthesize = Callable[[str], tuple[App, Path]]

pytestmark = [pytest.mark.review, pytest.mark.parametrize("name", BUILDS)]


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Synthesize:
    """Synthesizes a build, once."""

    @cache
    def synthesized(name: str) -> tuple[App, Path]:
        room, build = BUILDS[name]
        assembly = tmp_path_factory.mktemp(name)
        return ROOMS[room].synthesize(build, assembly), assembly

    return synthesized


@pytest.fixture(scope="module")
def templates(synthesized: Synthesize, tmp_path_factory: pytest.TempPathFactory) -> Templates:
    found = Templates(tmp_path_factory.mktemp("templates"))
    for name in BUILDS:
        found.add(name, synthesized(name)[1])
    return found


def test_no_finding_is_unexplained_and_no_explanation_idle(name: str, synthesized: Synthesize) -> None:
    app, assembly = synthesized(name)
    report = json.loads((assembly / "validation-report.json").read_text())
    assert [plugin["violations"] for plugin in report["pluginReports"] if plugin["violations"]] == []
    assert unmatched_acknowledgments(app, assembly) == []


def test_cfn_lint_has_no_open_finding(name: str, templates: Templates) -> None:
    assert templates.lint(name) == set()


def test_checkov_has_no_open_finding_and_no_idle_skip(name: str, templates: Templates) -> None:
    assert templates.checkov(name) == set()
