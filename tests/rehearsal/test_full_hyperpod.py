"""The whole rehearsal of a HyperPod cluster: every way to configure nodes, a job, a power cut."""

import json
from pathlib import Path

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal.report import NEVER_PROVEN
from tests.rehearsal.whole import ON_CREATE, README, ROOT, assert_went_on, deployment, rehearse, rehearse_here
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment", "empty_aws")]


def test_a_power_cut_in_mid_training_changes_no_bit(tmp_path: Path) -> None:
    done = rehearse(str(deployment(tmp_path, ON_CREATE)))
    assert done.returncode == 0, done.stdout + done.stderr
    shown = promised(README, "trainyard rehearse deployments/hyperpod-cpu-ddp.yaml")
    assert lacking(shown, done.stdout) == [], done.stdout
    # where much else runs, Slurm may miss a node for longer than SlurmdTimeout, and requeue once more
    assert_went_on(done, r"went on at step (\d+), requeued [1-9] times")


@pytest.mark.parametrize(
    "cluster",
    [
        {},
        {"lifecycle": {"on_init_complete": "on_init_complete.sh"}},
        ON_CREATE | {"topology": "legacy"},
    ],
    ids=["image", "on_init_complete", "legacy"],
)
def test_every_way_to_configure_nodes_ends_with_idle_nodes(
    aws: LocalAws, tmp_path: Path, cluster: dict[str, object]
) -> None:
    done = rehearse_here(aws, deployment(tmp_path, cluster), "--no-job")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every node idle in Slurm" in done.stdout


def test_nodes_with_accelerators_are_booted_as_many_as_asked(aws: LocalAws) -> None:
    done = rehearse_here(
        aws, ROOT / "deployments" / "hyperpod-trn1-llama2.yaml", "--no-job", "--max-nodes", "3", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the cluster has 5 nodes: 3 are booted (--max-nodes)" in done.stderr
    report = json.loads(done.stdout)
    assert (report["passed"], report["not_proven"][-len(NEVER_PROVEN) :]) == (True, [*NEVER_PROVEN])
    assert {step["title"]: step["outcome"] for step in report["steps"]}["every node idle in Slurm"] == "passed"
    assert sum(step["seconds"] for step in report["steps"]) <= report["seconds"]


def test_a_script_that_fails_is_told_with_its_log(aws: LocalAws, tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    log = "mkdir -p /var/log/provision; echo 'the disk is on fire' >/var/log/provision/provisioning.log"
    (scripts / "on_create.sh").write_text(f"#!/bin/sh\n{log}\nexit 3\n")
    done = rehearse_here(aws, deployment(tmp_path, ON_CREATE), "--scripts", str(scripts))
    assert done.returncode == 1
    assert "the disk is on fire" in done.stderr
    assert "FAILED: the scripts failed on controller-machine-1, worker-group-1-1" in done.stderr
