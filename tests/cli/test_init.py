"""``trainyard init``: a project that checks and synthesizes at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.cli._new import defaults, shipped
from cdk_trainyard.deployment import Deployment

BIN = Path(sys.executable).parent


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_deployment_is_a_beginning(name: str, tmp_path: Path) -> None:
    folder = tmp_path / f"My {name}"
    assert main(["init", str(folder), "--like", name]) == 0
    deployment = Deployment.load(folder / "deployment.yaml")
    assert deployment.name == f"my-{name}"[:32].rstrip("-")
    text = (folder / "deployment.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=deployment.schema.json\n")
    assert "../constructs" not in text
    assert main(["check", str(folder / "deployment.yaml")]) == 0


def test_what_was_chosen_is_in_the_file(tmp_path: Path) -> None:
    """The zone is one of the Region that has the type."""
    words = ["--like", "hyperpod-trn1", "--region", "us-east-2", "--count", "8"]
    assert main(["init", str(tmp_path / "x"), *words]) == 0
    deployment = Deployment.load(tmp_path / "x" / "deployment.yaml")
    assert (deployment.region, deployment.network.zone) == ("us-east-2", "use2-az3")
    assert {group.name: group.count for group in deployment.cluster.groups}["worker-group"] == 8
    words = ["--orchestrator", "parallelcluster", "--instance-type", "c7i.8xlarge", "--zone", "use1-az6"]
    assert main(["init", str(tmp_path / "y"), *words]) == 0
    deployment = Deployment.load(tmp_path / "y" / "deployment.yaml")
    (compute,) = deployment.cluster.queues[0].compute
    assert (compute.instance_type, deployment.network.zone) == ("c7i.8xlarge", "use1-az6")


def test_a_capacity_block_is_as_large_as_its_fleet(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path / "x"), "--like", "fleet-p5-capacity-block", "--count", "4"]) == 0
    cluster = Deployment.load(tmp_path / "x" / "deployment.yaml").cluster
    assert (cluster.count, cluster.reserved_instances) == (4, 4)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--like", "hyperpot-cpu-ddp"], 1, "did you mean 'hyperpod-cpu-ddp'?"),
        (["--like", "hyperpod"], 1, "it may be hyperpod-cpu-ddp or hyperpod-trn1-llama2; --list names them"),
        (["--like", "fleet-p3dn-bert", "--orchestrator", "hyperpod"], 1, "is of fleet, not of hyperpod"),
        (["--instance-type", "ml.c5.5xlarge"], 1, "did you mean 'ml.c5.xlarge'"),
        (["--region", "us-east-9"], 1, "must be a Region"),
        (
            ["--like", "hyperpod-trn1", "--region", "eu-central-2"],
            1,
            "no zone of eu-central-2 is known to have ml.trn1.",
        ),
        (["--like", "serving-inf2-vllm", "--count", "3"], 1, "has no nodes that run jobs, whose count could be chosen"),
        (["--orchestrator", "slurm"], 2, "'hyperpod', 'parallelcluster', 'fleet'"),
        (["--count", "-1"], 2, "-1 is not in the range x>=0"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "x"), *words]) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_what_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["init", str(tmp_path)]) == 1
    assert "is not empty: name another folder, or write into it with --force" in capsys.readouterr().err
    assert main(["init", str(tmp_path / "mine.txt")]) == 1
    assert "this is a file; name a folder" in capsys.readouterr().err
    assert main(["init", str(tmp_path), "--force"]) == 0
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "app.py").exists()


def test_a_folder_that_cannot_be_written_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "/proc/self/new"]) == 1
    assert "/proc/self/new cannot be written: No such file or directory\n" in capsys.readouterr().err


def test_shipped_deployments_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "hyperpod-trn1-llama2: Llama 2 on four Trn1 nodes" in lines
    assert [line.partition(":")[0] for line in lines] == [*shipped()]
    assert set(defaults().values()) <= shipped().keys()


def test_questions_are_asked_on_a_terminal(tmp_path: Path) -> None:
    """On a pseudo-terminal; an empty answer is the one that is offered."""
    program = f"import pty, sys; sys.exit(pty.spawn([{sys.executable!r}, '-m', 'cdk_trainyard', 'init', 'mine']) >> 8)"
    answers = "parallelcluster\n\n3\n\n\n"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, input=answers, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "What runs jobs (hyperpod, parallelcluster, fleet) [hyperpod]: " in done.stdout
    deployment = Deployment.load(tmp_path / "mine" / "deployment.yaml")
    assert deployment.cluster.queues[0].compute[0].max_count == 3
