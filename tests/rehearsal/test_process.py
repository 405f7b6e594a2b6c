import os
import signal
import subprocess
import sys

import pytest

from cdk_trainyard.rehearsal import RehearsalError, _process


def test_a_program_that_fails_is_quoted() -> None:
    with pytest.raises(RehearsalError, match="'sh -c echo no >&2; exit 3' ended with code 3: no"):
        _process.run(["sh", "-c", "echo no >&2; exit 3"])
    assert _process.run(["sh", "-c", "exit 3"], check=False).code == 3


def test_a_program_that_hangs_is_named() -> None:
    with pytest.raises(RehearsalError, match=r"'node: sleep' did not end within 0\.1 s"):
        _process.run(["sleep", "9"], timeout=0.1, shown="node: sleep")


def test_waiting_in_vain_says_for_what() -> None:
    with pytest.raises(RehearsalError, match="waited 0 s in vain for Godot"):
        _process.wait_for("Godot", lambda: False, seconds=0.05, every=0.01)
    assert _process.wait_for("zero", lambda: 0, seconds=1) == 0


def test_processes_are_found_by_their_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in _process.children(os.getpid())
        assert _process.parent_of(child.pid) == os.getpid()
        assert _process.alive(child.pid)
        child.kill()
        _process.wait_for("its end", lambda: not _process.alive(child.pid), seconds=5)
    assert _process.parent_of(child.pid) is None
    assert _process.name_of(child.pid) == ""
    _process.end(child.pid, signal.SIGTERM)
