"""A cluster that no control plane has made, and nodes of it where this machine can boot them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import Cluster, HyperPodMachines
from tests.rehearsal.clusters import make_cluster, wait_until_idle


@pytest.fixture
def cluster() -> Cluster:
    return make_cluster()


@pytest.fixture
def trainium_cluster(cluster: Cluster) -> Cluster:
    controller, workers = cluster.groups
    return replace(cluster, groups=[controller, replace(workers, instance_type="ml.trn1.32xlarge")])


@pytest.fixture(scope="module")
def machines(image: Path) -> Iterator[HyperPodMachines]:
    """A cluster whose nodes are up, and idle in Slurm."""
    with HyperPodMachines(make_cluster(), image=image) as made:
        made.boot()
        assert [run.code for run in made.provision()] == [0, 0, 0]
        wait_until_idle(made)
        yield made
