"""The training job on real nodes: what it survives, and that it learns the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import HyperPodMachines, job
from tests.rehearsal.clusters import MOUNT, SYSTEM, make_cluster, wait_until_idle

pytestmark = pytest.mark.nodes

SECONDS_OUT = 4  # less than SlurmdTimeout


@pytest.fixture(scope="module")
def trained(image: Path, torch_environment: Path) -> Iterator[tuple[HyperPodMachines, str]]:
    """A cluster, and the weights of a run that nothing disturbed."""
    with HyperPodMachines(make_cluster(), image=image, job_environment=torch_environment) as machines:
        machines.boot()
        machines.provision()
        wait_until_idle(machines)
        calm = job.submit(machines, job.Place.on(machines, SYSTEM, MOUNT[2]), "calm")
        calm.finish()
        assert calm.starts == [0]
        yield machines, calm.weights


def test_a_process_that_is_killed_costs_the_steps_since_the_last_snapshot(
    trained: tuple[HyperPodMachines, str],
) -> None:
    machines, weights = trained
    run = job.submit(machines, job.Place.on(machines, SYSTEM, MOUNT[2]), "killed", settings={"MAX_REQUEUES": "1"})
    run.wait_for_step(10)
    machines.machine("worker-group-2").run("pkill", "-KILL", "--newest", "--full", "train.py --directory")
    run.finish()
    assert run.weights == weights
    assert len(run.starts) == 2
    assert run.starts[1] >= 10
    assert run.attempts == "requeued 1 times, step tried again 0 times"


def test_a_short_cut_and_a_new_slurmctld_cost_nothing(trained: tuple[HyperPodMachines, str]) -> None:
    machines, weights = trained
    run = job.submit(machines, job.Place.on(machines, SYSTEM, MOUNT[2]), "cut")
    run.wait_for_step(10)
    machines.slurm.controller.run("systemctl", "kill", "--signal=KILL", "slurmctld")
    node = machines.machine("worker-group-2").node
    machines.cut(node)
    machines.slurm.controller.run("sleep", str(SECONDS_OUT))
    machines.heal(node)
    machines.slurm.controller.run("systemctl", "start", "slurmctld")
    run.finish()
    assert (run.starts, run.weights) == ([0], weights)
