#!/usr/bin/env python3
"""What a model's folder must hold: all of its manifest, as it was written, and what the engine reads.

Arguments: the folder, and what the engine reads (JSON): patterns of files, pieces of weights by rank, values of
neuron_config.json. Or ``--write`` and the folder, to make the manifest of a model that is uploaded by hand. Every file
is read once, which also fills the cache of a mounted bucket. A manifest says of each file how many bytes it has and
their SHA-256: a part of an upload never passes, in whatever order its files arrive.

Hosts run this with their system's Python (3.9 on Amazon Linux 2023), builds with their image's.
"""

from __future__ import annotations

import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MANIFEST = "trainyard-manifest.json"
CONFIG = "neuron_config.json"
_BLOCK = 1 << 20
_AT_ONCE = 4


def facts(path: Path) -> dict[str, Any]:
    """Return what a manifest says of a file; reads all of it."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return {"bytes": path.stat().st_size, "sha256": total.hexdigest()}


def files_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a manifest says of every file of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return _all_facts({path.relative_to(folder).as_posix(): path for path in paths})


def missing(folder: Path, there: Collection[str], wanted: Mapping[str, Any]) -> list[str]:
    """Return what the engine reads and the folder does not have, or has otherwise."""
    pieces = [wanted["pieces"].replace("*", str(rank)) for rank in range(wanted["ranks"])]
    needed = [*wanted["files"], *pieces]
    found = [f"there is no {name}" for name in needed if not any(fnmatch(known, name) for known in there)]
    if found or not wanted["config"]:
        return found
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    told = {key: str(config.get(key)).replace("torch.", "") for key in wanted["config"]}
    return [
        f"{key} of {CONFIG} is {told[key]}, and the service asks for {value}"
        for key, value in wanted["config"].items()
        if told[key] != str(value)
    ]


def cut_off(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return which files of a manifest are not there, or have not all of their bytes."""
    absent = [name for name in files if not (folder / name).is_file()]
    if absent:
        return [f"{len(absent)} of {len(files)} files are not there, {absent[0]} among them"]
    return [
        f"{name} has not the {fact['bytes']} bytes of the manifest"
        for name, fact in files.items()
        if (folder / name).stat().st_size != fact["bytes"]
    ]


def changed(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return which files of a manifest have other bytes; reads all of them."""
    found = _all_facts({name: folder / name for name in files})
    return [f"{name} has not the SHA-256 of the manifest" for name in files if found[name] != files[name]]


def _all_facts(paths: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = {name: pool.submit(facts, path) for name, path in paths.items()}
        return {name: told.result() for name, told in asked.items()}


def problems(folder: Path, wanted: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with a folder."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return [f"there is no {MANIFEST}, without which nobody knows whether the upload has ended"]
    files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    return cut_off(folder, files) or missing(folder, files, wanted) or changed(folder, files)


def write(folder: Path, **facts_of_it: object) -> bytes:
    """Write the manifest of a folder, and return it."""
    text = json.dumps({"version": 1, **facts_of_it, "files": files_of(folder)}, indent=2, sort_keys=True)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return text.encode()


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write(Path(sys.argv[2]))
    else:
        sys.exit("; ".join(problems(Path(sys.argv[1]), json.loads(sys.argv[2]))) or 0)
