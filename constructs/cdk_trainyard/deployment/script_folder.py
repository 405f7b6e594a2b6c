"""What is wrong with a folder of scripts that a file names: said when the file is read."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.lifecycle import rules
from cdk_trainyard.lifecycle.bundle import Bundle, is_there, read_bundle
from cdk_trainyard.problems import At, Problem, either, shown
from cdk_trainyard.tokens import unresolved

_OTHER_PLACES: Final = {
    "s3://": "; scripts are uploaded from here, so copy that prefix into a folder",
    "~": "; nothing is put in place of '~': write a path from this file on",
}
"""How folders begin that are looked for elsewhere, and what to do about them."""


def read_folder(folder: Path, said: str, at: At, *, entries: Collection[str]) -> tuple[Bundle | None, list[Problem]]:
    """Return the files of a folder, and what is wrong with them; one that is none of these scripts is not read.

    Args:
        folder: The folder.
        said: What the file calls it.
        at: Where the file says so.
        entries: The names of the files in it that nodes execute.
    """
    if not said or not is_there(folder.is_dir):
        remedy = next((text for start, text in _OTHER_PLACES.items() if said.startswith(start)), "")
        return None, [Problem(at, f"must be an existing folder beside this file, got {shown(said)}{remedy}")]
    if texts := [*rules.system_folder_texts(folder)]:
        return None, [Problem(at, text) for text in texts]
    if _is_of_others(folder, entries):
        text = f"must have {either([*map(shown, dict.fromkeys(entries))])} at its top, got {shown(said)} without"
        return None, [Problem(at, text)]
    bundle = read_bundle(("", folder))
    return None if bundle.too_many else bundle, [replace(problem, at=at) for problem in rules.content_problems(bundle)]


def _is_of_others(folder: Path, entries: Collection[str]) -> bool:
    """Say whether a folder has none of the files that nodes execute, nor one of a name like theirs."""
    if not entries or unresolved(*entries) or any(entry in {"", ".", ".."} or "/" in entry for entry in entries):
        return False
    with suppress(OSError):
        names = [path.name for path in folder.iterdir()]
        return not any(entry in names or did_you_mean(entry, names) for entry in entries)
    return False


def entries_problems(bundle: Bundle | None, entries: Mapping[At, str]) -> Iterator[Problem]:
    """Check the files of a folder that nodes execute.

    Args:
        bundle: The folder's files. None: it could not be read, which is said already.
        entries: Their names, by where the file says them.
    """
    if bundle is not None:
        for at, entry in entries.items():
            yield from rules.entry_problems(bundle, entry, at=at)
