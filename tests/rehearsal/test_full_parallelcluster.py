"""The whole rehearsal of a ParallelCluster: Slurm asks for the nodes of a job, and Neuron is installed."""

from pathlib import Path

import pytest
import yaml

from cdk_trainyard.local import LocalAws
from tests.rehearsal.whole import README, ROOT, keep, rehearse, rehearse_here
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment", "empty_aws")]


CONNECTED = """
printf '#!/bin/bash\nsrun sh -c '"'"'echo "job on $(hostname)"'"'"'\n' >job.sbatch
trainyard submit "$FILE" job.sbatch --follow -- --nodes=2 --partition=trn1
echo 'echo "connected to $(hostname)"; exit' | trainyard connect "$FILE"
trainyard exec "$FILE" trn1 -- 'echo "exec on $(hostname)"'
trainyard logs "$FILE" trn1
ssh-keygen -q -t ed25519 -N "" -f key
trainyard exec "$FILE" HeadNode --user ubuntu -- "mkdir -p ~/.ssh; echo $(cat key.pub) >>~/.ssh/authorized_keys"
trainyard ssh-config "$FILE" --file config --identity "$PWD/key"
ssh -F config -o UserKnownHostsFile=known parallelcluster-trn1 'echo "ssh on $(hostname)"' </dev/null
"""


def test_parallelcluster_starts_the_nodes_that_a_job_asks_for(tmp_path: Path) -> None:
    """And sessions reach them: what runs is what Slurm has asked for."""
    with keep(ROOT / "deployments" / "parallelcluster-trn1.yaml", tmp_path) as rehearsal:
        rows = [line.split() for line in rehearse("nodes", "--rehearsal", rehearsal.number).stdout.splitlines()]
        head, *queue = (row[1] for row in rows)
        said = rehearsal.elsewhere(CONNECTED)
        done = rehearsal.end()
    assert {f"job on {host}" for host in queue} <= {*said}
    assert {f"connected to {head}", f"ssh on {head}"} <= {*said}
    assert sorted(line.split("exec on ")[1] for line in said if "exec on " in line) == sorted(queue)
    for row in rows[1:]:
        assert any(f".{row[2]}.cloud-init-output  " in line for line in said)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = promised(README, "make rehearse DEPLOYMENT=deployments/parallelcluster-trn1.yaml")
    assert lacking(shown, done.stdout) == [], done.stdout
    assert "the bucket's neuron_node.sh trusts the test key" in done.stderr
    assert "Neuron's key: a test key signed the stubs" in done.stdout


def test_parallelcluster_on_amazon_linux_installs_neuron(aws: LocalAws, tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "parallelcluster-trn1.yaml").read_text())
    (queue,) = content["cluster"]["queues"]
    queue["compute"][0]["min_count"] = 1
    for section in (content["cluster"]["head_node"], queue):
        section["on_configured"] = [{"script": "neuron.sh"}]
    content["cluster"]["operating_system"] = "alinux2023"
    file = tmp_path / "deployment.yaml"
    file.write_text(yaml.safe_dump(content))
    done = rehearse_here(aws, file, "--no-job", "--max-nodes", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trn1-st-trn1-32xlarge-1: done" in done.stderr
    assert "the bucket's neuron_node.sh trusts the test key" in done.stderr
    assert "will fail" not in done.stderr
