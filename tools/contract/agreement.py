"""The contract with ParallelCluster: ``python -m tools.contract.agreement cdk.out ...``.

Beside what ``trainyard contract`` asks, it compares the verdicts of our rules with ParallelCluster's on a table of good
and bad clusters, and the committed facts with the package. Exit code 1 when anything is refused or disagrees.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from cdk_trainyard.cli.contract.ask import ask, environment, python
from cdk_trainyard.cli.contract.collect import clusters
from cdk_trainyard.cli.contract.command import question, report
from cdk_trainyard.parallelcluster import parallelcluster_version
from tools.contract.table import SUBNETS, Row, rows

ROOT = Path(__file__).parents[2]
Verdict = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Check assemblies and the table; report; return the exit code."""
    found = [cluster for argument in arguments for cluster in clusters(Path(argument))]
    table = rows()
    answers = ask({"checks": [*map(question, found), *map(request_of, table)]})
    verdicts: list[Verdict] = answers["checks"]
    print(f"ParallelCluster {parallelcluster_version()}")
    for one, verdict in zip(found, verdicts, strict=False):
        print("\n".join(report(one, verdict)))
    refused = any(verdict["errors"] for verdict in verdicts[: len(found)])
    disagreements = [
        line for row, verdict in zip(table, verdicts[len(found) :], strict=True) if (line := disagreement(row, verdict))
    ]
    print(f"agreement: {len(table) - len(disagreements)} of {len(table)} clusters get the same verdict from both")
    print("".join(f"  - {line}\n" for line in disagreements), end="")
    print(f"not asked, for it takes an account: {', '.join(answers['skipped'])}")
    current = all(map(is_that_of_the_package, ("extract_facts", "extract_schema")))
    return 1 if refused or disagreements or not current else 0


def is_that_of_the_package(extractor: str) -> bool:
    """Tell whether committed data are what the package says.

    Args:
        extractor: The module beside this one that writes them: ``extract_facts`` or ``extract_schema``.
    """
    words = [str(python()), "-m", f"tools.contract.{extractor}", "--check"]
    return subprocess.run(words, cwd=ROOT, env=environment(), check=False).returncode == 0


def request_of(row: Row) -> dict[str, Any]:
    """Return the question that a row of the table is.

    Args:
        row: The row.
    """
    return {"name": row.cluster.name, "config": row.cluster.config, "subnets": SUBNETS, "key_type": row.key_type}


def disagreement(row: Row, verdict: Verdict) -> str | None:
    """Return what is wrong with a row, or None when both say what they should.

    Args:
        row: The row.
        verdict: What ParallelCluster says of it.
    """
    ours, theirs = row.cluster.problems, verdict["errors"]
    if verdict["unknown_instance_types"]:
        return f"{row.name}: ParallelCluster was not asked, EC2's answers lack {verdict['unknown_instance_types']}"
    if bool(ours) is row.good:
        return f"{row.name}: ours should {'take' if row.good else 'refuse'} it, and say {ours}"
    if bool(theirs) is (row.good or row.stricter is not None):
        return f"{row.name}: ParallelCluster says {theirs or 'nothing'}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
