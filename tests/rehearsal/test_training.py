"""The training job on real nodes: what it survives, and that it learns the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.rehearsal import HyperPodMachines, job
from tests.jobs.warm import warmed
from tests.rehearsal.clusters import MOUNT, SYSTEM, make_cluster, wait_until_idle

pytestmark = pytest.mark.nodes

SECONDS_OUT = 4  # less than SlurmdTimeout


STEPS = 90
"""Half as many again as by default: time to cut a cable and to put it back, and then to kill a process."""


@pytest.fixture(scope="module")
def machines(image: Path, torch_environment: Path) -> Iterator[HyperPodMachines]:
    """A cluster whose nodes are idle, and have what a training needs."""
    with HyperPodMachines(make_cluster(), image=image, job_environment=torch_environment) as made:
        made.boot()
        made.provision()
        wait_until_idle(made)
        yield made


def submit(machines: HyperPodMachines, name: str, **settings: str) -> job.Job:
    return job.submit(machines, job.Place.on(machines, SYSTEM, MOUNT[2]), name, steps=STEPS, settings=settings)


def test_a_short_cut_and_a_new_slurmctld_cost_nothing_and_a_killed_process_the_steps_since_the_last_snapshot(
    machines: HyperPodMachines, torch_environment: Path, tmp_path: Path
) -> None:
    """One after the other in one job, which ends with the weights of a run on this machine that nothing disturbed."""
    words = [f"--directory={tmp_path}", f"--steps={STEPS}", "--pause=0"]
    with warmed(torch_environment) as warm:
        ranks = job.NODES * job.PROCESSES_PER_NODE
        done = warm.run(scripts_folder() / "jobs" / job.NAME / "train.py", *words, ranks=ranks)
    assert done.returncode == 0, done.stderr
    calm = job.Training(tmp_path)
    assert calm.starts == [0]

    run = submit(machines, "disturbed", MAX_REQUEUES="1")
    run.wait_for_step(10)
    machines.slurm.controller.run("systemctl", "kill", "--signal=KILL", "slurmctld")
    node = machines.machine("worker-group-2").node
    machines.cut(node)
    machines.slurm.controller.run("sleep", str(SECONDS_OUT))
    machines.heal(node)
    machines.slurm.controller.run("systemctl", "start", "slurmctld")
    healed = max(event.get("step", 0) for event in run.events)
    run.wait_for_step(healed + 10)
    assert run.starts == [0]

    machines.machine("worker-group-2").run("pkill", "-KILL", "--newest", "--full", "train.py --directory")
    run.finish()
    assert run.weights == calm.weights
    assert len(run.starts) == 2
    assert run.starts[1] >= healed + 10
    assert run.attempts == "requeued 1 times, step tried again 0 times"
