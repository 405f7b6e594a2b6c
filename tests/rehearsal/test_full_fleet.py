"""The whole rehearsal of a fleet: a lost node, and the job that goes on."""

import pytest

from tests.rehearsal.whole import README, assert_went_on, rehearse
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment")]


@pytest.mark.parametrize(("file", "nodes"), [("fleet-p3dn-bert", 9), ("fleet-p5-capacity-block", 16)])
def test_a_fleet_replaces_a_lost_node_and_its_job_goes_on(file: str, nodes: int) -> None:
    done = rehearse(f"deployments/{file}.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the cluster has {nodes} nodes: 3 are booted (--max-nodes)" in done.stderr
    shown = promised(README, "make rehearse DEPLOYMENT=deployments/fleet-p3dn-bert.yaml")
    assert file != "fleet-p3dn-bert" or lacking(shown, done.stdout) == [], done.stdout
    assert "9 of 9 pairs" in done.stdout
    assert_went_on(done, r"started at steps 0, (\d+), ")
    assert "both runs learned the same, to the bit" in done.stdout
