#!/usr/bin/env python3
"""Print a plugstack.conf that nodes without a configuration of their own can take, and that has a plugin exactly once.

The controller sends such nodes plugstack.conf, and nothing that it includes. So every file that is included is written
out in its place. A plugin that is named twice registers its options twice, on which srun fails: the first line stays.
Written for the Python of the nodes (3.8 and newer), without any dependency.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_KINDS = ("required", "optional")
_DEPTH = 10  # of files that include one another


def lines_of(path: Path, root: str, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a file, with those of the files that it includes in their places."""
    if depth > _DEPTH or not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) > 1 and words[0].lower() == "include":
            pattern = words[1] if words[1].startswith("/") else str(path.parent / words[1])
            absolute = pattern if pattern.startswith(root) else root + pattern
            for found in sorted(Path("/").glob(absolute.lstrip("/"))):
                yield from lines_of(found, root, depth + 1)
        else:
            yield line


def plugin_of(line: str) -> str:
    """Return the file name of the plugin that a line loads; nothing when it loads none."""
    words = line.split()
    return PurePosixPath(words[1]).name if len(words) > 1 and words[0] in _KINDS else ""


def merge(lines: Iterator[str], wanted: str) -> list[str]:
    """Return the lines without a second one for the same plugin, and with the wanted one."""
    kept: list[str] = []
    seen: set[str] = set()
    for line in lines:
        plugin = plugin_of(line)
        if plugin not in seen:
            kept.append(line)
        if plugin:
            seen.add(plugin)
    return kept if not wanted or plugin_of(wanted) in seen else [*kept, wanted]


def main(arguments: list[str]) -> int:
    """Print the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default="", help="stands before every absolute path")
    parser.add_argument("path", type=Path, help="the plugstack.conf that is there")
    parser.add_argument("line", nargs="?", default="", help="the line of a plugin that must be there")
    chosen = parser.parse_args(arguments)
    sys.stdout.write("\n".join(merge(lines_of(chosen.path, chosen.root), chosen.line)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
