"""The reviewers' tools, asked about what tests build: each answers with what it still finds, so with nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from aws_cdk import App

from cdk_trainyard.review import attach_checks
from tests.support import ROOT

_Place = TypeVar("_Place")
Findings = set[tuple[str, str]]


class Room(Generic[_Place]):
    """What a room of the library builds for review.

    Args:
        place: Where in an app it is built, as a new stack.
        builds: What is built there, each in an app of its own, named as its function.
    """

    def __init__(self, place: Callable[[App], _Place], builds: Sequence[Callable[[_Place], object]]) -> None:
        self._place = place
        self.builds = {build.__name__: build for build in builds}

    def synthesize(self, name: str, outdir: Path) -> App:
        """Return the app of a build, synthesized with the rule packs."""
        app = App(outdir=str(outdir))
        attach_checks(app)
        self.builds[name](self._place(app))
        app.synth()
        return app


class Templates:
    """Templates of many assemblies: the programs start once for all of them, and answer for each by its name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, assembly: Path) -> None:
        for template in assembly.glob("*.template.json"):
            shutil.copy(template, self._folder / f"{name}@{template.name}")

    def lint(self, name: str) -> Findings:
        """What cfn-lint finds, warnings too: rule and message."""
        return {(found["Rule"]["Id"], found["Message"]) for found in self._linted if _is_of(name, found["Filename"])}

    def checkov(self, name: str) -> Findings:
        """What checkov finds, and skips that skip nothing: check and resource."""
        failed, skipped = (
            {
                (found["check_id"], found["resource"], found["file_path"])
                for found in self._checked.get(kind, [])
                if _is_of(name, found["file_path"])
            }
            for kind in ("failed_checks", "skipped_checks")
        )
        written = {
            (skip["id"], f"{resource['Type']}.{logical_id}", f"/{path.name}")
            for path in self._folder.glob(f"{name}@*")
            for logical_id, resource in json.loads(path.read_text())["Resources"].items()
            for skip in resource.get("Metadata", {}).get("checkov", {}).get("skip", [])
        }
        return {(check, resource) for check, resource, _ in failed | (written ^ skipped)}

    @cached_property
    def _linted(self) -> list[dict[str, Any]]:
        program = Path(sys.executable).with_name("cfn-lint")
        templates = sorted(str(path) for path in self._folder.iterdir())
        said = _output(program, "--format", "json", "--include-checks", "W", "--", *templates)
        return list(json.loads(said))

    @cached_property
    def _checked(self) -> dict[str, Any]:
        program = ROOT / ".venv-checkov" / "bin" / "checkov"
        assert program.exists(), "make test sets it up; alone: make .venv-checkov/.ready"
        said = _output(
            program, "--directory", str(self._folder), "--framework", "cloudformation", "--output", "json",
            "--compact", "--skip-download",
        )  # fmt: skip
        report = json.loads(said)
        assert report["summary"]["parsing_errors"] == 0
        return dict(report["results"])


def _is_of(name: str, file: str) -> bool:
    return Path(file).name.startswith(f"{name}@")


_UNCOLLECTED = """
import atexit, gc, runpy, sys
gc.disable()
atexit.register(gc.freeze)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a program of Python's without looking for garbage, which is a fifth of its time, and little memory."""


def _output(program: Path, *words: str) -> str:
    python = program.with_name("python")
    run = subprocess.run([python, "-c", _UNCOLLECTED, program, *words], capture_output=True, text=True, check=False)
    assert run.stdout, run.stderr
    return run.stdout
