"""The whole rehearsal of a fleet: a lost node, and the job that goes on."""

from pathlib import Path

import pytest

from tests.rehearsal.whole import README, ROOT, assert_went_on, keep, rehearse
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment")]


CONNECTED = """
echo 'echo "connected to $(hostname)"; exit' | trainyard connect "$FILE" "$(head -n 1 ids)"
for each in $(cat ids); do trainyard exec "$FILE" "$each" -- 'echo "exec on $(hostname)"'; done
trainyard logs "$FILE" $(cat ids)
ssh-keygen -q -t ed25519 -N "" -f key
trainyard exec "$FILE" "$(tail -n 1 ids)" --user ubuntu -- \\
  "mkdir -p ~/.ssh; echo $(cat key.pub) >>~/.ssh/authorized_keys"
trainyard ssh-config "$FILE" --file config --identity "$PWD/key"
ssh -F config -o UserKnownHostsFile=known "$(tail -n 1 ids)" 'echo "ssh on $(hostname)"' </dev/null
"""
"""By the ids of the nodes that were booted: the others of the fleet run in the local AWS alone."""


@pytest.mark.parametrize(("file", "nodes"), [("fleet-p3dn-bert", 9), ("fleet-p5-capacity-block", 16)])
def test_a_fleet_replaces_a_lost_node_and_its_job_goes_on(file: str, nodes: int, tmp_path: Path) -> None:
    """And sessions reach its nodes, that which took the lost one's place among them."""
    with keep(ROOT / "deployments" / f"{file}.yaml", tmp_path) as rehearsal:
        rows = [line.split() for line in rehearse("nodes", "--rehearsal", rehearsal.number).stdout.splitlines()]
        hosts, ids = [row[1] for row in rows], [row[2] for row in rows]
        (tmp_path / "ids").write_text("\n".join(ids))
        said = rehearsal.elsewhere(CONNECTED)
        done = rehearsal.end()
    assert {f"connected to {hosts[0]}", f"ssh on {hosts[-1]}"} <= {*said}
    assert sorted(line.split("exec on ")[1] for line in said if "exec on " in line) == sorted(hosts)
    assert {each for each in ids if any(f" {each}/" in line for line in said)} == {*ids}
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the cluster has {nodes} nodes: 3 are booted (--max-nodes)" in done.stderr
    shown = promised(README, "make rehearse DEPLOYMENT=deployments/fleet-p3dn-bert.yaml")
    assert file != "fleet-p3dn-bert" or lacking(shown, done.stdout) == [], done.stdout
    assert "9 of 9 pairs" in done.stdout
    assert_went_on(done, r"started at steps 0, (\d+), ")
    assert "both runs learned the same, to the bit" in done.stdout
