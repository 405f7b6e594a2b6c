"""What a deployment has cost, by Cost Explorer."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from cdk_trainyard import operations
from cdk_trainyard.cli import main
from cdk_trainyard.local import Fault, LocalAws
from cdk_trainyard.operations import Deployed, Resource, Stack
from tests.deployed import deploy

FILE = "deployments/hyperpod-cpu-ddp.yaml"


@pytest.fixture(scope="module")
def charged(here: LocalAws) -> LocalAws:
    deploy(here, "hyperpod-cpu-ddp")
    stack = {"aws:cloudformation:stack-name": "hyperpod-cpu-ddp-training", "team": "a"}
    here.charge("Amazon SageMaker", "12.5", stack)
    here.charge("Amazon FSx", "3.333", {"aws:cloudformation:stack-name": "hyperpod-cpu-ddp-storage"})
    here.charge("Amazon EC2", "100", {"aws:cloudformation:stack-name": "somebody-elses"})
    return here


def test_costs_of_all_stacks_over_months(charged: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    del charged
    assert main(["costs", FILE, "--days", "100", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(row["service"], row["amount"]) for row in said["costs"]] == [
        ("Amazon SageMaker", "1250.0"),
        ("Amazon FSx", "333.300"),
    ]
    assert (said["total"], said["unit"]) == ("1583.300", "USD")
    assert main(["costs", FILE, "--days", "10"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["total", "158.33", "USD"]


def test_costs_by_a_tag_of_ones_own(charged: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    del charged
    assert main(["costs", FILE, "--days", "1", "--tag", "team=a"]) == 0
    assert "12.50 USD" in capsys.readouterr().out
    assert main(["costs", FILE, "--tag", "team"]) == 2
    assert "--tag: 'team' is not KEY=VALUE" in capsys.readouterr().err
    assert main(["costs", FILE, "--tag", "team=b"]) == 1
    assert "no costs with the tag team (b): is it activated" in capsys.readouterr().err


def test_costs_that_one_may_not_see(charged: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    with charged.faults(Fault(call="ce *", code="AccessDeniedException", message="not you")):
        assert main(["costs", FILE]) == 1
    assert "not told: ce:GetCostAndUsage: not allowed: not you" in capsys.readouterr().err


def test_costs_of_stacks_that_are_gone_and_of_a_cluster_that_is_a_stack(
    charged: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    charged.charge("AWS Key Management Service", "1", {"aws:cloudformation:stack-name": "gone-storage"})
    charged.charge("EC2 - Other", "2", {"aws:cloudformation:stack-name": "cluster-of-gone"})
    file = tmp_path / "x.yaml"
    file.write_text(Path(FILE).read_text().replace("name: hyperpod-cpu-ddp", "name: gone"))
    assert main(["costs", str(file), "--days", "1"]) == 0
    shown = capsys.readouterr()
    assert (shown.out.splitlines()[-1].split()[1], "queues" in shown.err) == ("1.00", False)
    cluster = Resource(logical_id="Cluster", type="Custom::PclusterCluster", id="cluster-of-gone", status="")
    stack = Stack(part="training", name="gone-training", id="", status="", reason="", outputs={}, resources=(cluster,))
    deployed = Deployed(name="gone", stacks={"training": stack})
    monkeypatch.setattr(operations, "Deployed", SimpleNamespace(read=lambda *_words: deployed))
    assert main(["costs", str(file), "--days", "1"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[-1].split()[1] == "3.00"
    assert "--tag parallelcluster:cluster-name=cluster-of-gone" in shown.err
