"""Count the files that one option touches: those by hand in which its name stands.

``python -m tools.option_files storage.capacity_gib`` prints them. Not counted is what is made from the specification
(the file's schema and reference, keywords of constructors, snapshots), deployment files, which use the option, what
stands by the same name in files of another room, and the tables of what other tools call options and of what is warned
of, which a new option can do without.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from cdk_trainyard.deployment.schema import BEGIN, END
from tools.keywords import PACKAGE, ROOT, by_hand

TOPS: Final = ("constructs", "stacks", "tools", "tests", "docs")
_TEXTS: Final = {".json", ".md", ".py", ".sh"}
_HINTS: Final = {"other_keys.json", "test_other_keys.py", "test_warnings.py"}
"""What other tools call an option, for who writes their word, and what surprises beside others: an option is whole
without, and most have none."""
_NOT_COUNTED: Final = {"__snapshots__", "__pycache__", "deployment.schema.json", "test_option_files.py"} | _HINTS
_ABOVE: Final = {"deployment", "options", "review"}
"""Rooms that speak of every other room's options."""
_CONTRACT: Final = "contract"
"""A tool that speaks of ParallelCluster alone."""
_ROOMS: Final = {path.name for path in PACKAGE.iterdir() if path.is_dir()} - _ABOVE


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the files of each option."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("options", nargs="+", metavar="ROOM.NAME")
    for option in parser.parse_args(arguments).options:
        found = files_of(*option.split("."))
        print(f"{option}: {len(found)} files", *found, sep="\n  ")
    return 0


def files_of(room: str, name: str) -> list[str]:
    """Return the files by hand that an option of a room touches.

    Args:
        room: The room.
        name: The option.
    """
    word = re.compile(rf"\b{name}\b")
    texts = {path: path.read_text(encoding="utf-8") for path in _texts(room)}
    named = [path for path, text in texts.items() if word.search(text)]
    return [str(path.relative_to(ROOT)) for path in named if word.search(_own_text(path.suffix, texts[path]))]


def _texts(room: str) -> Iterator[Path]:
    """Yield the texts that may speak of a room's options: those whose path names no other room."""
    for path in sorted(each for top in TOPS for each in (ROOT / top).rglob("*")):
        words = re.split(r"\W|_", str(path.relative_to(ROOT)).replace(_CONTRACT, "parallelcluster"))
        elsewhere = room not in words and not _ROOMS.isdisjoint(words)
        if path.suffix in _TEXTS and _NOT_COUNTED.isdisjoint(path.parts) and not elsewhere:
            yield path


def _own_text(suffix: str, text: str) -> str:
    """Return what was written by hand in a file's text."""
    if suffix == ".py":
        return by_hand(text)
    before, _, rest = text.partition(BEGIN)
    return before + rest.partition(END)[2]


if __name__ == "__main__":
    sys.exit(main())
