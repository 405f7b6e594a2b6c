import json
import os
import subprocess
import sys

import pytest

from cdk_trainyard.rehearsal import __main__ as command_line
from cdk_trainyard.rehearsal import requirements, rootless


@pytest.fixture
def incapable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "missing", lambda: ["nodes boot for root only"])
    monkeypatch.delenv("REQUIRE_NODES", raising=False)


@pytest.mark.usefixtures("incapable")
def test_a_machine_that_cannot_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check"]) == 69
    assert capsys.readouterr().out == "nodes boot for root only\n"
    assert command_line.main(["check", "--json"]) == 69
    assert json.loads(capsys.readouterr().out) == {"missing": ["nodes boot for root only"]}


@pytest.mark.usefixtures("incapable")
def test_a_skip_is_a_failure_where_nodes_are_required(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUIRE_NODES", "1")
    assert command_line.main(["deployments/x.yaml"]) == 69
    assert capsys.readouterr().err == "rehearsal: nodes boot for root only\n"


@pytest.mark.usefixtures("incapable")
def test_without_slurm_there_is_no_job_either(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rootless, "missing", lambda: ["munge", "slurmd"])
    assert command_line.main(["deployments/x.yaml"]) == 69
    assert "apt-get install munge slurmd" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.yaml"], "none.yaml: no such deployment file"),
        ([__file__, "--scripts", "none"], "none: no such folder of scripts"),
    ],
)
def test_fails_before_anything_is_built(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements, "missing", list)
    assert command_line.main(words) == 1
    assert capsys.readouterr().err == f"rehearsal: {message}\n"


@pytest.mark.parametrize("words", [["nodes"], ["crash", "x"], ["shell", "x"], ["scale", "g", "2"]])
def test_commands_need_a_rehearsal_that_runs(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert command_line.main(words) == 1
    assert capsys.readouterr().err == "rehearsal: no rehearsal runs; start one with --keep\n"


def test_down_with_nothing_to_end_is_fine(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert command_line.main(["down"]) == 0
    assert "rehearsals ended: 0" in capsys.readouterr().out


def test_the_help_names_every_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "cdk_trainyard.rehearsal", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    ).stdout
    assert [word for word in ("run", "shell", "logs", "crash", "replace", "scale", "down") if word not in shown] == []


@pytest.mark.parametrize("module", ["__main__", "scenarios"])
def test_no_command_starts_jsii(module: str) -> None:
    """It takes seconds, and only the cdk CLI's own processes need it."""
    program = f"import sys, cdk_trainyard.rehearsal.{module}; print(sorted({{'jsii', 'aws_cdk'}} & set(sys.modules)))"
    words = [sys.executable, "-c", program]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"
