"""Generate the names of Slurm's parameters, and what each takes, from Slurm's own source.

``python -m tools.generate_slurm_parameters CHECKOUT`` rewrites ``cdk_trainyard/parallelcluster/data/slurm.json`` from a
clone of SchedMD/slurm with its tags. A name is there when one of ``VERSIONS`` knows it: which of them runs on a head
node follows from ParallelCluster's version, and the next one may be newer.
"""

import argparse
import json
import re
import subprocess
from collections import defaultdict
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
    "S_P_UINT64": "number",
    "S_P_LONG": "number",
    "S_P_BOOLEAN": "boolean",
}


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
    for version in VERSIONS:
        source = _git(checkout, "show", f"slurm-{version}:{SOURCE}")
        for table, name in TABLES.items():
            for parameter, kind in _rows(source, name):
                kinds[table][parameter].add(KINDS.get(kind, "text"))
    for table, name in FIRST.items():
        kinds[table][name].add("text")
    content = {
        "source": f"SchedMD/slurm, {SOURCE}",
        "versions": list(VERSIONS),
        "date": _git(checkout, "log", "-1", "--format=%cs", f"slurm-{VERSIONS[-1]}").strip(),
        **{table: {name: _widest(kind) for name, kind in sorted(rows.items())} for table, rows in kinds.items()},
    }
    return json.dumps(content, indent=1) + "\n"


def _widest(kinds: set[str]) -> str:
    """Return what holds the values of every version."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "number" if kinds == {"short", "number"} else "text"


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
