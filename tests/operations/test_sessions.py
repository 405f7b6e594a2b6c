"""Sessions against the local AWS: which node, which calls, what is told to the plugin, and every refusal."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cdk_trainyard.account import Refusal, Why
from cdk_trainyard.cli import main
from cdk_trainyard.cli._sessions import login_user
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.local import Fault, LocalAws
from cdk_trainyard.operations import Node, OperationError
from cdk_trainyard.operations.sessions import PLUGIN, first, heads, refused
from cdk_trainyard.rehearsal import session_plugin
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.operations.pages import permissions
from tests.operations.stages import PARALLELCLUSTER, SERVING, hosts, queue_node

pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.programs]
HYPERPOD, FLEET = "hyperpod-cpu-ddp", "fleet-p3dn-bert"
GROUPS = {HYPERPOD: "worker-group-1", FLEET: "worker", PARALLELCLUSTER: "trn1", SERVING: "hosts"}
"""A group of each that has no head."""
FILE = f"deployments/{HYPERPOD}.yaml"
HEAD = Node(id="i-1", group="head", type="m5.large", state="Running", target="i-1", is_head=True)
STARTING = Node(id="i-2", group="workers", type="c5.large", state="Pending", target="i-2")
RUNNING = Node(id="i-3", group="workers", type="c5.large", state="InService", target="i-3")
COMING = Node(id="slot-1", group="workers", type="c5.large", state="Pending")


@pytest.fixture(scope="module", params=GROUPS)
def name(request: pytest.FixtureRequest, here: LocalAws) -> str:
    deploy(here, request.param)
    if request.param == PARALLELCLUSTER:
        queue_node(here, "trn1-st-trn1-32xlarge-1")
    if request.param == SERVING:
        hosts(here)
    return str(request.param)


def put(folder: Path, text: str) -> Path:
    program = folder / PLUGIN
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin that keeps what it is told."""
    kept = tmp_path / "kept"
    lines = f'printf "%s\\n" "$@" "$AWS_SSM_START_SESSION_RESPONSE" >{kept}'
    put(tmp_path, f'[ "$1" = --version ] && {{ echo "${{VERSION:-1.2.764.0}}"; exit; }}\n{lines}')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return kept


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the plugin as a program of its own, which the command's process would become."""

    def run(path: str, words: list[str], environment: dict[str, str]) -> None:
        subprocess.run([path, *words[1:]], env=environment, check=True)

    monkeypatch.setattr(os, "execve", run)


def test_the_node_that_is_meant() -> None:
    assert first([COMING, STARTING, RUNNING]) == RUNNING
    assert first([COMING, STARTING]) == STARTING
    with pytest.raises(OperationError, match="no session can be opened: workers slot-1 is Pending"):
        first([COMING])
    assert heads([STARTING, HEAD]) == [HEAD]
    assert heads([STARTING, RUNNING]) == [STARTING, RUNNING]
    others = [STARTING, Node(id="i-4", group="login", type="m5.large", state="Running")]
    assert heads(others, ["login"]) == others[1:]
    with pytest.raises(OperationError, match="There is no head; the groups are login, workers"):
        heads(others)


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("version", ["1.2.764.0", "1.2.497.0", "nonsense"])
def test_the_plugin_is_told_what_the_cli_tells_it(
    name: str, version: str, recorder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERSION", version)
    assert main(["connect", f"deployments/{name}.yaml"]) == 0
    given, region, operation, profile, asked_for, endpoint, variable = recorder.read_text().split("\n")[:7]
    by_variable = version == "1.2.764.0"
    assert (given == "AWS_SSM_START_SESSION_RESPONSE", variable != "") == (by_variable, by_variable)
    response = json.loads(variable if by_variable else given)
    assert set(response) == {"SessionId", "TokenValue", "StreamUrl"}
    assert (region, operation, profile) == (Deployment.load(f"deployments/{name}.yaml").region, "StartSession", "")
    assert endpoint == os.environ["AWS_ENDPOINT_URL"]
    target = json.loads(asked_for)["Target"]
    assert "_controller-machine-i-" in target if name == HYPERPOD else target.startswith("i-")


@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize("command", ["connect", "exec", "submit"])
def test_the_page_names_the_permissions(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "execve", lambda *_words: None)
    words = [GROUPS[name], "--", "true"] if command == "exec" else []
    if command == "submit":
        if name in {FLEET, SERVING}:
            return  # it has no Slurm
        (tmp_path / "job").write_text("#!/bin/sh\n")
        words = [str(tmp_path / "job")]
    with asked() as kept:
        main([command, f"deployments/{name}.yaml", *words])
    assert kept.permissions == permissions(command, name)
    if command != "connect":
        assert "the session ended before the command did" in capsys.readouterr().err


def test_without_the_plugin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for words in (["connect", FILE], ["exec", FILE, "x", "--", "true"]):
        assert main(words) == 3
        assert "Install the Session Manager plugin for the AWS CLI" in capsys.readouterr().err
    put(tmp_path, "").write_text("#!/no/such/program\n")
    assert main(["connect", FILE]) == 3
    assert f"{tmp_path / PLUGIN} does not run" in capsys.readouterr().err


@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(call="ssm StartSession", code="TargetNotConnected"), "it is still starting or has just stopped"),
        (Fault(call="ssm StartSession", code="AccessDeniedException"), "need ssm:StartSession on the node and on"),
        (Fault(call="ssm StartSession", code="InvalidDocument"), "the account has no such document in this Region"),
        (Fault(call="ssm StartSession", code="ExpiredTokenException"), "no credentials that work"),
    ],
)
def test_refusals_say_what_they_may_mean(
    here: LocalAws, fault: Fault, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy(here, HYPERPOD)
    with here.faults(fault):
        assert main(["connect", FILE]) == 1
        shown = capsys.readouterr().err
        assert said in shown
        assert "controller-machine i-" in shown
        assert main(["exec", FILE, "worker-group-1", "--", "true"]) == 1
        shown = capsys.readouterr().err
        assert shown.count(said) == 2
        assert "failed on 2 of 2 nodes" in shown


def test_a_throttled_session_is_started_again(here: LocalAws, recorder: Path) -> None:
    deploy(here, HYPERPOD)
    command = [sys.executable, "-P", "-m", "cdk_trainyard", "connect", FILE]
    with here.faults(Fault(call="ssm StartSession", code="ThrottlingException", times=2)):
        assert subprocess.run(command, capture_output=True, check=False, timeout=600).returncode == 0
    assert recorder.exists()


@pytest.mark.usefixtures("recorder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["connect", FILE, "worker-grup-1"], "did you mean 'worker-group-1'?"),
        (["connect", FILE, ""], "has no node or group ''"),
        (["exec", FILE, "i-0123456789abcdef0", "--", "true"], "its groups are controller-machine or worker-group-1"),
    ],
)
def test_a_name_that_there_is_not(
    here: LocalAws, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy(here, HYPERPOD)
    assert main(words) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("system", "user"),
    [
        ("ubuntu2204", "ubuntu"),
        ("alinux2023", "ec2-user"),
        ("rhel9", "ec2-user"),
        ("rocky9", "rocky"),
    ],
)
def test_the_user_is_of_the_operating_system(system: str, user: str) -> None:
    cluster = SimpleNamespace(operating_system=system)
    assert login_user(SimpleNamespace(orchestrator="parallelcluster", cluster=cluster)) == user
    assert {login_user(Deployment.load(f"deployments/{name}.yaml")) for name in (HYPERPOD, FLEET)} == {"ubuntu"}


def test_every_kind_of_refusal_is_explained() -> None:
    denied = Refusal(why=Why.DENIED, code="AccessDeniedException", text="no")
    assert refused(replace(denied, why=Why.THROTTLED, code="ThrottlingException")).endswith("somebody else starts many")
    assert refused(replace(denied, why=Why.REFUSED, code="InternalServerError")) == "refused: no"


def test_the_stand_in_ends_where_its_input_ends(tmp_path: Path) -> None:
    program = session_plugin.put(tmp_path)
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() > "1.2.497.0"
    assert subprocess.run([program, "x"], capture_output=True, text=True, check=True).stdout == "Invalid Operation"
