"""An orchestrator costs one room and one row: one that another package brings is read, judged, built and told."""

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.cli import main
from cdk_trainyard.cli._new import Choice, chosen_file, edited, shipped
from cdk_trainyard.cli._sessions import login_user
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.orchestrators import OWN, OrchestratorName, orchestrators
from cdk_trainyard.deployment.resizing import resized
from cdk_trainyard.doctor.check import Answers
from cdk_trainyard.doctor.checks import alerts, taken
from cdk_trainyard.doctor.finding import Verdict
from cdk_trainyard.operations import Deployed, Resource, Stack, systems_of
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import Flaw
from stacks import build_stacks
from tests.deployment.good_file import problems_of

FOLDER = Path(__file__).parent / "data" / "toy"
TOY = (
    (FOLDER / "toy.yaml").read_text().partition("\n")[2]
    + """\
alerts:
  emails: [ops@example.com]
"""
)


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER))
    orchestrators.cache_clear()
    yield
    orchestrators.cache_clear()


def test_its_file_is_deployed(write: Callable[[str], Path]) -> None:
    stacks = build_stacks(App(), Deployment.load(write(TOY)))
    template = Template.from_stack(stacks[-1])
    [heap] = template.find_resources("Toy::Box::Heap").values()
    assert heap["Properties"]["Toys"] == 5
    assert {"Bucket", "Subnet", "Topic"} <= heap["Properties"].keys()
    assert "HeapId" in template.find_outputs("*")
    assert template.to_json()["Description"] == "demo: heap of toys (cdk-trainyard)"


def test_what_it_defines_is_a_cluster(write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("toy_orchestrator")
    monkeypatch.setattr(module, "build", lambda *_: SimpleNamespace(outputs={}, publisher=None, use=print, tell=print))
    with pytest.raises(TypeError, match=r"got one without \['connections', 'grant_principal', .*'mount'\]"):
        build_stacks(App(), Deployment.load(write(TOY)))


def test_its_rules_are_asked_with_all_others(write: Callable[[str], Path]) -> None:
    assert problems_of(write(TOY.replace("toys: 5", "toys: 50").replace("  lustre: {}\n", "  open_zfs: 5\n"))) == [
        "5:1: 'storage.lustre' is missing; toys lie on it",
        "6:13: 'storage.open_zfs' must be a mapping ('dns_name: …' on lines below it), got 5",
        "9:9: 'cluster.toys' must be 1 to 9, got 50",
    ]


def test_its_name_is_among_the_choices(write: Callable[[str], Path]) -> None:
    assert problems_of(write(TOY.replace("orchestrator: toy", "orchestrator: toi"))) == [
        "7:15: 'orchestrator' must be hyperpod, parallelcluster, fleet or toy, got 'toi'; did you mean 'toy'?"
    ]


def test_its_tags_and_alarms_are_judged_by_its_row(write: Callable[[str], Path]) -> None:
    tags = "".join(f"  k{number}: v\n" for number in range(6))
    alarms = "  alarms: {JobsStarving: {after_minutes: 9}}\n"
    alarm, tag = problems_of(write(f"{TOY}monitoring:\n{alarms}tags:\n{tags}"))
    assert alarm.endswith("must be left out: the deployment does not make this alarm, as toys have no Slurm")
    assert tag.endswith("'tags' must be at most 5 tags beside 45 that are added, got 6")


def test_its_nodes_are_scaled_and_looked_after(write: Callable[[str], Path]) -> None:
    file = write(TOY)
    deployment = Deployment.load(file)
    assert resized(TOY, str(file), deployment, "heap", 7) == (TOY.replace("toys: 5", "toys: 7"), 5)
    assert login_user(deployment) == "child"
    heap = Resource(logical_id="Heap", type="Toy::Box::Heap", id="heap-1", status="CREATE_COMPLETE")
    stack = Stack(
        part="training",
        name="demo-training",
        id="x",
        status="CREATE_COMPLETE",
        reason="",
        outputs={},
        resources=(heap,),
    )
    found: Any = systems_of(Account("us-east-1"), Deployed(name="demo", stacks={"training": stack}))
    [system] = found
    assert (system.kind, system.heaps) == ("heap of toys", ["heap-1"])


def test_it_has_no_slurm(write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    file = write(TOY)
    assert main(["submit", str(file), str(file)]) == 1
    assert "it has no Slurm" in capsys.readouterr().err


def test_the_doctor_asks_for_its_name_and_its_topic(write: Callable[[str], Path]) -> None:
    topic = "arn:aws:sns:us-east-1:123456789012:mine"
    text = TOY.replace("toys: 5", "cluster_name: heap").replace("emails: [ops@example.com]", f"topic_arn: {topic}")
    deployment = Deployment.load(write(text))
    asked = Call("toys", "ListHeaps")
    assert asked in [*taken.CHECK.calls(deployment)]
    rows = {"Heaps": [{"Name": "heap", "Id": "heap-1"}]}
    said = {call: Answer(call=call, value=rows if call == asked else {}) for call in taken.CHECK.calls(deployment)}
    [found] = [each for each in taken.CHECK.findings(deployment, Answers(said)) if each.needed.startswith("the name")]
    assert (found.verdict, found.has) == (Verdict.SHORT, "another cluster or stack has it")
    told = [each.needed for each in alerts.CHECK.findings(deployment, Answers())]
    assert f"toys.amazonaws.com may publish to {topic}" in told


def test_a_project_begins_with_its_file() -> None:
    text = edited(chosen_file(None, "toy"), Choice(), "mine")
    assert "name: mine\n" in text
    assert "orchestrator: toy\n" in text


@pytest.mark.parametrize("name", OWN)
def test_what_a_row_names_is_there(name: str) -> None:
    row = OWN[name]
    found = [getattr(row, field.name) for field in fields(row)]
    named = [each for each in found if isinstance(each, str) and each.startswith("cdk_trainyard.")]
    assert len(named) >= len(
        ("section", "problems", "needs", "build", "warnings", "numbers", "metrics", "user", "system")
    )
    for target in named:
        assert pkgutil.resolve_name(target)
    assert row.begins in shipped()


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("eks", "; clusters with Kubernetes are not made here; use hyperpod or parallelcluster for Slurm"),
        ("Kubernetes", "; clusters with Kubernetes are not made here; use hyperpod or parallelcluster for Slurm"),
        ("slurm", "; use hyperpod or parallelcluster for Slurm"),
        ("ec2", "; use fleet for instances of EC2 without Slurm"),
        ("ParallelCluster", "; did you mean 'parallelcluster'?"),
    ],
)
def test_what_is_no_orchestrator_here_is_told_what_is(word: str, remedy: str) -> None:
    wrong = OrchestratorName().problem(word, Environment())
    assert wrong == Flaw("must be hyperpod, parallelcluster, fleet or toy", got=f"'{word}'", remedy=remedy)
