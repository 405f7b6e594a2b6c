"""What goes wrong beside the deployment: credentials, Regions, accounts, clusters that come, and people at once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cdk_trainyard import operations
from cdk_trainyard.account import Account
from cdk_trainyard.cli import main
from cdk_trainyard.local import Fault, LocalAws
from cdk_trainyard.operations import Deployed
from cdk_trainyard.operations.hyperpod import HyperPod
from cdk_trainyard.operations.protocol import Condition, Group, Listing, Node
from cdk_trainyard.operations.sessions import PLUGIN
from tests.deployed import deploy
from tests.operations.plugins import program

Capsys = pytest.CaptureFixture[str]
HYPERPOD = "hyperpod-cpu-ddp"
FILE, GROUP = f"deployments/{HYPERPOD}.yaml", "worker-group-1"


@pytest.fixture(scope="module")
def there(here: LocalAws) -> Iterator[LocalAws]:
    deploy(here, HYPERPOD)
    yield here
    here.reset()


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, PLUGIN, "#!/bin/sh\necho 1.2.764.0\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def commands(tmp_path: Path) -> dict[str, list[str]]:
    """Every command of day two that finds a deployment by its file."""
    (tmp_path / "job.sbatch").write_text("#!/bin/sh\n")
    copy = tmp_path / "mine.yaml"
    copy.write_text(Path(FILE).read_text())
    acting = {name: [name, FILE, GROUP, "--yes"] for name in ("reboot", "replace", "update-image")}
    return acting | {
        "status": ["status", FILE],
        "nodes": ["nodes", FILE],
        "events": ["events", FILE],
        "costs": ["costs", FILE],
        "connect": ["connect", FILE],
        "ssh-config": ["ssh-config", FILE],
        "logs": ["logs", FILE, GROUP],
        "exec": ["exec", FILE, GROUP, "--", "true"],
        "submit": ["submit", FILE, str(tmp_path / "job.sbatch")],
        "scale": ["scale", str(copy), GROUP, "3", "--yes"],
    }


NAMES = [
    *("reboot", "replace", "update-image", "status", "nodes", "events", "costs"),
    *("connect", "ssh-config", "logs", "exec", "submit", "scale"),
]
ON_NODES = sorted({*NAMES} - {"status", "events", "costs", "scale"})


def test_every_command_of_day_two_is_here(commands: dict[str, list[str]]) -> None:
    page = Path("constructs/cdk_trainyard/operations/README.md").read_text()
    rows = [line.split("`")[1] for line in page.partition("## Permissions")[2].splitlines() if line.startswith("| `")]
    assert sorted(commands) == sorted(NAMES) == sorted(rows)


@pytest.mark.parametrize("name", NAMES)
def test_without_credentials_that_work(
    there: LocalAws, commands: dict[str, list[str]], name: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    with there.faults(Fault(call="*", code="ExpiredToken", message="The security token has expired")):
        assert main(commands[name]) == 3
    said = capsys.readouterr().err
    assert "The security token has expired" in said
    assert "There are no credentials of an AWS account that work" in said
    for each in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(each)
    assert main(commands[name]) == 3
    assert "There are no credentials of an AWS account that work" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_the_file_of_another_account(
    there: LocalAws, commands: dict[str, list[str]], name: str, capsys: Capsys
) -> None:
    file = Path(commands["scale"][1])
    file.write_text(f'{file.read_text()}\naccount: "999999999999"\n')
    words = [str(file) if word == FILE else word for word in commands[name]]
    assert main(words) == 1
    assert f"the deployment is in account 999999999999, and the credentials in use are of {there.account}" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("name", "call", "said"),
    [
        ("nodes", "sagemaker ListClusterNodes", f"AWS did not tell which nodes {HYPERPOD} has"),
        ("nodes", "cloudformation ListStackResources", f"{HYPERPOD}-training is CREATE_COMPLETE"),
        ("events", "cloudformation DescribeStackEvents", f"AWS did not tell what has happened to {HYPERPOD}"),
        ("costs", "ce GetCostAndUsage", f"AWS did not tell what {HYPERPOD} has cost"),
        ("logs", "logs FilterLogEvents", f"AWS did not tell what {GROUP} logged"),
    ],
)
def test_what_was_not_told_is_not_said_to_be_nothing(
    there: LocalAws, commands: dict[str, list[str]], name: str, call: str, said: str, capsys: Capsys
) -> None:
    with there.faults(Fault(call=call, code="AccessDeniedException", message="not you")):
        assert main(commands[name]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert said in lines
    assert len([line for line in lines if "not allowed: not you" in line]) == 1


def test_events_without_what_the_stacks_hold(there: LocalAws, capsys: Capsys) -> None:
    with there.faults(Fault(call="cloudformation ListStackResources", code="AccessDenied", message="not you")):
        assert main(["events", FILE]) == 0
    shown = capsys.readouterr()
    assert "not told: cloudformation:ListStackResources" in shown.err
    assert "CREATE_COMPLETE" in shown.out


def test_credentials_that_expire_while_logs_are_followed(there: LocalAws, capsys: Capsys) -> None:
    expired = Fault(call="logs FilterLogEvents", code="ExpiredToken", message="The security token has expired")
    with there.faults(expired):
        assert main(["logs", FILE, GROUP, "--follow"]) == 3
    assert "The security token has expired" in capsys.readouterr().err


@pytest.mark.usefixtures("there")
def test_another_region_than_the_files(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert main(["nodes", FILE]) == 0
    assert "in us-east-1, as the file says; AWS_REGION is eu-north-1" in capsys.readouterr().err
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert main(["nodes", FILE]) == 0
    assert "AWS_REGION" not in capsys.readouterr().err


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", ON_NODES)
def test_a_cluster_that_is_created(
    commands: dict[str, list[str]], name: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = Condition(kind="HyperPod cluster", name="mine", state="Creating", groups=())
    monkeypatch.setattr(HyperPod, "nodes", lambda _self: Listing())
    monkeypatch.setattr(HyperPod, "status", lambda _self: Listing(rows=(state,)))
    assert main(commands[name]) == 1
    wanted = "has no group 'worker-group-1'" if name == "update-image" else "mine is Creating: it has no nodes"
    assert wanted in capsys.readouterr().err


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", ON_NODES)
def test_a_stack_that_is_created(
    commands: dict[str, list[str]], name: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Deployed.read(Account("us-east-1"), HYPERPOD)
    coming = replace(whole.stacks["training"], status="CREATE_IN_PROGRESS", resources=())
    now = replace(whole, stacks={**whole.stacks, "training": coming})
    monkeypatch.setattr(operations, "Deployed", SimpleNamespace(read=lambda *_words: now))
    assert main(commands[name]) == 1
    assert f"{HYPERPOD}-training is CREATE_IN_PROGRESS; it has no nodes" in capsys.readouterr().err


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", ["connect", "exec"])
def test_a_node_that_has_not_come(
    commands: dict[str, list[str]], name: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Node(id="slot-1", group=GROUP, type="c5.large", state="Pending", system="HyperPod cluster")
    monkeypatch.setattr(HyperPod, "nodes", lambda _self: Listing(rows=(node,)))
    assert main(commands[name]) == 1
    said = capsys.readouterr().err
    assert "no session can be opened" in said
    assert "Pending" in said


@pytest.mark.parametrize(
    ("name", "call", "code", "message"),
    [
        ("update-image", "sagemaker UpdateClusterSoftware", "ConflictException", "Cluster is Updating"),
        ("reboot", "sagemaker BatchRebootClusterNodes", "ValidationException", "Cluster is currently updating"),
        ("replace", "sagemaker BatchReplaceClusterNodes", "ConflictException", "an operation goes on"),
    ],
)
def test_two_people_at_once(
    there: LocalAws,
    commands: dict[str, list[str]],
    name: str,
    call: str,
    code: str,
    message: str,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = Group(name=GROUP, wanted=2, present=2, state="SystemUpdating")
    state = Condition(kind="HyperPod cluster", name="mine", state="Updating", groups=(group,))
    monkeypatch.setattr(HyperPod, "status", lambda _self: Listing(rows=(state,)))
    with there.faults(Fault(call=call, code=code, message=message)):
        assert main(commands[name]) == 1
    shown = capsys.readouterr()
    assert f"something else goes on: {message}" in shown.out
    assert f"somebody else, or AWS, is at work on it; 'trainyard events {FILE}' says since when" in shown.err
    assert "mine: Updating\n  worker-group-1: SystemUpdating" in shown.err


@pytest.mark.usefixtures("there")
def test_scaling_while_somebody_deploys(
    commands: dict[str, list[str]], capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Deployed.read(Account("us-east-1"), HYPERPOD)
    coming = replace(whole.stacks["training"], status="UPDATE_IN_PROGRESS")
    now = replace(whole, stacks={**whole.stacks, "training": coming})
    monkeypatch.setattr(operations, "Deployed", SimpleNamespace(read=lambda *_words: now))
    file = Path(commands["scale"][1])
    before = file.read_text()
    assert main(commands["scale"]) == 1
    assert f"{HYPERPOD}-training is UPDATE_IN_PROGRESS: somebody deploys it at the moment" in capsys.readouterr().err
    assert file.read_text() == before


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", sorted({*ON_NODES} - {"nodes", "connect", "ssh-config", "submit"}))
def test_names_that_there_are_not(commands: dict[str, list[str]], name: str, capsys: Capsys) -> None:
    for wrong, said in (("i-0123456789abcdef0", "its groups are"), ("worker-grup-1", "did you mean 'worker-group-1'?")):
        assert main([wrong if word == GROUP else word for word in commands[name]]) == 1
        assert said in capsys.readouterr().err
