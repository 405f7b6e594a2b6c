"""The command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.__main__ import _run, main

_TOPICS = "import boto3, os; print(boto3.client('sns').create_topic(Name='x')['TopicArn'], os.environ['AWS_REGION'])"


def test_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a process of its own, as users start it, and with a real profile in reach."""
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
    command = [sys.executable, "-m", "cdk_trainyard.local", "run", "--region", "eu-west-1", "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", f"{_TOPICS}; raise SystemExit(7)"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    assert done.stdout == "arn:aws:sns:eu-west-1:123456789012:x eu-west-1\n"
    assert done.stderr.startswith("local AWS: http://127.0.0.1:")
    assert done.stderr.endswith(" is account 123456789012, region eu-west-1\n")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ([sys.executable, "-c", ""], 0),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"], 143),
        (["no-such-command"], 127),
    ],
)
def test_exit_codes(aws: LocalAws, command: list[str], code: int) -> None:
    assert _run(command, aws) == code


@pytest.mark.parametrize("arguments", [[], ["run"], ["run", "--"], ["walk"]])
def test_fails_on_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_serve_ends_when_it_is_told_to() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "cdk_trainyard.local", "serve"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "is account" in process.stderr.readline()
        process.terminate()
        assert process.wait(timeout=20) == 143
