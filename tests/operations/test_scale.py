"""Another number of nodes: in the file and in the account, or in neither."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.cli import deploy as cli_deploy
from cdk_trainyard.cli import main
from cdk_trainyard.cli.plan import command as plan
from cdk_trainyard.local import LocalAws
from cdk_trainyard.report.updates import Effect, PlanRow
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.operations.pages import permissions
from tests.operations.stages import PARALLELCLUSTER, queue_node
from tests.support import OF_THE_CLI, synthesize_here

pytestmark = pytest.mark.usefixtures("here")
HYPERPOD, FLEET = "hyperpod-cpu-ddp", "fleet-p3dn-bert"
GROUP = "worker-group-1"


@pytest.fixture
def file(here: LocalAws, tmp_path: Path) -> Path:
    copy = tmp_path / "mine.yaml"
    copy.write_text(deploy(here, HYPERPOD).read_text())
    return copy


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep what is deployed, and plan what is free."""
    kept: list[str] = []
    row = PlanRow(where="mine-training/Cluster", what="InstanceGroups", effect=Effect.FREE)
    monkeypatch.setattr(plan, "planned", lambda _old, _new: [row])
    monkeypatch.setattr(cli_deploy, "deployed", lambda file, *_more, **_options: kept.append(file.read_text()))
    return kept


def test_the_file_is_changed_and_deployed(file: Path, deployed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = file.read_text()
    file.chmod(0o640)
    assert main(["scale", str(file), GROUP, "5", "--yes"]) == 0
    assert file.read_text() == text.replace("count: 2\n", "count: 5\n") == deployed[0]
    assert file.stat().st_mode & 0o777 == 0o640
    assert "free" in capsys.readouterr().out
    assert main(["scale", str(file), GROUP, "5", "--yes"]) == 0
    assert capsys.readouterr().out == f"{file}: {GROUP} has 5 nodes already\n"
    assert main(["scale", str(file), GROUP, "1", "--yes"]) == 0
    said = capsys.readouterr().err
    assert f"{GROUP} wants 2 nodes in the account and 5 in {file}: somebody has scaled it beside the file" in said
    assert f"which nodes of {GROUP} go, AWS chooses" in said
    assert [path.name for path in file.parent.iterdir()] == ["mine.yaml"]


@pytest.mark.parametrize(
    ("group", "count", "said"),
    [
        ("controller-machine", "2", ":25:14: 'cluster.groups.controller-machine.count'"),
        (GROUP, "7000", "6758"),
        ("worker-grup-1", "3", "did you mean 'worker-group-1'?"),
    ],
)
def test_what_rules_refuse_leaves_the_file(
    file: Path, deployed: list[str], group: str, count: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = file.read_text()
    assert main(["scale", str(file), group, count, "--yes"]) == 1
    shown = capsys.readouterr().err
    assert said in shown
    assert str(file) in shown
    assert ".mine." not in shown
    assert (file.read_text(), deployed) == (text, [])
    assert [path.name for path in file.parent.iterdir()] == ["mine.yaml"]


@pytest.mark.parametrize(
    ("effect", "code", "said"),
    [(Effect.REFUSED, 1, "the plan refuses the change"), (Effect.UNKNOWN, 3, "nobody can say what the change does")],
)
def test_what_the_plan_refuses_or_cannot_say_leaves_the_file(
    effect: Effect,
    code: int,
    said: str,
    file: Path,
    deployed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = file.read_text()
    row = PlanRow(where="x", what="y", effect=effect)
    monkeypatch.setattr(plan, "planned", lambda _old, _new: [row])
    assert main(["scale", str(file), GROUP, "5", "--yes"]) == code
    assert f"it is as it was: {said}" in capsys.readouterr().err
    assert (file.read_text(), deployed) == (text, [])


def test_nobody_to_ask(file: Path, deployed: list[str]) -> None:
    assert main(["scale", str(file), GROUP, "5"]) == 2
    assert main(["scale", str(file), GROUP, "-1"]) == 2
    assert deployed == []


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize(("name", "group"), [(HYPERPOD, GROUP), (FLEET, "worker"), (PARALLELCLUSTER, "trn1")])
def test_the_page_names_the_permissions(name: str, group: str, here: LocalAws, tmp_path: Path) -> None:
    copy = tmp_path / "x.yaml"
    copy.write_text(deploy(here, name).read_text())
    with asked() as kept:
        assert main(["scale", str(copy), group, "5", "--yes"]) == 0
    assert kept.permissions == permissions("scale", name)


def test_a_queue_of_parallelcluster(
    here: LocalAws, tmp_path: Path, deployed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = deploy(here, PARALLELCLUSTER).read_text().replace("max_count: 16", "max_count: 1")
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    for number in (1, 2):
        queue_node(here, f"trn1-dy-trn1-32xlarge-{number}")
    assert main(["scale", str(file), "trn1", "3", "--min", "4", "--yes"]) == 1
    assert "min_count" in capsys.readouterr().err
    assert (file.read_text(), deployed) == (text, [])
    assert main(["scale", str(file), "trn1", "8", "--min", "1", "--yes"]) == 0
    assert deployed == [text.replace("max_count: 1", "max_count: 8").replace("min_count: 0", "min_count: 1")]
    assert f"trn1 wants 2 nodes in the account and 1 in {file}: somebody has scaled it" in capsys.readouterr().err
    assert main(["scale", str(file), "trn1", "4", "--yes"]) == 0
    assert "which nodes of trn1 go, AWS chooses" in capsys.readouterr().err


@pytest.fixture
def in_a_project(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its app has synthesized the file with two workers and with three, and gives the CLI what its file asks for."""
    text = file.read_text()
    for count in ("2", "3"):
        changed = tmp_path / "made" / f"{count}.yaml"
        changed.parent.mkdir(exist_ok=True)
        changed.write_text(text.replace("count: 2\n", f"count: {count}\n"))
        assert synthesize_here(changed, changed.with_suffix(""), OF_THE_CLI, checked=False).stderr == ""
    app = """file=$(echo "$CDK_CONTEXT_JSON" | sed 's/.*"deployment":"\\([^"]*\\).*/\\1/')
        cp -r made/$(sed -n 's/^ *count: //p' "$file" | tail -n 1)/. "$CDK_OUTDIR" """
    (tmp_path / "cdk.json").write_text(json.dumps({"app": app}))
    monkeypatch.setenv("PATH", f"{Path('.venv/bin').resolve()}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)


@pytest.mark.cli
@pytest.mark.usefixtures("in_a_project")
def test_the_cluster_has_what_the_file_says(file: Path, here: LocalAws) -> None:
    client: Any = here.client("sagemaker", "us-east-1")
    (cluster,) = client.list_clusters()["ClusterSummaries"]
    try:
        assert main(["scale", str(file), GROUP, "3", "--yes"]) == 0
        groups = client.describe_cluster(ClusterName=cluster["ClusterName"])["InstanceGroups"]
        assert {group["InstanceGroupName"]: group["CurrentCount"] for group in groups}[GROUP] == 3
        nodes = client.list_cluster_nodes(ClusterName=cluster["ClusterName"])["ClusterNodeSummaries"]
        assert len(nodes) == 4
    finally:
        here.reset()
