"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App, Stack

from cdk_trainyard.parallelcluster import ParallelCluster
from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from tests.parallelcluster.parts import DEPLOYMENTS, closed, new_stack

CLUSTERS = {**DEPLOYMENTS, "closed": closed}


def synthesize(define: Callable[[Stack], ParallelCluster], outdir: Path) -> App:
    app = App(outdir=str(outdir))
    attach_checks(app)
    define(new_stack(app))
    app.synth()
    return app


@pytest.mark.parametrize("define", CLUSTERS.values(), ids=CLUSTERS)
def test_no_finding_is_unexplained_and_no_explanation_idle(
    define: Callable[[Stack], ParallelCluster], tmp_path: Path
) -> None:
    app = synthesize(define, tmp_path)
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert [plugin["violations"] for plugin in report["pluginReports"] if plugin["violations"]] == []
    assert unmatched_acknowledgments(app, tmp_path) == []


@pytest.mark.review
def test_cfn_lint_has_no_open_finding(tmp_path: Path) -> None:
    for name, define in CLUSTERS.items():
        synthesize(define, tmp_path / name)
    templates = sorted(map(str, tmp_path.glob("*/*.template.json")))
    run = subprocess.run(
        [str(Path(sys.executable).with_name("cfn-lint")), "--include-checks", "W", "--", *templates],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == ""


@pytest.mark.review
def test_checkov_has_no_open_finding(tmp_path: Path) -> None:
    for name, define in CLUSTERS.items():
        synthesize(define, tmp_path / name)
    program = Path(__file__).parents[2] / ".venv-checkov/bin/checkov"
    run = subprocess.run(
        [str(program), "--framework", "cloudformation", "--compact", "--quiet", "--directory", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Failed checks: 0" in run.stdout or run.stdout.strip() == "", run.stdout
