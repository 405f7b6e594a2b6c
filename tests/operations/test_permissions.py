"""Each command needs the permissions that the page names, and no other."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.local import LocalAws
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.operations.pages import permissions

NAMES = ("hyperpod-cpu-ddp", "fleet-p3dn-bert")
COMMANDS = ("status", "nodes", "events", "logs", "reboot", "replace", "update-image")
NEVER_HERE = {"cloudwatch:DescribeAlarms", "logs:DescribeLogGroups"}
"""What these deployments have no use for: alarms, and clusters that were rolled back (`test_events`)."""


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
    yield here
    here.reset()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_command_needs_what_the_page_says(
    there: LocalAws, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    del there
    file = f"deployments/{name}.yaml"
    assert main(["nodes", file, "--json"]) == 0
    node = next(each for each in json.loads(capsys.readouterr().out)["nodes"] if not each["is_head"])
    words = {"logs": [node["id"]], "reboot": [node["id"], "--yes"], "replace": [node["id"], "--yes"]}
    words["update-image"] = [node["group"], "--yes"]
    with asked() as kept:
        main([command, file, *words.get(command, [])])
    assert kept.permissions == permissions(command, name) - (NEVER_HERE if command in {"status", "events"} else set())
