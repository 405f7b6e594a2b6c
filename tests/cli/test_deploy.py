"""``trainyard deploy``, ``diff`` and ``destroy``: with the real CLI, and what is said of what it says."""

import json
import os
from pathlib import Path

import pytest

from cdk_trainyard.cli import _cdk, main
from cdk_trainyard.cli._stacks import Stacks
from cdk_trainyard.cli.deploy import report
from cdk_trainyard.local import LocalAws
from tests.cli.projects import FILE, project
from tests.environment import bootstrap

EVENTS = """
NetworkStack (mine-network): deploying... [1/2]
mine-network |  1/27 | 9:04:18 PM | CREATE_COMPLETE | AWS::EC2::VPC | NetworkStack/Network (Network1C6012B5)
 ✅  NetworkStack (mine-network) (no changes)
TrainingStack (mine-training): deploying... [2/2]
mine-training | 0/9 | 9:04:18 PM | CREATE_FAILED | AWS::SageMaker::Cluster | TrainingStack/Cluster no capacity
❌  TrainingStack (mine-training) failed: ToolkitError: The stack named mine-training failed
"""


def test_a_line_for_each_stack(capsys: pytest.CaptureFixture[str]) -> None:
    stacks = Stacks(None)
    for line in EVENTS.splitlines():
        stacks.hear(line)
    assert capsys.readouterr().err == "NetworkStack: nothing to change, 0 s\nTrainingStack: failed, 0 s\n"
    assert stacks.done == ["NetworkStack"]
    assert [line.rpartition(" ")[2] for line in stacks.failures] == ["capacity"]


def test_what_is_for_other_stacks_is_not_shown_and_commands_come_last() -> None:
    outputs = {"ExportsOutputRefX": "1", "Quotas": "2", "ConnectCommand": "aws ssm", "VpcId": "vpc-1"}
    assert report({"mine-training": outputs}) == [
        "\nmine-training",
        "  VpcId: vpc-1",
        "\nHow to connect",
        "  ConnectCommand: aws ssm",
    ]


WARNED = {"type": "aws:cdk:warning", "data": "all is lost [ack: @x/y:z]"}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cdk that says what the file ``said`` has and fails."""
    program = tmp_path / "cdk"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncat {tmp_path}/said\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setattr(_cdk, "find", lambda: _cdk.Cdk(program=str(program), environment=dict(os.environ), own={}))
    return tmp_path


def test_what_failed_is_said(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake / "said").write_text(EVENTS)
    assert main(["deploy", str(FILE), "--yes"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "CREATE_FAILED | AWS::SageMaker::Cluster | TrainingStack/Cluster no capacity" in said.err
    assert "CREATE_COMPLETE" not in said.err
    assert said.err.endswith("cdk deploy failed; --verbose shows everything\n")
    assert "--all" in (fake / "asked").read_text()


@pytest.mark.parametrize("name", ["deploy", "diff", "destroy"])
def test_without_credentials_it_says_what_needs_none(name: str, fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake / "said").write_text("Need to perform AWS calls for account 1, but no credentials have been configured\n")
    assert main([name, str(FILE), *(["--yes"] if name != "diff" else [])]) == 3
    assert "check, synth, plan, demo, rehearse, contract, local and init need none" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["deploy", "diff", "destroy"])
def test_nothing_is_written_where_it_is_called(
    name: str, fake: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be one that takes no files: what is synthesized is gone when the command ends."""
    (fake / "said").write_text("")
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    main([name, str(FILE), *(["--yes"] if name != "diff" else [])])
    written = Path((fake / "asked").read_text().partition("--output ")[2].split()[0])
    assert written.is_absolute()
    assert here not in written.parents
    assert not written.exists()


@pytest.mark.parametrize("name", ["deploy", "destroy"])
def test_nobody_to_ask_is_wrong_usage(name: str, fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake / "said").write_text("")
    assert main([name, str(FILE)]) == 2
    assert "there is nobody to ask: add --yes" in capsys.readouterr().err
    assert not (fake / "asked").exists()


def test_what_was_asked_about_is_what_is_deployed(
    fake: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The app does not run again, which may say something else by then; what it warns of is said."""
    (fake / "manifest.json").write_text(json.dumps({"artifacts": {"A": {"type": "x", "metadata": {"/A/B": [WARNED]}}}}))
    write = f'while [ $# -gt 1 ]; do [ "$1" = --output ] && cp {fake}/manifest.json "$2"; shift; done'
    (fake / "cdk").write_text(f'#!/bin/sh\necho "$@" >> {fake}/asked\n{write}\n')
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_words, **_more: True)
    assert main(["deploy", str(FILE)]) == 0
    diff, deploy = (fake / "asked").read_text().splitlines()
    assert f"--app {diff.rpartition('--output ')[2].split()[0]} " in deploy
    assert capsys.readouterr().err.splitlines()[-1] == "warning: A/B: all is lost"


@pytest.mark.parametrize("name", ["deploy", "diff", "destroy"])
def test_an_unknown_stack_is_refused_before_anything_is_done(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The CLI itself would pass over one that stands beside one that it knows."""
    rows = [{"id": "NetworkStack (mine-network)", "name": "mine-network"}, {"id": "TrainingStack", "name": "x"}]
    (tmp_path / "listed").write_text(f"[Warning at /X] something\n{json.dumps(rows, indent=2)}\n")
    program = tmp_path / "cdk"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n[ "$2" = list ] && cat {tmp_path}/listed\n')
    program.chmod(0o755)
    monkeypatch.setattr(_cdk, "find", lambda: _cdk.Cdk(program=str(program), environment=dict(os.environ), own={}))
    words = [name, str(FILE), "NetworkStack", "Trainingstack", *(["--yes"] if name != "diff" else [])]
    assert main(words) == 1
    assert capsys.readouterr().err.endswith(
        "there is no stack 'Trainingstack', only NetworkStack, TrainingStack; did you mean 'TrainingStack'?\n"
    )
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.startswith("--no-color list ")
    main([word for word in words if word != "Trainingstack"])
    *_, listed, done = (tmp_path / "asked").read_text().splitlines()
    assert f"--app {listed.rpartition('--output ')[2].split()[0]}" in done  # and the app does not run again


@pytest.mark.cli
@pytest.mark.usefixtures("empty_aws")
def test_deployed_compared_and_destroyed(
    aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """First from an empty folder, with the app that the package brings; then in a project that says the same."""

    def trainyard(*words: str) -> tuple[int, str, str]:
        code = main([words[0], str(FILE), *words[1:]])
        return code, *capsys.readouterr()

    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    bootstrap(aws.client("cloudformation", "us-east-1"))
    code, out, err = trainyard("deploy", "NetworkStack", "--yes", "--json")
    assert (code, "NetworkStack: done" in err) == (0, True), err
    outputs = json.loads(out)["hyperpod-cpu-ddp-network"]
    monkeypatch.chdir(project(tmp_path))
    code, out, err = trainyard("deploy", "Network*", "--yes")
    assert f"  VpcId: {outputs['VpcId']}" in out.splitlines()
    assert (code, "NetworkStack: nothing to change" in err) == (0, True), err
    code, out, _ = trainyard("diff", "Network*", "--fail")
    assert (code, "There were no differences" in out) == (0, True)
    assert trainyard("destroy", "Network*", "--yes")[0] == 0
    code, out, _ = trainyard("diff", "Network*", "--fail")
    assert (code, "AWS::EC2::VPC" in out) == (1, True)
