"""The agent as its step makes it, in a network of its own: a workspace that is shut, and the agent started again then.

Its unit and configuration are those of the step; the program is Debian's vmagent, an older release than the one that is
pinned, and the workspace is Debian's Prometheus behind a door that asks for the signature which botocore makes.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.data_files import load
from tests.monitoring import promtool
from tests.monitoring.agent_space import SCRAPES
from tests.monitoring.test_agent import REGION, asked, kept
from tests.monitoring.test_emitted import EMITTED, parsed
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.programs]
SCRAPE_SECONDS = 2
COUNTS = load("monitoring", "series")


def flags(unit: str, root: Path) -> list[str]:
    """The flags of the unit with folders of ours, the workspace that is beside it here, and none that is too new."""
    (started,) = re.findall(r"^ExecStart=\S+ (.*)$", unit, re.MULTILINE)
    written = []
    for word in started.split():
        name, _, value = word.partition("=")
        if name == "-remoteWrite.url":
            value = value.replace("https://aps-workspaces.us-east-1.amazonaws.com", "http://127.0.0.1:9999")
        elif name == "-promscrape.config":
            value = str(root / "scrape.yml")
        elif name == "-remoteWrite.tmpDataPath":
            value = str(root / "queue")
        if name != "-remoteWrite.forcePromProto":
            written.append(f"{name}={value}")
    return written


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of it."""
    root = tmp_path_factory.mktemp("node")
    node = {"role": "worker", "instance": "i-1", "metrics_agent_scrape_seconds": SCRAPE_SECONDS}
    (root / "scrape.yml").write_text(asked("metrics_agent_configuration", alone=True, **node).stdout)
    (root / "prometheus.yml").write_text(json.dumps({"storage": {"tsdb": {"out_of_order_time_window": "10m"}}}))
    said = {
        "root": str(root),
        "agent": [promtool.tool("vmagent"), *flags(asked("metrics_agent_unit", alone=True, **node).stdout, root)],
        "store": [
            promtool.tool("prometheus"),
            "--web.enable-remote-write-receiver",
            "--web.listen-address=127.0.0.1:9090",
            f"--config.file={root}/prometheus.yml",
            f"--storage.tsdb.path={root}/store",
        ],
    }
    apart = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    program = [*apart, sys.executable, "-m", "tests.monitoring.agent_space"]
    ran = subprocess.run(program, cwd=ROOT, input=json.dumps(said), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


def test_nothing_is_lost_when_it_is_started_again_while_the_workspace_is_shut(told: dict[str, Any]) -> None:
    assert told["refused"] > 1
    assert len(told["SIGTERM"]["lost"]) <= told["failed"], told["SIGTERM"]


def test_one_that_is_killed_may_lose_what_was_on_its_way_and_what_came_last(told: dict[str, Any]) -> None:
    """What it was about to send, which is out of the queue, and what it had not written to the disk yet."""
    outage = told["SIGKILL"]
    begun, ended = outage["begun"], outage["ended"]
    on_its_way, last = range(begun - 1, begun + 4), range(ended + 1, outage["killed"] + 4)
    assert ended - begun >= SCRAPES
    assert len({*outage["lost"]} - {*on_its_way, *last}) <= told["failed"], outage


def test_it_signs_with_the_nodes_role_as_botocore_does(told: dict[str, Any]) -> None:
    assert (told["region"], told["service"], told["unsigned"]) == (REGION, "aps", [])
    assert told["encoding"] == "snappy"


def test_the_names_of_its_own_metrics_are_those_that_are_recorded(told: dict[str, Any]) -> None:
    known = set(parsed((EMITTED / "agent.prom").read_text()))
    names = {each["__name__"] for each in told["series"] if each["job"] == "agent"}
    assert {name for name in names if name != "up" and not name.startswith("scrape_")} == known
    said = parsed(told["says"])
    assert {name for name in said if kept().fullmatch(name)} == known


def test_it_gives_as_many_series_as_are_counted(told: dict[str, Any]) -> None:
    added = [each for each in told["series"] if each["job"] == "node" and each["__name__"] != "asked"]
    own = [each for each in told["series"] if each["job"] == "agent"]
    assert COUNTS["target"] == len(added) + 1  # scrape_response_size_bytes, which this release does not have
    number = len(own) - len(added)
    assert COUNTS["agent"]["cluster"] * 0.7 <= number <= COUNTS["agent"]["cluster"] * 1.3
