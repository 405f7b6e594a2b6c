"""Ctrl-C, a terminal that closes, and a hang-up while a command goes on: it ends, and leaves nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.operations.sessions import PLUGIN
from tests.deployed import deploy
from tests.operations.plugins import program

pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.programs]
HYPERPOD = "hyperpod-cpu-ddp"
FILE = f"deployments/{HYPERPOD}.yaml"
PATIENCE_SECONDS = 300
WAITS = f"""#!{sys.executable}
import os, pathlib, signal, sys
if sys.argv[1:] == ["--version"]:
    print("1.2.764.0")
    sys.exit()
def told(*_words):
    path.rename(path.with_suffix(".told"))
    sys.exit()
signal.signal(signal.SIGINT, told)
path = pathlib.Path(__file__).with_name(f"session-{{os.getpid()}}")
path.touch()
while True:
    signal.pause()
"""
"""A plugin whose session goes on until it is interrupted."""


TRAINYARD = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from cdk_trainyard.cli import main
sys.exit(main())
"""
"""The command, with a terminal's signals: what a shell starts in the background ignores some."""


@contextmanager
def started(*words: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-P", "-c", TRAINYARD, *words]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **{"stdout": subprocess.PIPE, **more},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(happened: Callable[[], object], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    assert process.stderr
    said = process.stderr.read()
    return process.wait(PATIENCE_SECONDS), said


@pytest.fixture
def log(here: LocalAws) -> Callable[[str], None]:
    """A node that has logged a line; logs another one."""
    deploy(here, HYPERPOD)
    sagemaker, client = here.client("sagemaker", "us-east-1"), here.client("logs", "us-east-1")
    cluster = sagemaker.list_clusters()["ClusterSummaries"][0]
    nodes = sagemaker.list_cluster_nodes(ClusterName=cluster["ClusterName"])["ClusterNodeSummaries"]
    node = next(row for row in nodes if row["InstanceGroupName"] == "controller-machine")
    place = {
        "logGroupName": f"/aws/sagemaker/Clusters/{cluster['ClusterName']}/{cluster['ClusterArn'].rpartition('/')[2]}",
        "logStreamName": f"LifecycleConfig/controller-machine/{node['InstanceId']}",
    }
    groups = client.describe_log_groups(logGroupNamePrefix=place["logGroupName"])["logGroups"]
    if not groups:
        client.create_log_group(logGroupName=place["logGroupName"])
    streams = client.describe_log_streams(logGroupName=place["logGroupName"])["logStreams"]
    if place["logStreamName"] not in {row["logStreamName"] for row in streams}:
        client.create_log_stream(**place)

    def write(text: str) -> None:
        event = {"timestamp": int(time.time() * 1000), "message": text}
        client.put_log_events(**place, logEvents=[event])

    write("first")
    return write


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(("number", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGHUP, 129, "")])
@pytest.mark.parametrize("words", [("logs", FILE, "controller-machine", "--follow"), ("status", FILE, "--watch")])
def test_what_is_followed_is_left(words: tuple[str, ...], number: signal.Signals, code: int, said: str) -> None:
    with started(*words) as process:
        assert process.stdout
        assert process.stdout.readline()
        process.send_signal(number)
        found, error = ended(process)
    assert (found, "Traceback" in error) == (code, False)
    assert said in error


def test_a_terminal_that_closes_while_it_is_written_to(log: Callable[[str], None]) -> None:
    ours, theirs = os.openpty()
    with started("logs", FILE, "controller-machine", "--follow", "--every", "0.1", stdout=theirs) as process:
        os.close(theirs)
        assert os.read(ours, 4096)
        os.close(ours)
        log("nobody reads this")
        found, error = ended(process)
    assert (found, "Traceback" in error) == (1, False)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_sessions_end_with_the_command_that_has_them(
    here: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    deploy(here, HYPERPOD)
    program(tmp_path, PLUGIN, WAITS)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with started("exec", FILE, "worker-group-1", "--", "sleep infinity") as process:
        wait_until(lambda: len(list(tmp_path.glob("session-[0-9]*"))) == 2, process)
        process.send_signal(number)
        found, error = ended(process)
    assert (found, "Traceback" in error) == (code, False)
    assert sorted(path.suffix for path in tmp_path.glob("session-[0-9]*")) == [".told", ".told"]
