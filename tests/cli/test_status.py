"""``trainyard status --watch`` says it again when it has changed; ``logs --follow`` ends quietly when nobody reads."""

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from cdk_trainyard.cli import main, status
from cdk_trainyard.operations import Status


def test_a_watch_says_what_has_changed_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states = iter(["CREATE_IN_PROGRESS", "CREATE_IN_PROGRESS", "CREATE_COMPLETE"])

    def read(_of: Any) -> Status:
        stack: Any = SimpleNamespace(name="mine-training", status=next(states), reason="")
        return Status(stacks=(stack,), conditions=(), file_systems=(), alarms=(), events=(), refused=())

    waits: Iterator[float] = iter([1.0, 2.0])

    def wait(_seconds: float) -> None:
        if next(waits, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(status, "opened", lambda _file: None)
    monkeypatch.setattr(status, "_read", read)
    monkeypatch.setattr("cdk_trainyard.cli.status.time.sleep", wait)
    assert main(["status", "x.yaml", "--watch"]) == 130
    shown = capsys.readouterr().out
    assert shown.count("CREATE_IN_PROGRESS") == shown.count("CREATE_COMPLETE") == 1


FOLLOW = """
import sys
from datetime import UTC, datetime
from types import SimpleNamespace
from cdk_trainyard.cli import logs, main

numbers = iter(range(10**6))
line = lambda: SimpleNamespace(id=str(next(numbers)), at=datetime.now(UTC), stream="s", text="x" * 100)
logs.opened = lambda _file: None
logs._streams = lambda *_words: []
logs._read = lambda *_words: ([line() for _ in range(100)], [])
logs.time = SimpleNamespace(sleep=lambda _seconds: None)
sys.exit(main(["logs", "x.yaml", "node", "--follow"]))
"""


@pytest.mark.programs
def test_a_terminal_that_closes_ends_it_quietly() -> None:
    words = [sys.executable, "-c", FOLLOW]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline().endswith("x\n")
        run.stdout.close()
        assert run.wait(timeout=600) == 1
        assert run.stderr.read() == ""
