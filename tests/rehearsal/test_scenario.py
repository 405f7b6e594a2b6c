from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import RehearsalError
from cdk_trainyard.rehearsal.scenario import folder_bundle, slowest_steps


def test_the_slowest_node_of_every_step_is_told() -> None:
    line = "2026-01-31T10:00:00+0000"
    logs = {
        "a": f"{line} [lustre] done in 2 s\n{line} [users] done in 0 s\n{line} [slurm] waiting\n",
        "b": f"{line} [lustre] done in 7 s\nsomething else\n",
    }
    assert slowest_steps(logs) == ["lustre 7 s"]
    assert slowest_steps({"a": ""}) == []


def test_a_folder_of_ones_own_is_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "steps.sh").write_text("x")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("x")
    assert folder_bundle(tmp_path) == {"lib/steps.sh": b"x"}


def test_fails_with_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="no scripts there"):
        folder_bundle(tmp_path)
