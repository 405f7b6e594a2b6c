"""Our verdicts on the table of good and bad clusters; ``make contract`` asks ParallelCluster for its own."""

import time

import pytest

from cdk_trainyard.parallelcluster import Placement
from cdk_trainyard.parallelcluster.resolve import resolve_queue
from tools.contract.table import Row, rows
from tools.contract.table.clusters import cluster, queue, trn1

TABLE = rows()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_our_verdict(row: Row) -> None:
    assert bool(row.cluster.problems) is not row.good, row.cluster.problems


def test_the_table_is_long_and_has_both_kinds() -> None:
    assert len(TABLE) >= 60
    assert len({row.name for row in TABLE}) == len(TABLE)
    assert sum(row.good for row in TABLE) >= 40
    assert all(len(row.stricter) > 10 for row in TABLE if row.stricter)


def test_the_largest_cluster_is_judged_in_a_blink() -> None:
    queues = [queue(trn1(), name=f"q{index}", placement=Placement.CLUSTER) for index in range(50)]
    largest = cluster(*queues)
    assert resolve_queue(queues[0]).exclusive
    started = time.thread_time()
    assert largest.problems
    assert time.thread_time() - started < 2
