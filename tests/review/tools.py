"""The reviewers' tools, asked about what tests build: each answers with what it still finds, so with nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from aws_cdk import App

from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from tests.support import ROOT

_Place = TypeVar("_Place")


class Review(Generic[_Place]):
    """What a room's tests build, each app synthesized once, when it is first asked for.

    Args:
        builds: What is built, by name.
        place: Where in an app it is built, as a new stack.
        folder: Where apps are synthesized to.
    """

    def __init__(
        self, builds: Mapping[str, Callable[[_Place], object]], place: Callable[[App], _Place], folder: Path
    ) -> None:
        self._builds, self._place, self._folder = builds, place, folder
        self._apps: dict[str, App] = {}

    def open_findings(self, name: str) -> list[Any]:
        """What rule packs and template validation find and nobody explains, and explanations of nothing."""
        app, assembly = self._app(name), self._folder / name
        report = json.loads((assembly / "validation-report.json").read_text())
        found = [plugin["violations"] for plugin in report["pluginReports"] if plugin["violations"]]
        return [*found, *unmatched_acknowledgments(app, assembly)]

    def lint(self) -> list[tuple[str, str]]:
        """What cfn-lint finds in the templates of all builds."""
        return lint(self._templates().iterdir())

    def checkov(self) -> list[tuple[str, str]]:
        """What checkov finds in the templates of all builds, and skips that skip nothing."""
        return checkov(self._templates())

    def _app(self, name: str) -> App:
        if name not in self._apps:
            app = App(outdir=str(self._folder / name))
            attach_checks(app)
            self._builds[name](self._place(app))
            app.synth()
            self._apps[name] = app
        return self._apps[name]

    def _templates(self) -> Path:
        templates = self._folder / "templates"
        templates.mkdir(exist_ok=True)
        for name in self._builds:
            self._app(name)
            for template in (self._folder / name).glob("*.template.json"):
                shutil.copy(template, templates / f"{name}-{template.name}")
        return templates


def lint(templates: Iterable[Path]) -> list[tuple[str, str]]:
    """What cfn-lint finds, warnings too: rule and message."""
    run = subprocess.run(
        [str(Path(sys.executable).with_name("cfn-lint")), "--format", "json", "--include-checks", "W", "--",
         *sorted(map(str, templates))],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert run.stdout, run.stderr
    return [(found["Rule"]["Id"], found["Message"]) for found in json.loads(run.stdout)]


def checkov(folder: Path) -> list[tuple[str, str]]:
    """What checkov finds in the templates of a folder, and skips that skip nothing: check and resource."""
    program = ROOT / ".venv-checkov" / "bin" / "checkov"
    assert program.exists(), "make test sets it up; alone: make .venv-checkov/.ready"
    run = subprocess.run(
        [str(program), "--directory", str(folder), "--framework", "cloudformation", "--output", "json",
         "--skip-download"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    report = json.loads(run.stdout)
    assert report["summary"]["parsing_errors"] == 0
    failed, skipped = (
        {(found["check_id"], found["resource"]) for found in report["results"].get(kind, [])}
        for kind in ("failed_checks", "skipped_checks")
    )
    written = {
        (skip["id"], f"{resource['Type']}.{logical_id}")
        for path in folder.glob("*.json")
        for logical_id, resource in json.loads(path.read_text())["Resources"].items()
        for skip in resource.get("Metadata", {}).get("checkov", {}).get("skip", [])
    }
    return sorted(failed | (written ^ skipped))
