import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import RehearsalError, _process


def test_a_program_that_fails_is_quoted() -> None:
    with pytest.raises(RehearsalError, match="'sh -c echo no >&2; exit 3' ended with code 3: no"):
        _process.run(["sh", "-c", "echo no >&2; exit 3"])
    assert _process.run(["sh", "-c", "exit 3"], check=False).code == 3


def test_a_program_that_hangs_is_named() -> None:
    with pytest.raises(RehearsalError, match=r"'node: sleep' did not end within 0\.1 s"):
        _process.run(["sleep", "9"], timeout=0.1, shown="node: sleep")


def test_programs_of_root_are_found_whoever_started_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert str(_process.find("chroot")).endswith("sbin/chroot")
    assert _process.find("no-program-of-this-name") is None
    seek = ["/bin/sh", "-c", 'command -v chroot; echo "$MORE"']
    found = _process.run(seek).out.splitlines()[0]
    assert found == _process.find("chroot")
    assert _process.run(seek, environment=_process.own_environment(MORE="more")).out.splitlines() == [found, "more"]
    with _process.start(seek, output=subprocess.PIPE) as started:
        assert started.communicate()[0].splitlines()[0] == found
    lines: list[str] = []
    _process.watch(seek, lines.append, named="seek")
    assert lines == [f"{found}\n", "\n"]
    program = "import sys; from cdk_trainyard.rehearsal import _process; _process.become(sys.argv[1:])"
    became = subprocess.run([sys.executable, "-c", program, *seek], capture_output=True, text=True, check=True)
    assert became.stdout.splitlines()[0] == found


@pytest.mark.parametrize("path", [None, ""])
def test_without_a_path_nothing_is_started_from_the_present_directory(
    path: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chroot").write_text("#!/bin/sh\necho wrong\n")
    (tmp_path / "chroot").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PATH") if path is None else monkeypatch.setenv("PATH", path)
    assert str(_process.find("chroot")).endswith("sbin/chroot")
    assert str(_process.find("sh")).endswith("bin/sh")


def test_no_other_module_starts_or_seeks_programs() -> None:
    package = Path(_process.__file__).parent
    programs = {"parallelcluster/fetch_and_run.py", "session_plugin.py"}
    """They are programs of their own: a node starts one, the AWS CLI or trainyard the other."""
    starts = re.compile(r"subprocess\.(run|Popen|check_\w+|call)\(|shutil\.which\(|os\.(exec|spawn|system|popen)")
    found = {str(path.relative_to(package)) for path in package.rglob("*.py") if starts.search(path.read_text())}
    assert found - programs == {"_process.py"}


def test_a_program_that_is_watched_is_told_and_quoted_line_by_line() -> None:
    lines: list[str] = []
    with pytest.raises(RehearsalError, match=r"^the builder ended with code 3\none\ntwo$"):
        _process.watch(["sh", "-c", "cat; echo two >&2; exit 3"], lines.append, named="the builder", text="one\n")
    assert lines == ["one\n", "two\n"]
    with pytest.raises(RehearsalError, match=r"^the builder ended with code 1$"):  # it has read nothing
        _process.watch(["false"], lines.append, named="the builder", text="one\n" * 100_000)


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
        _process.wait_for("its end", lambda: not _process.alive(child.pid), seconds=120)
    assert _process.parent_of(child.pid) is None
    assert _process.name_of(child.pid) == ""
    _process.end(child.pid, signal.SIGTERM)
