"""The contract with ParallelCluster: ``python -m tools.contract cdk.out ...``.

Takes every ParallelCluster configuration out of the given cloud assemblies and lets ParallelCluster itself judge it:
its schema, its validators as far as they need no account, and its template renderer. Then it compares the verdicts of
our rules with ParallelCluster's on a table of good and bad clusters. Exit code 1 when anything is refused or disagrees.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from cdk_trainyard.parallelcluster import parallelcluster_version
from cdk_trainyard.parallelcluster.checks import cluster_problems
from cdk_trainyard.parallelcluster.render import cluster_config
from cdk_trainyard.parallelcluster.rules_config import ANYTHING
from tools.contract.ask import ask, facts_are_those_of_the_package
from tools.contract.collect import Found, clusters
from tools.contract.table import SUBNETS, Row, rows

Verdict = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Check assemblies and the table; report; return the exit code."""
    found = [cluster for argument in arguments for cluster in clusters(Path(argument))]
    table = rows()
    requests = [{"name": one.name, "config": one.config, "subnets": one.subnets, "render": True} for one in found]
    answers = ask({"checks": [*requests, *map(request_of, table)]})
    verdicts: list[Verdict] = answers["checks"]
    print(f"ParallelCluster {parallelcluster_version()}")
    refused = sum([report(one, verdict) for one, verdict in zip(found, verdicts, strict=False)])
    if not found:
        print("no ParallelCluster configuration in what was given")
    disagreements = [
        line for row, verdict in zip(table, verdicts[len(found) :], strict=True) if (line := disagreement(row, verdict))
    ]
    print(f"agreement: {len(table) - len(disagreements)} of {len(table)} clusters get the same verdict from both")
    print("".join(f"  - {line}\n" for line in disagreements), end="")
    print(f"not asked, for it takes an account: {', '.join(answers['skipped'])}")
    return 1 if refused or disagreements or not facts_are_those_of_the_package() else 0


def request_of(row: Row) -> dict[str, Any]:
    """Return the question that a row of the table is.

    Args:
        row: The row.
    """
    wiring = replace(ANYTHING, region=row.cluster.region or ANYTHING.region)
    config = cluster_config(row.cluster, wiring)
    return {"name": row.cluster.name, "config": config, "subnets": SUBNETS, "key_type": row.key_type}


def disagreement(row: Row, verdict: Verdict) -> str | None:
    """Return what is wrong with a row, or None when both say what they should.

    Args:
        row: The row.
        verdict: What ParallelCluster says of it.
    """
    ours, theirs = cluster_problems(row.cluster), verdict["errors"]
    if verdict["unknown_instance_types"]:
        return f"{row.name}: ParallelCluster was not asked, EC2's answers lack {verdict['unknown_instance_types']}"
    if bool(ours) is row.good:
        return f"{row.name}: ours should {'take' if row.good else 'refuse'} it, and say {ours}"
    if bool(theirs) is (row.good or row.stricter is not None):
        return f"{row.name}: ParallelCluster says {theirs or 'nothing'}"
    return None


def report(one: Found, verdict: Verdict) -> bool:
    """Print ParallelCluster's verdict on a configuration; return whether it was refused.

    Args:
        one: The configuration.
        verdict: The verdict.
    """
    print(f"{one.stack}/{one.logical_id} (cluster {one.name}): {'refused' if verdict['errors'] else 'taken'}")
    for kind in ("errors", "warnings"):
        print("".join(f"  {kind[:-1]}: {line}\n" for line in verdict[kind]), end="")
    if verdict["unknown_instance_types"]:
        print(f"  validators not run: EC2's answers lack {', '.join(verdict['unknown_instance_types'])}")
    if rendered := verdict.get("rendered"):
        print(f"  renders {sum(rendered.values())} resources of {len(rendered)} types")
    return bool(verdict["errors"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
