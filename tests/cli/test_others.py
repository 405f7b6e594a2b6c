"""``trainyard demo``: a stack that cannot be deployed leaves the others deployed, and is named.

tests/test_wheel.py has the demo without a project, tests/test_docs.py that of a whole deployment.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnResource, Stack

from cdk_trainyard.cli import _others
from cdk_trainyard.cli._cdk import Done
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.local import LocalAws
from tests.cli.projects import project

_TOPIC = '{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}'
_UNKNOWN = "unknown-region"


class _Cli:
    """Stands in for the cdk CLI: deploys a topic for each stack to the local AWS, and stops at the first that fails.

    Args:
        aws: Where.
        stacks: Id of each stack to those that it stands on, in the order in which the CLI deploys them.
        failing: Those that fail.
    """

    def __init__(self, aws: LocalAws, stacks: dict[str, list[str]], failing: Sequence[str]) -> None:
        self.stacks, self.failing, self.cloud = stacks, failing, aws.client("cloudformation")
        self.calls: list[tuple[str, ...]] = []

    def show(self, *words: str) -> int:
        self.calls.append(words)
        for stack in [words[1]] if "--exclusively" in words else self.stacks:
            if stack in self.failing:
                return 1
            self.cloud.create_stack(StackName=stack, TemplateBody=_TOPIC)
        return 0

    def run(self, *_words: str) -> Done:
        rows: list[dict[str, Any]] = [
            {
                "id": name,
                "name": name,
                "environment": {"region": _UNKNOWN},
                "dependencies": [{"id": each, "dependencies": []} for each in below],
            }
            for name, below in self.stacks.items()
        ]
        return Done(code=0, lines=["[Warning] something", *json.dumps(rows, indent=2).splitlines()])


@pytest.mark.usefixtures("empty_aws")
@pytest.mark.parametrize(
    ("stacks", "failing", "missing", "again"),
    [
        ({"A1": [], "B1": ["A1"]}, [], [], 0),
        ({"A2": [], "B2": ["A2"]}, ["B2"], ["B2"], 0),
        ({"A3": [], "B3": ["A3"], "C3": []}, ["A3"], ["A3", "B3 (stands on A3)"], 2),
        ({"A4": [], "B4": ["A4"], "C4": ["B4"], "D4": ["A4"]}, ["B4"], ["B4", "C4 (stands on B4)"], 2),
        ({"A5": [], "B5": [], "C5": []}, ["A5", "C5"], ["A5", "C5"], 3),
    ],
)
def test_the_others_are_deployed(
    aws: LocalAws, stacks: dict[str, list[str]], failing: list[str], missing: list[str], again: int
) -> None:
    cli = _Cli(aws, stacks, failing)
    assert _others.deploy(cli, cli.show, aws, ["*"], [], "cdk.out") == missing
    assert len(cli.calls) == 1 + again
    there = {row["StackName"] for row in cli.cloud.describe_stacks()["Stacks"]}
    assert there >= stacks.keys() - {name.partition(" ")[0] for name in missing}
    assert not there & {name.partition(" ")[0] for name in missing}


def test_an_app_that_cannot_be_synthesized_is_not_tried_again(aws: LocalAws) -> None:
    cli = _Cli(aws, {"Z": []}, ["Z"])
    cli.run = lambda *_words: Done(code=1, lines=[])
    with pytest.raises(Wrong, match=r"^cdk deploy failed, as shown above$"):
        _others.deploy(cli, cli.show, aws, ["Z"], [], "cdk.out")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A project: a stack that cannot be deployed, one that stands on it, and two others."""
    app = App(outdir=str(tmp_path / "synthesized"), analytics_reporting=False)
    kinds = {
        "Good": "AWS::SNS::Topic",
        "Bad": "AWS::AppSync::Api",
        "Other": "AWS::SNS::Topic",
        "Upper": "AWS::SNS::Topic",
    }
    stacks = {name: Stack(app, name) for name in kinds}
    for name, stack in stacks.items():
        CfnResource(stack, "Thing", type=kinds[name])
    stacks["Upper"].add_stack_dependency(stacks["Bad"], "for a test")
    return project(tmp_path, Path(app.synth().directory))


def demo(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run ``trainyard demo --json`` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "cdk_trainyard", "demo", "--json", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.cli
def test_with_the_real_cli(here: Path) -> None:
    """In a project, which is synthesized once."""
    done = demo(here, "--stack", "*")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "not deployed, as shown above: Bad, Upper (stands on Bad)"
    assert "AWS::AppSync::Api (Thing) is not emulated here" in done.stderr
    assert [name for name in ("Good", "Other") if f"✅  {name}" not in done.stderr] == []
    assert (here / "runs").read_text() == "run\n"


@pytest.mark.cli
def test_an_unknown_stack_is_refused_before_anything_is_deployed(here: Path) -> None:
    done = demo(here, "--stack", "good")
    assert done.returncode == 1
    assert "there is no stack 'good', only Good, Bad, Other, Upper; did you mean 'Good'?" in done.stderr
    assert "cdk bootstrap" not in done.stderr
