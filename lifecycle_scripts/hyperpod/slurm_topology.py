#!/usr/bin/env python3
"""Give Slurm a topology where HyperPod has switched topology/tree on and has written none.

Since April 2026 HyperPod maintains the topology itself. Seen since then: topology/tree without topology.conf, with
which every job is refused ("Requested topology configuration is not available"), and an empty topology.yaml beside
partitions that name a topology, with which slurmctld of Slurm 25.11 crashes (pull requests 14 and 23 of
aws-samples/sample-physical-ai-scaffolding-kit). Then all nodes go under one switch, which says nothing of their places
and lets jobs run. A file that says something, HyperPod's or anybody's, is left alone.

slurm_topology.py [DIRECTORY] writes what is missing and prints the names of the files that it changed. Written for the
Python of the nodes (3.8 and newer), without any dependency.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

_OURS = "# trainyard: one switch for all nodes, while HyperPod writes no topology"
_TREE = re.compile(r"^\s*TopologyPlugin\s*=\s*topology/tree\b", re.IGNORECASE | re.MULTILINE)
_NODES = re.compile(r"^\s*NodeName\s*=\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_NAMED = re.compile(r"^\s*PartitionName\s*=.*\sTopology\s*=\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_SAYS = re.compile(r"^\s*(SwitchName|BlockName)\s*=", re.IGNORECASE | re.MULTILINE)


def read(path: Path) -> str | None:
    """Return what is in a file; nothing when there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


def is_settled(text: str | None, *, yaml: bool) -> bool:
    """Return whether somebody else than this program says something in the file."""
    if text is None or text.startswith(_OURS):
        return False
    words = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")).strip()
    return words not in ("", "[]", "---", "--- []", "{}") if yaml else bool(_SAYS.search(text))


def missing(directory: Path) -> dict[str, str]:
    """Return the files that must be written, with their texts."""
    conf = read(directory / "slurm.conf") or ""
    nodes = ",".join(name for name in _NODES.findall(conf) if name.upper() != "DEFAULT")
    names = sorted(set(_NAMED.findall(conf)))
    old, new = read(directory / "topology.conf"), read(directory / "topology.yaml")
    if not nodes or is_settled(old, yaml=False) or is_settled(new, yaml=True):
        return {}
    wanted: dict[str, str] = {}
    if new is not None or names:  # Slurm 25.05 and newer; it goes before topology.conf
        tree = {"switches": [{"switch": "all", "nodes": nodes}]}
        listed = [
            {"topology": name, "cluster_default": not number, "tree": tree}
            for number, name in enumerate(names or ["tree"])
        ]
        wanted["topology.yaml"] = f"{_OURS}\n{json.dumps(listed, indent=1)}\n"  # JSON is YAML
    elif _TREE.search(conf):
        wanted["topology.conf"] = f"{_OURS}\nSwitchName=all Nodes={nodes}\n"
    return {name: text for name, text in wanted.items() if read(directory / name) != text}


def main(arguments: list[str]) -> int:
    """Write what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?", default=Path("/opt/slurm/etc"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when something is missing")
    chosen = parser.parse_args(arguments)
    files = missing(chosen.directory)
    if chosen.check:
        return 1 if files else 0
    for name, text in files.items():
        path = chosen.directory / name
        temporary = path.with_name(f"{name}.trainyard-new")
        temporary.write_text(text, encoding="utf-8")
        temporary.chmod(0o644)
        temporary.replace(path)
        sys.stdout.write(f"{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
