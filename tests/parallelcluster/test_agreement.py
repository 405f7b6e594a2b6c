"""Our verdicts on the table of good and bad clusters; ``make contract`` asks ParallelCluster for its own."""

import time

import pytest

from cdk_trainyard.parallelcluster import Placement
from cdk_trainyard.parallelcluster.checks import cluster_problems
from cdk_trainyard.parallelcluster.resolved import resolve_queue
from tools.contract.table import Row, rows
from tools.contract.table.clusters import PLACE, cluster, queue, trn1

TABLE = rows()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_our_verdict(row: Row) -> None:
    assert bool(cluster_problems(row.cluster)) is not row.good


def test_the_table_is_long_and_has_both_kinds() -> None:
    assert len(TABLE) >= 60
    assert len({row.name for row in TABLE}) == len(TABLE)
    assert sum(row.good for row in TABLE) >= 40
    assert all(len(row.stricter) > 10 for row in TABLE if row.stricter)


def test_the_largest_cluster_is_judged_in_a_blink() -> None:
    queues = [queue(trn1(), name=f"q{index}", placement=Placement.cluster()) for index in range(50)]
    largest = cluster(*queues)
    assert resolve_queue(queues[0], PLACE).exclusive
    started = time.process_time()
    cluster_problems(largest)
    assert time.process_time() - started < 2
