"""Which checkpoint is complete, which one is the last, and what becomes of those that are not.

neuronx-distributed writes a checkpoint file by file into ``step_<n>/`` and puts ``done`` there at the end, when every
process has handed its files to its kernel. A node that dies right after takes what it had not written out with it. So
``complete.json`` is written after that, when every node has synchronized: it lists the files with their sizes, and
what the training was. A checkpoint counts when it is there and the files are as it says.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MARKER = "complete.json"
_DONE = "done"  # neuronx-distributed's own
_TAG = re.compile(r"step_(\d{8,})")


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint."""

    tag: str
    step: int
    identity: Mapping[str, Any]


def tag_of(step: int) -> str:
    """Return the name of the checkpoint after a step."""
    return f"step_{step:08d}"


def step_of(name: str) -> int | None:
    """Return the step of a checkpoint's name; None when it is no such name."""
    found = _TAG.fullmatch(name)
    return int(found[1]) if found else None


def mark_complete(checkpoint: Path, identity: Mapping[str, object]) -> None:
    """Say that every file of a checkpoint is written: to a file of its own, which then gets its name."""
    step = step_of(checkpoint.name)
    if step is None:
        raise ValueError(f"{checkpoint.name} is not the name of a checkpoint")
    text = json.dumps({"step": step, "identity": identity, "files": _sizes(checkpoint)}, indent=1)
    # a process of an earlier attempt may still be writing, on a node that Slurm has lost: it has another file
    temporary = checkpoint / f"{MARKER}-{socket.gethostname()}-{os.getpid()}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(checkpoint / MARKER)
    _sync(checkpoint)


def flaw(checkpoint: Path) -> str | None:
    """Return why a checkpoint does not count; None when it is complete."""
    try:
        found = json.loads((checkpoint / MARKER).read_text(encoding="utf-8"))
        files = {str(name): int(size) for name, size in found["files"].items()}
        step = int(found["step"])
    except FileNotFoundError:
        return "it was not finished"
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        return f"its {MARKER} cannot be read: {error!r}"
    if step != step_of(checkpoint.name):
        return f"its {MARKER} is of step {step}"
    for name, size in sorted(files.items()):
        path = checkpoint / name
        there = path.stat().st_size if path.is_file() else None
        if there != size:
            return f"{name} {'is missing' if there is None else f'has {there} bytes'} instead of {size} bytes"
    return None


def latest(directory: Path) -> Checkpoint | None:
    """Return the complete checkpoint of the highest step; None when there is none."""
    for path in reversed(_checkpoints(directory)):
        if flaw(path) is None:
            found = json.loads((path / MARKER).read_text(encoding="utf-8"))
            return Checkpoint(path.name, int(found["step"]), found["identity"])
    return None


def clear_away(directory: Path) -> dict[str, str]:
    """Make room for the checkpoints to come; return what was in the way, with the reason.

    One that was never finished is removed: files of an earlier attempt must not stay among those of the next one. So
    is one that was being removed, which begins with ``done``. One that is damaged is renamed, for somebody to look at.
    """
    cleared = {}
    for path in _checkpoints(directory):
        reason = flaw(path)
        if reason is None:
            continue
        cleared[path.name] = reason
        if (path / MARKER).exists() and (path / _DONE).exists():
            path.rename(_free_name(directory, f"damaged-{path.name}"))
        else:
            shutil.rmtree(path)
    return cleared


def difference(checkpoint: Checkpoint, identity: Mapping[str, object]) -> list[str]:
    """Return what a training that goes on from a checkpoint must not change, and did."""
    now = json.loads(json.dumps(identity))  # numbers and lists as JSON has them
    return [
        f"checkpoint {checkpoint.tag} was trained with '{name}' {json.dumps(checkpoint.identity.get(name))}, got "
        f"{json.dumps(value)}; use the old one, or another '--directory'"
        for name, value in now.items()
        if checkpoint.identity.get(name) != value
    ]


def _checkpoints(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    found = [path for path in directory.iterdir() if path.is_dir() and step_of(path.name) is not None]
    return sorted(found, key=lambda path: step_of(path.name) or 0)


def _sizes(checkpoint: Path) -> dict[str, int]:
    files = sorted(path for path in checkpoint.rglob("*") if path.is_file() and not path.name.startswith(MARKER))
    return {str(path.relative_to(checkpoint)): path.stat().st_size for path in files}


def _free_name(directory: Path, name: str) -> Path:
    path, number = directory / name, 1
    while path.exists():
        path, number = directory / f"{name}-{number}", number + 1
    return path


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
