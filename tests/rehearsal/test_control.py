import os
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import RehearsalError, control


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "cdk-trainyard"


def crash(name: str) -> str:
    if name != "worker-1":
        raise RehearsalError(f"no node is named '{name}'")
    return f"{name}: power cut"


def test_a_command_is_done_and_answered(directory: Path) -> None:
    with control.Control({"crash": crash}):
        assert control.running() == [os.getpid()]
        assert control.ask("crash", "worker-1") == "worker-1: power cut"
        assert control.ask("crash", "worker-1", rehearsal=os.getpid()) == "worker-1: power cut"
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("crash", "x"), "no node is named 'x'"),
        (("crush", "x"), "no command is named 'crush'; there are crash"),
        (("crash",), "missing 1 required positional argument"),
    ],
)
def test_fails_with_the_rehearsals_own_words(words: tuple[str, ...], message: str) -> None:
    with control.Control({"crash": crash}), pytest.raises(RehearsalError, match=message):
        control.ask(*words)


def test_fails_when_none_runs() -> None:
    with pytest.raises(RehearsalError, match="no rehearsal runs; start one with --keep"):
        control.ask("nodes")


def test_fails_when_several_run(directory: Path) -> None:
    directory.mkdir()
    for number in (1, os.getpid()):
        (directory / f"{number}.sock").touch()
    with pytest.raises(RehearsalError, match=f"2 rehearsals run \\(1, {os.getpid()}\\): choose one with --rehearsal"):
        control.ask("nodes")


def test_fails_when_it_does_not_answer(directory: Path) -> None:
    directory.mkdir()
    (directory / f"{os.getpid()}.sock").touch()
    with pytest.raises(RehearsalError, match="does not answer"):
        control.ask("nodes")


def test_records_of_processes_that_are_gone_are_leftovers(directory: Path) -> None:
    directory.mkdir()
    (directory / "4194399.sock").touch()  # beyond the highest id that Linux gives
    assert control.running() == []
    assert control.leftovers() == [directory / "4194399.sock"]
