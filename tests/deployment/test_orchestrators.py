"""An orchestrator costs one room and one row: one that another package brings is read, judged, built and told."""

import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.orchestrators import OWN, OrchestratorName, orchestrators
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import Flaw
from stacks import build_stacks
from tests.deployment.good_file import problems_of

TOY = """\
name: demo
region: us-east-1
network:
  zone: use1-az4
storage:
  lustre: {}
orchestrator: toy
cluster:
  toys: 5
alerts:
  emails: [ops@example.com]
"""


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "data" / "toy"))
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


@pytest.mark.parametrize("name", OWN)
def test_what_a_row_names_is_there(name: str) -> None:
    row = OWN[name]
    for target in (row.section, row.problems, row.needs, row.build):
        assert pkgutil.resolve_name(target)


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
