"""``trainyard review NEW --against OLD`` of deployment files: one pair for each orchestrator but HyperPod.

HyperPod's pair is in tests/report/test_questions.py.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.cli.contract import ask
from cdk_trainyard.cli.review.updates import ASKED
from tests.support import ROOT, synthesize_here

Change = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Synthesize a deployment file once for all that ask for it."""
    made: dict[str, Path] = {}

    def folder(name: str, text: str) -> Path:
        if text not in made:
            home = tmp_path_factory.mktemp(name)
            file = home / f"{name}.yaml"
            file.write_text(text)
            made[text] = home / "cdk.out"
            assert synthesize_here(file, made[text]).stderr == ""
        return made[text]

    return folder


@pytest.fixture
def reviewed(synthesized: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """Review a shipped deployment with replacements against itself."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def review(name: str, *replacements: tuple[str, str]) -> dict[str, Any]:
        text = (ROOT / "deployments" / f"{name}.yaml").read_text()
        old = synthesized(name, text)
        for before, after in replacements:
            assert before in text
            text = text.replace(before, after)
        words = ["review", str(synthesized(name, text)), "--against", str(old), "-o", str(tmp_path / "out")]
        assert main([*words, "--without", "cfn-lint", "--without", "checkov"]) == 0
        return dict(json.loads((tmp_path / "out" / "review.json").read_text()))

    return review


HEAD = ("head_node:\n    instance_type: c5.xlarge", "head_node:\n    instance_type: c5.2xlarge")
FEWER = ("max_count: 8", "max_count: 4")


def effects(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(row["where"], row["effect"], row["what"]) for row in found["change"]["rows"]]


@pytest.mark.contract
def test_a_parallelcluster_changes_by_its_own_update_policies(reviewed: Change) -> None:
    found = reviewed(
        "parallelcluster-hello",
        HEAD,
        FEWER,
    )
    cluster = "TrainingStack/Cluster"
    ours = [row for row in effects(found) if row[0] == cluster]
    assert [(effect, what) for _, effect, what in ours] == [
        ("refused", "HeadNode.InstanceType c5.xlarge -> c5.2xlarge"),
        ("stopped", "Scheduling.SlurmQueues[compute].ComputeResources[c5-xlarge].MaxCount 8 -> 4"),
    ]
    assert found["change"]["cost"] == {
        "before": "at least 0.22 USD an hour, 1.58 when every machine runs that may",
        "after": "at least 0.39 USD an hour, 1.07 when every machine runs that may",
    }
    assert found["provenance"]["not_run"] == {"cfn-lint": "left out", "checkov": "left out"}


@pytest.mark.review
def test_without_parallelclusters_program_the_page_says_that_nobody_was_asked(
    reviewed: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "project_folder", lambda: tmp_path)
    found = reviewed("parallelcluster-hello", HEAD, FEWER)
    (row,) = [row for row in found["change"]["rows"] if row["type"] == "Custom::PclusterCluster"]
    assert (row["effect"], row["remedy"].partition(":")[0]) == (
        "changed",
        "ParallelCluster decides by its own update policies",
    )
    assert "contract --install" in found["provenance"]["not_run"][ASKED]
    assert ASKED.replace("'", "&#39;") in (tmp_path / "out" / "review.html").read_text()


@pytest.mark.review
def test_a_fleet_that_grows(reviewed: Change) -> None:
    found = reviewed(
        "fleet-p3dn-bert",
        ("count: 8", "count: 12"),
        ("instance_type: c5n.18xlarge", "instance_type: c5n.9xlarge"),
        ("capacity_gib: 1200", "capacity_gib: 2400"),
    )
    assert found["change"]["cost"] == {
        "before": "about 253.63 USD an hour",
        "after": "about 376.53 USD an hour",
    }
    said = {where: (effect, what) for where, effect, what in effects(found)}
    assert said["StorageStack/Lustre"] == ("interrupted", "StorageCapacity: 1200 → 2400")
    assert said["TrainingStack/Fleet"] == ("changed", "DesiredCapacity: 8 → 12; MaxSize: 8 → 12; MinSize: 8 → 12")
    assert said["TrainingStack/Master/Template"][1].startswith("LaunchTemplateData.InstanceType: c5n.18xlarge → c5n.9x")
    assert [row for row in effects(found) if row[1] in {"lost", "refused"}] == []
    assert found["change"]["widened"] == []


@pytest.mark.review
def test_a_service_with_larger_hosts(reviewed: Change) -> None:
    found = reviewed(
        "serving-inf2-vllm",
        ("instance_type: inf2.24xlarge", "instance_type: inf2.48xlarge"),
        ("tensor_parallel: 8", "tensor_parallel: 24"),
    )
    assert found["change"]["cost"] == {
        "before": "about 0.07 USD an hour, 6.56 when every machine runs that may",
        "after": "about 0.07 USD an hour, 13.05 when every machine runs that may",
    }
    templates = [row for row in found["change"]["rows"] if row["type"] == "AWS::EC2::LaunchTemplate"]
    assert [row["effect"] for row in templates] == ["changed"]
    assert [row for row in effects(found) if row[1] in {"lost", "refused"}] == []
