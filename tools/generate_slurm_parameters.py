"""Generate the names of Slurm's parameters, and what each takes, and of its plugins, from Slurm's own source.

``python -m tools.generate_slurm_parameters CHECKOUT`` rewrites ``cdk_trainyard/parallelcluster/data/slurm.json`` from a
clone of SchedMD/slurm with its tags. A name is there when one of ``VERSIONS`` knows it: which of them runs on a head
node follows from ParallelCluster's version, and the next one may be newer.
"""

import argparse
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

OUTPUT = Path(__file__).parent.parent / "constructs" / "cdk_trainyard" / "parallelcluster" / "data" / "slurm.json"
VERSIONS = ("23-11-7-1", "24-05-8-1", "24-11-7-1", "25-05-3-1", "25-11-6-1", "26-05-3-1")
SOURCE = "src/common/read_config.c"
TABLES = {
    "cluster": "slurm_conf_options",
    "partition": "_partition_options",
    "node": "_nodename_options",
    "nodeset": "_nodeset_options",
    "downnodes": "_downnodes_options",
}
"""Lines of ``slurm.conf``, and where the parser lists what may stand in each."""
FIRST = {"partition": "PartitionName", "node": "NodeName", "nodeset": "NodeSet", "downnodes": "DownNodes"}
"""What the line begins with, which the table leaves out."""
KINDS = {
    "S_P_UINT16": "short",
    "S_P_UINT32": "number",
    "S_P_UINT64": "long",
    "S_P_LONG": "long",
    "S_P_BOOLEAN": "boolean",
}
PLUGINS = "src/plugins"
NO_PLUGINS = ("common", "common_xkcp")
"""Folders beside plugins that are none."""
LIMITS = "src/common/slurm_rlimits_info.c"


def main() -> None:
    """Rewrite the committed data, or write it elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="clone of SchedMD/slurm")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="file to write")
    given = parser.parse_args()
    given.output.write_text(text(given.checkout), encoding="utf-8")


def text(checkout: Path) -> str:
    """Return the content of the file.

    Args:
        checkout: A clone of Slurm's repository.
    """
    kinds: dict[str, dict[str, set[str]]] = {table: defaultdict(set) for table in TABLES}
    known: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for version in VERSIONS:
        source = _git(checkout, "show", f"slurm-{version}:{SOURCE}")
        for table, name in TABLES.items():
            for parameter, kind in _rows(source, name):
                kinds[table][parameter].add(KINDS.get(kind, "text"))
                known[".".join(version.split("-")[:2])][table].add(parameter.lower())
    absent = {version: _absent(kinds, has) for version, has in known.items()}
    for table, name in FIRST.items():
        kinds[table][name].add("text")
    content = {
        "source": f"SchedMD/slurm, {SOURCE}, {LIMITS} and {PLUGINS}",
        "versions": list(VERSIONS),
        "date": _git(checkout, "log", "-1", "--format=%cs", f"slurm-{VERSIONS[-1]}").strip(),
        **{table: {name: _widest(kind) for name, kind in sorted(rows.items())} for table, rows in kinds.items()},
        "absent": absent,
        "debug_flags": _union(checkout, _debug_flags),
        "resource_limits": _union(checkout, _resource_limits),
        "plugins": _plugins(checkout),
    }
    return json.dumps(content, indent=1) + "\n"


def _absent(kinds: Mapping[str, Collection[str]], has: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Return the names that one version has not, by table."""
    names = {table: sorted(name for name in rows if name.lower() not in has[table]) for table, rows in kinds.items()}
    return {table: found for table, found in names.items() if found}


def _widest(kinds: set[str]) -> str:
    """Return what holds the values of every version."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return next((kind for kind in ("long", "number") if kind in kinds and "text" not in kinds), "text")


def _union(checkout: Path, words: Callable[[Path, str], list[str]]) -> list[str]:
    """Return the words of every version, each once, whatever its letters."""
    found = {word.lower(): word for version in VERSIONS for word in words(checkout, version)}
    return sorted(found.values(), key=str.lower)


def _debug_flags(checkout: Path, version: str) -> list[str]:
    """Return what ``debug_str2flags`` knows, without what it calls removed."""
    source = _git(checkout, "show", f"slurm-{version}:{SOURCE}")
    function = re.search(r"debug_str2flags\(const char[^;]*?\n\{.*?\n\}", source, re.DOTALL)
    assert function, f"{SOURCE} has no debug_str2flags"  # noqa: S101
    return re.findall(r'xstrcasecmp\(tok, "(\w+)"\)(?! == 0\)\s+error)', function[0])


def _resource_limits(checkout: Path, version: str) -> list[str]:
    return re.findall(r'\{ RLIMIT_\w+,\s+"(\w+)"', _git(checkout, "show", f"slurm-{version}:{LIMITS}"))


def _plugins(checkout: Path) -> dict[str, list[str]]:
    """Return the plugins of each kind, of every version."""
    found: dict[str, set[str]] = defaultdict(set)
    for version in VERSIONS:
        for folder in _git(checkout, "ls-tree", "-rd", "--name-only", f"slurm-{version}", f"{PLUGINS}/").splitlines():
            kind, _, name = folder.removeprefix(PLUGINS).strip("/").partition("/")
            if kind and name and "/" not in name and name not in NO_PLUGINS:
                found[kind].add(name)
    return {kind: sorted(names) for kind, names in sorted(found.items())}


def _rows(source: str, table: str) -> list[tuple[str, str]]:
    begins = re.search(rf"s_p_options_t {table}\[\] = \{{", source)
    assert begins, f"{SOURCE} has no table {table}"  # noqa: S101
    rows = source[begins.end() : source.index("{NULL}", begins.end())]
    return re.findall(r'\{\s*"(\w+)"\s*,\s*(S_P_\w+)', rows)


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "-C", str(checkout), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
