"""``trainyard synth``: with the app of a project, and with the one that the package brings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_trainyard.cli import _cdk, main
from cdk_trainyard.cli._exits import Missing
from tests.cli.projects import FILE, project
from tests.deployment.good_file import edited
from tests.support import OF_THE_CLI, synthesize_here


def digest(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.json"))}


@pytest.mark.cli
def test_without_a_project_it_is_the_same_as_with_ours(tmp_path: Path) -> None:
    """From an empty folder, and with a home that cannot be made: Node's mkdir would try for ever."""
    ours, alone, empty = (tmp_path / name for name in ("ours", "alone", "empty"))
    empty.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "cdk_trainyard", "synth", str(FILE), "--json", "--output", str(alone)],
        cwd=empty,
        env=os.environ | {"HOME": "/proc/1/none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert synthesize_here(FILE, ours, OF_THE_CLI).stderr == ""
    assert digest(ours) == digest(alone)
    assert said["output"] == str(alone)
    assert said["stacks"]["TrainingStack"]["stack_name"] == "hyperpod-cpu-ddp-training"


@pytest.mark.cli
def test_an_unknown_stack_is_refused_with_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(tmp_path))
    assert main(["synth", str(FILE), "Trainingstack"]) == 1
    assert capsys.readouterr().err.endswith(
        "there is no stack 'Trainingstack', only NetworkStack, StorageStack, TrainingStack; "
        "did you mean 'TrainingStack'?\n"
    )


def test_a_file_that_is_wrong_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_cdk, "find", lambda: pytest.fail("nothing is looked for"))
    (tmp_path / "x.yaml").write_text(edited(("count: 4", "count: -4")))
    assert main(["synth", str(tmp_path / "x.yaml")]) == 1
    assert "'cluster.groups.workers.count' must be 0 to 6758, got -4" in capsys.readouterr().err


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path with nothing but what a test puts there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JSII_NODE", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(_cdk, "_wheel", lambda: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("node", "cdk", "said"),
    [
        (None, None, "there is no Node, and CDK runs on it"),
        ("echo v16.20.0", None, "CDK needs Node 20 or newer, "),
        ("exit 1", None, "is no Node that runs"),
        ("echo v24.1.0", None, "there is no cdk CLI on the path and none in node_modules; get it: npm install"),
        ("echo v24.1.0", "echo '3.0.0 (build x)'", "is 3.0.0 (build x), and CDK's CLI of version 2 is needed"),
        ("echo v24.1.0", "echo '1.204.0 (build x)'", "and CDK's CLI of version 2 is needed"),
        ("echo v24.1.0", "echo broken >&2; exit 1", "is no cdk CLI that runs (broken)"),
    ],
)
def test_what_is_missing_is_said_with_how_to_get_it(
    programs: Path, node: str | None, cdk: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("node", node), ("cdk", cdk)):
        if text:
            program(programs / name, text)
    assert main(["synth", str(FILE)]) == 3
    assert said in capsys.readouterr().err


def test_the_cli_is_found_in_node_modules(programs: Path) -> None:
    program(programs / "node", "echo v24.1.0")
    folder = programs / "node_modules" / ".bin"
    folder.mkdir(parents=True)
    program(folder / "cdk", "echo 2.1148.1")
    assert _cdk.find().program == str(folder / "cdk")


def test_the_version_is_that_of_npms_package_and_nothing_is_started(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(programs / "node", "echo v24.1.0")
    package, links = programs / "node_modules" / "aws-cdk", programs / "node_modules" / ".bin"
    (package / "bin").mkdir(parents=True)
    links.mkdir()
    (package / "package.json").write_text('{"name": "aws-cdk", "version": "3.0.0"}')
    program(package / "bin" / "cdk", "exit 1")
    (links / "cdk").symlink_to("../aws-cdk/bin/cdk")
    assert main(["synth", str(FILE)]) == 3
    assert f"{links / 'cdk'} is 3.0.0, and CDK's CLI of version 2 is needed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("says", "answer"),
    [
        (
            "Unable to resolve AWS account to use.",
            "check, synth, plan, demo, rehearse, contract, local and init need none",
        ),
        ("This CDK CLI is not compatible with the CDK library used", "the cdk CLI is too old for this aws-cdk-lib"),
    ],
)
def test_what_the_cli_lacks_is_explained(programs: Path, says: str, answer: str) -> None:
    program(programs / "node", "echo v24.1.0")
    program(programs / "cdk", f'[ "$1" = --version ] && echo 2.1148.1 && exit; echo "{says}"; exit 1')
    with pytest.raises(Missing, match=answer):
        _cdk.find().run("deploy")
