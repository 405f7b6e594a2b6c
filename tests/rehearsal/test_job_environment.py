"""The job's Python environment: what is done when a registry does not answer. The nodes' tests train with it."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.rehearsal.errors import RehearsalError

job_environment = importlib.import_module("cdk_trainyard.rehearsal.job_environment")  # the package has its function


def make(monkeypatch: pytest.MonkeyPatch, folder: Path, failures: int) -> list[str]:
    """Make an environment with a pip that fails so many times; return what was said."""
    said: list[str] = []
    answers: Iterator[bool] = iter([False] * failures + [True])

    def watch(*_words: Any, named: str, **_environment: Any) -> None:
        if named == "pip" and not next(answers):
            raise RehearsalError("pip failed")

    monkeypatch.setattr(job_environment, "watch", watch)
    monkeypatch.setattr(job_environment, "_AGAIN_S", (0, 0))
    job_environment._make(folder / "environment", said.append)
    return said[1:]


@pytest.mark.parametrize("failures", range(3))
def test_a_pip_that_fails_is_run_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failures: int) -> None:
    assert make(monkeypatch, tmp_path, failures) == ["job environment: pip failed; once more in 0 s"] * failures


def test_a_pip_that_fails_three_times_has_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="pip failed"):
        make(monkeypatch, tmp_path, 3)
