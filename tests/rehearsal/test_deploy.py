from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.rehearsal import RehearsalError
from cdk_trainyard.rehearsal.deploy import environment_of, synthesize


def manifest(*environments: str) -> dict[str, Any]:
    stacks = {
        f"Stack{number}": {"type": "aws:cloudformation:stack", "environment": environment}
        for number, environment in enumerate(environments)
    }
    return {"artifacts": {**stacks, "Tree": {"type": "cdk:tree"}}}


def test_account_and_region_come_from_the_assembly() -> None:
    assert environment_of(manifest(*["aws://123456789012/us-west-2"] * 2)) == ("123456789012", "us-west-2")


@pytest.mark.parametrize("environments", [(), ("aws://1/a", "aws://1/b")])
def test_fails_without_one_environment(environments: tuple[str, ...]) -> None:
    with pytest.raises(RehearsalError, match="must stand in one environment"):
        environment_of(manifest(*environments))


def test_fails_without_a_deployment_file(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match=r"none\.yaml: no such deployment file"):
        synthesize(tmp_path / "none.yaml", tmp_path / "out")


def fake_cdk(folder: Path, script: str) -> None:
    program = folder / "cdk"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_fails_with_the_last_words_of_the_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "x.yaml"
    file.touch()
    with pytest.raises(RehearsalError, match="the cdk CLI is not in PATH"):
        synthesize(file, tmp_path)
    fake_cdk(tmp_path, "echo wrong; exit 3")
    with pytest.raises(RehearsalError, match="'cdk synth' ended with code 3\nwrong"):
        synthesize(file, tmp_path)
