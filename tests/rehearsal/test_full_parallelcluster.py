"""The whole rehearsal of a ParallelCluster: Slurm asks for the nodes of a job, and Neuron is installed."""

from pathlib import Path

import pytest
import yaml

from tests.rehearsal.whole import README, ROOT, rehearse
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment")]


def test_parallelcluster_starts_the_nodes_that_a_job_asks_for() -> None:
    done = rehearse("deployments/parallelcluster-trn1.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = promised(README, "make rehearse DEPLOYMENT=deployments/parallelcluster-trn1.yaml")
    assert lacking(shown, done.stdout) == [], done.stdout
    assert "the bucket's neuron_node.sh trusts the test key" in done.stderr
    assert "Neuron's key: a test key signed the stubs" in done.stdout


def test_parallelcluster_on_amazon_linux_installs_neuron(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "parallelcluster-trn1.yaml").read_text())
    (queue,) = content["cluster"]["queues"]
    queue["compute"][0]["min_count"] = 1
    for section in (content["cluster"]["head_node"], queue):
        section["on_configured"] = [{"script": "neuron.sh"}]
    content["cluster"]["operating_system"] = "alinux2023"
    file = tmp_path / "deployment.yaml"
    file.write_text(yaml.safe_dump(content))
    done = rehearse(str(file), "--no-job", "--max-nodes", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trn1-st-trn1-32xlarge-1: done" in done.stderr
    assert "the bucket's neuron_node.sh trusts the test key" in done.stderr
    assert "will fail" not in done.stderr
