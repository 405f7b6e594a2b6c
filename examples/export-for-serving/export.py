#!/usr/bin/env python3
"""Turn a checkpoint of neuronx-distributed into a model that can be served, and put it into the model bucket.

Ends with 1 when the export is refused, with 75 when trying again may help. README.md has an example.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from model_export import ExportError, TemporaryError
from model_export.bucket import LARGEST_PUT, Bucket, Target
from model_export.layout import BYTES, load_config
from model_export.staging import Staging, sha256

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRY_AGAIN = 75  # EX_TEMPFAIL
_GIB = 1024**3
_HEADER_ROOM = 16 * 1024**2


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    add = made.add_argument
    add("--checkpoint", type=Path, required=True, help="directory of one step")
    add("--model", type=Path, required=True, help="config.json of the model, as it was trained")
    add("--tokenizer", type=Path, required=True, help="directory with the tokenizer's files")
    add("--to", metavar="s3://BUCKET/PREFIX", help="where the model goes (default: nowhere; it stays in --staging)")
    add("--staging", type=Path, help="directory for the files (default: export-<step> beside the checkpoints)")
    add("--dtype", choices=sorted(BYTES), help="of the numbers (default: torch_dtype of the model)")
    add("--file-gib", type=float, default=4.0, metavar="GIB", help="of a file, at most (default: %(default)s)")
    add("--bucket-owner", metavar="ACCOUNT", help="that must own the bucket")
    return made


def run(chosen: argparse.Namespace) -> None:
    """Convert, and upload.

    Raises:
        ExportError: It is not possible.
    """
    target = Target.parse(chosen.to, chosen.bucket_owner) if chosen.to else None
    limit = int(chosen.file_gib * _GIB)
    if not 0 < limit <= LARGEST_PUT - _HEADER_ROOM:
        raise ExportError(
            f"'--file-gib' must be above 0 and below 5, what S3 takes in one piece, got {chosen.file_gib}"
        )
    config = load_config(chosen.model)
    dtype = chosen.dtype or config.get("torch_dtype") or "bfloat16"
    if dtype not in BYTES:
        raise ExportError(
            f"'torch_dtype' of {chosen.model} must be one of {', '.join(BYTES)}, got {dtype!r}; use '--dtype'"
        )
    # imported now, because a mistake above should not cost the seconds that torch takes
    try:
        from model_export.checkpoint import Checkpoint  # noqa: PLC0415
        from model_export.convert import convert  # noqa: PLC0415
    except ImportError as error:
        raise ExportError(f"'PYTHON' must have torch and what requirements.txt names: {error}") from error

    checkpoint = Checkpoint(chosen.checkpoint)
    step = chosen.checkpoint.resolve()
    source = {
        "checkpoint": step.name,
        "training": checkpoint.facts,
        "written": _written(step),
        "model": config,
        "dtype": dtype,
        "file_bytes": limit,
        "tokenizer": {path.name: sha256(path) for path in sorted(chosen.tokenizer.iterdir()) if path.is_file()},
    }
    staging = Staging(chosen.staging or step.parent.parent / f"export-{step.name}", source)
    names = convert(checkpoint, config, chosen.tokenizer, staging, dtype=dtype, limit=limit, say=_say)
    _say(f"{staging.directory} has the model: {len(names)} files from {checkpoint.cores} cores")
    if target:
        manifest = {"version": 1, "checkpoint": step.name, "training": checkpoint.facts, "dtype": dtype}
        Bucket(target, _say).upload(staging.directory, names, staging.sums(), manifest)


def _written(step: Path) -> str:
    """Return what tells this checkpoint from one that was written over it: a sum of names, sizes and times."""
    files = sorted((step / "model").rglob("*.pt"))
    facts = [f"{path.relative_to(step)} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(words: Sequence[str]) -> int:
    """Export, and say in a sentence why not."""
    try:
        run(parser().parse_args(words))
    except (ExportError, OSError, json.JSONDecodeError) as error:
        sys.stderr.write(f"export.py: {error}\n")
        return _TRY_AGAIN if isinstance(error, TemporaryError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
