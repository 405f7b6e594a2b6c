"""Each command needs the permissions that the page names, and no other."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.cli._app import COMMANDS as COMMANDS_OF_TRAINYARD
from cdk_trainyard.local import LocalAws
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.operations.pages import permissions
from tests.operations.stages import hosts, log_group, queue_node
from tests.support import ROOT

NAMES = ("hyperpod-cpu-ddp", "parallelcluster-trn1", "fleet-p3dn-bert", "serving-inf2-vllm")
COMMANDS = ("status", "nodes", "events", "logs", "reboot", "replace", "update-image", "costs")
NEVER_HERE = {
    ("status", "hyperpod-cpu-ddp"): {"cloudwatch:DescribeAlarms", "logs:DescribeLogGroups"},
    ("status", "parallelcluster-trn1"): {"cloudwatch:DescribeAlarms"},
    ("status", "fleet-p3dn-bert"): {"cloudwatch:DescribeAlarms"},
    ("status", "serving-inf2-vllm"): {"fsx:DescribeFileSystems"},
    ("events", "hyperpod-cpu-ddp"): {"logs:DescribeLogGroups"},
}
"""What these deployments have no use for: alarms, a file system, clusters that were rolled back (`test_events`)."""


@pytest.fixture(scope="module")
def there(here: LocalAws) -> Iterator[LocalAws]:
    """Deployments of which nodes have failed, so that every call has a reason."""
    here.reset()
    for name in NAMES:
        deploy(here, name)
    client: Any = here.client("sagemaker", "us-east-1")
    cluster = client.list_clusters()["ClusterSummaries"][0]["ClusterName"]
    client.update_cluster(ClusterName=cluster, NodeProvisioningMode="Continuous", Orchestrator={"Slurm": {}})
    here.fail_node(client.list_cluster_nodes(ClusterName=cluster)["ClusterNodeSummaries"][-1]["InstanceId"], "broken")
    queue_node(here, "trn1-st-trn1-32xlarge-1")
    log_group(here)
    hosts(here)
    yield here
    here.reset()


def test_show_needs_what_its_page_says(there: LocalAws) -> None:
    """Each call that it makes is on the page; those that these deployments have no use for are these."""
    del there
    page = (ROOT / "constructs" / "cdk_trainyard" / "cli" / "README.md").read_text()
    told = page.partition("\n`show` reads what stacks hold")[2].partition("\n## ")[0]
    with asked() as kept:
        for name in NAMES:
            assert main(["show", f"deployments/{name}.yaml"]) == 0
    documented = set(re.findall(r"`(\w+:\w+)`", told))
    assert kept.sent - documented == set()
    assert documented - kept.sent == {"wafv2:GetWebACL", "secretsmanager:DescribeSecret"}


def test_every_command_is_in_the_table() -> None:
    page = (ROOT / "constructs" / "cdk_trainyard" / "cli" / "README.md").read_text()
    rows = page.partition("\n## Permissions")[2].partition("\n`show`")[0].splitlines()
    named = [name for row in rows for name in re.findall("`([a-z-]+)`", row.partition(" | ")[0])]
    assert sorted(named) == sorted(COMMANDS_OF_TRAINYARD)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_command_needs_what_the_page_says(
    there: LocalAws, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    del there
    file = f"deployments/{name}.yaml"
    assert main(["nodes", file, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["nodes"]
    node = next((each for each in found if not each["is_head"]), found[0])
    head = next((each for each in found if each["is_head"]), node)
    words = {"logs": [node["id"]], "reboot": [head["id"], "--yes"], "replace": [node["id"], "--yes"]}
    words["update-image"] = [node["group"], "--yes"]
    with asked() as kept:
        main([command, file, *words.get(command, [])])
    assert kept.permissions == permissions(command, name) - NEVER_HERE.get((command, name), set())
