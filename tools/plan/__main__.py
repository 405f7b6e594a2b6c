"""What an update would do: ``python -m tools.plan OLD NEW``, each a deployment file or a cdk.out folder.

One table for ParallelClusters (by ParallelCluster's own update policies, in its own environment), HyperPod clusters,
storage and everything else (by CloudFormation's provider schemas). Exit code 1 when data or a cluster would be lost, 2
when the update would be refused and nothing lost, 0 otherwise.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.plan.assemblies import load
from tools.plan.parallelclusters import plan_clusters
from tools.plan.resources import plan_resources
from tools.plan.rows import Effect, table


def main() -> int:
    """Plan; print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.plan", description=__doc__)
    parser.add_argument("old", help="a deployment file or a cdk.out folder: what is deployed")
    parser.add_argument("new", help="a deployment file or a cdk.out folder: what is to be deployed")
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        old, new = (load(given, Path(directory) / side) for side, given in (("old", options.old), ("new", options.new)))
    rows = [*plan_clusters(old, new), *plan_resources(old.stacks, new.stacks)]
    if not rows:
        print("nothing changes")
        return 0
    print(table(rows))
    worst = max(row.effect for row in rows)
    if worst is Effect.LOST:
        print("\ndata or a cluster would be lost")
        return 1
    if worst is Effect.REFUSED:
        print("\nthe update would be refused; nothing would be lost")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
