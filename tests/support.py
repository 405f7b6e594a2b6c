"""What several rooms' tests share: what the app makes, among others."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import MagicMock

import pytest

ROOT = Path(__file__).parent.parent
STAGED = {"aws:cdk:disable-asset-staging": False}
"""``App(post_cli_context=STAGED)``: an app that copies its assets beside its templates, as it does for the cdk CLI."""
DEPLOYMENTS = sorted((ROOT / "deployments").glob("*.yaml"))


@dataclass(frozen=True)
class Synthesis:
    """What ``app.py`` makes of a deployment file."""

    outdir: Path
    returncode: int
    stderr: str

    @cached_property
    def report(self) -> dict[str, Any]:
        return dict(json.loads((self.outdir / "validation-report.json").read_text()))

    @cached_property
    def templates(self) -> dict[str, dict[str, Any]]:
        """Stack's construct id → template."""
        return {
            path.name.removesuffix(".template.json"): json.loads(path.read_text())
            for path in sorted(self.outdir.glob("*.template.json"))
        }


OF_THE_CLI = {"aws:cdk:enable-path-metadata": True, "aws:cdk:enable-asset-metadata": True}
"""What the cdk CLI adds to the context of an app."""


def synthesize_here(
    deployment: Path, outdir: Path, context: Mapping[str, Any] = MappingProxyType({}), *, checked: bool = True
) -> Synthesis:
    """Do what ``app.py`` does in this process, which has loaded CDK; test_training_environment.py compares the two.

    Unless ``checked``, without the rules of cdk-nag and template validation, and without what they say in a report.
    """
    from aws_cdk import App  # noqa: PLC0415  other tests need no CDK

    from cdk_trainyard.deployment import Deployment  # noqa: PLC0415
    from cdk_trainyard.deployment.origins import say_origins  # noqa: PLC0415
    from cdk_trainyard.review import attach_checks, unmatched_acknowledgments  # noqa: PLC0415
    from stacks import build_stacks  # noqa: PLC0415

    said = json.loads((ROOT / "cdk.json").read_text())["context"] | dict(context)
    app = App(outdir=str(outdir), context=said, post_cli_context=STAGED)
    if checked:
        attach_checks(app)
    loaded = Deployment.load(deployment)
    build_stacks(app, loaded)
    say_origins(app, loaded)
    app.synth()
    problems = unmatched_acknowledgments(app, outdir) if checked else []
    return Synthesis(outdir, 1 if problems else 0, "\n".join(problems))


def every(client: Any, operation: str, **parameters: Any) -> dict[str, Any]:
    """Return the answer of an operation with all its pages: in an AWS that tests share, others' things may fill one."""
    if client.can_paginate(operation):
        return dict(client.get_paginator(operation).paginate(**parameters).build_full_result())
    return dict(getattr(client, operation)(**parameters))


def catch_answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Catch what functions of custom resources answer to ``https://answer``, where CloudFormation would be."""
    sent: list[dict[str, Any]] = []

    def urlopen(request: Any, timeout: int) -> MagicMock:
        assert (request.get_method(), request.full_url, timeout) == ("PUT", "https://answer", 30)
        sent.append(json.loads(request.data))
        return MagicMock()

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    return sent


def looked_at(tool: str, *files: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool of the environment that looks at reviews."""
    python = ROOT / ".venv-browser" / "bin" / "python"
    assert python.exists(), "make test sets it up; alone: make .venv-browser/.ready"
    return subprocess.run(
        [python, "-m", f"tools.{tool}", *files], cwd=ROOT, capture_output=True, text=True, check=False
    )
