"""The snapshot of cpu-ddp, without torch: a process that was given up and is not dead must not spoil it."""

import sys
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import pytest

from tests.lifecycle_scripts.programs import load

MODEL: Any = type("Model", (), {"state_dict": lambda _: {}})()


class CutError(Exception):
    """The end of a process."""


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program; ``train.torch.save`` is what a test makes of it."""
    torch: Any = ModuleType("torch")
    torch.nn, torch.distributed, torch.optim = ModuleType("torch.nn"), ModuleType("torch.distributed"), ModuleType("o")
    parallel: Any = ModuleType("torch.nn.parallel")
    parallel.DistributedDataParallel = object
    for module in (torch, torch.nn, torch.distributed, parallel):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return load("jobs/cpu-ddp/train.py")


def test_a_straggler_does_not_write_into_the_snapshot_of_the_next_attempt(
    train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = train.Snapshot(tmp_path, 4)

    def whole(state: dict[str, Any], file: IO[bytes]) -> None:
        file.write(b"step %d" % state["step"])

    def halting(_: dict[str, Any], file: IO[bytes]) -> None:
        file.write(b"old")
        file.flush()
        monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
        monkeypatch.setattr(train.torch, "save", whole)
        snapshot.save(MODEL, MODEL, 20)
        file.write(b"and older")
        file.flush()
        raise CutError

    monkeypatch.setattr(train.torch, "save", halting, raising=False)
    with pytest.raises(CutError):
        snapshot.save(MODEL, MODEL, 10)
    assert (tmp_path / "snapshot.pt").read_bytes() == b"step 20"


def test_what_was_being_written_is_cleared_away_and_the_snapshot_is_not(
    train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise CutError

    monkeypatch.setattr(train.torch, "save", cut, raising=False)
    snapshot = train.Snapshot(tmp_path, 4)
    with pytest.raises(CutError):
        snapshot.save(MODEL, MODEL, 10)
    (tmp_path / "snapshot.pt").touch()
    assert len(list(tmp_path.iterdir())) == 2
    snapshot.clear_away()
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot.pt"]


def test_a_snapshot_of_another_number_of_ranks_is_refused(
    train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "snapshot.pt").touch()
    monkeypatch.setattr(train.torch, "load", lambda *_, **__: {"world": 4, "step": 10}, raising=False)
    assert train.Snapshot(tmp_path, 4).read()["step"] == 10
    with pytest.raises(SystemExit, match=r"snapshot.pt is of 4 ranks, and 2 would go on with it: start as many"):
        train.Snapshot(tmp_path, 2).read()
