"""ParallelCluster's schema and update policies in the local AWS: our reading of them, and its own engine's."""

from itertools import permutations
from typing import Any

import pytest

from cdk_trainyard.cli.contract.ask import ask
from cdk_trainyard.local.parallelcluster.schema import schema, schema_problems
from cdk_trainyard.local.parallelcluster.updates import changes, update_problems
from tools.contract.agreement import is_that_of_the_package
from tools.contract.table import rows
from tools.contract.table.clusters import cluster, cpu, head, queue

CONFIGS = [row.cluster.config for row in rows() if row.good]


def config(**given: Any) -> dict[str, Any]:
    queues = given.pop("queues", (queue(),))
    return cluster(*queues, **given).config


def test_a_configuration_that_the_library_writes_is_accepted() -> None:
    assert [problem for one in CONFIGS for problem in schema_problems(one)] == []


def test_the_same_configuration_changes_nothing() -> None:
    assert all(update_problems(one, one) == [] for one in CONFIGS)


HEAD = (
    "'HeadNode.InstanceType' cannot be changed while the cluster exists; define a second cluster beside it, "
    "got 'c5.2xlarge' instead of 'c5.xlarge'"
)
FEWER = (
    "'Scheduling.SlurmQueues[compute].ComputeResources[c5-xlarge].MaxCount' cannot be changed while compute nodes run, "
    "unless QueueUpdateStrategy is TERMINATE, got 4 instead of 8"
)


@pytest.mark.parametrize(
    ("new", "problems"),
    [
        ({"head": head(instance_type="c5.2xlarge")}, [HEAD]),
        ({"queues": (queue(cpu(max_count=4)),)}, [FEWER]),
        ({"queues": (queue(cpu(max_count=80)),)}, []),
        ({"queues": (queue(), queue(name="more"))}, []),
        ({"queues": (queue(image_id="ami-" + "a" * 17),)}, []),
    ],
)
def test_what_is_refused(new: dict[str, Any], problems: list[str]) -> None:
    assert update_problems(config(), config(**new)) == problems


@pytest.mark.contract
def test_parallelcluster_s_engine_refuses_the_same_changes_of_every_good_cluster_to_every_other() -> None:
    pairs = list(permutations(CONFIGS, 2))
    plans = ask({"plans": [{"name": "train", "old": old, "new": new} for old, new in pairs]})["plans"]
    assert len(pairs) > 1500
    for (old, new), theirs in zip(pairs, plans, strict=True):
        refused = {".".join([*row["path"], row["key"]]) for row in theirs if row["check"] != "SUCCEEDED"}
        ours = {problem.split("'")[1] for problem in update_problems(old, new)}
        assert ours == refused
        found = {change.where for change in changes(old, new, schema())}
        assert found == {".".join([*row["path"], row["key"]]) for row in theirs}


@pytest.mark.contract
def test_the_schema_is_that_of_the_package() -> None:
    assert is_that_of_the_package("extract_schema")
