"""How many requests the nodes of a large cluster cost."""

import json
from pathlib import Path

import pytest

from bench.nodes import FILE, NAME, REGION, stack
from cdk_trainyard.cli import main
from cdk_trainyard.local import Fault, LocalAws
from tests.operations.asked import asked

NODES = 1000


@pytest.fixture(scope="module")
def thousand(here: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Path:
    client = here.client("cloudformation", REGION)
    client.create_stack(StackName=f"{NAME}-training", TemplateBody=json.dumps(stack(NODES)))
    waiter = client.get_waiter("stack_create_complete")
    waiter.wait(StackName=f"{NAME}-training", WaiterConfig={"Delay": 0.2, "MaxAttempts": 600})
    file = tmp_path_factory.mktemp("large") / "deployment.yaml"
    file.write_text(FILE)
    return file


def test_a_thousand_nodes_take_less_than_sixty_requests(thousand: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with asked() as kept:
        assert main(["nodes", str(thousand), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["nodes"]) == NODES
    assert kept.requests < 60
    assert kept.requests == 4 * 2 + 1 + NODES / 100  # two for each stack that there may be, the cluster, its pages


def test_bad_days_cost_more_requests_and_no_node(
    here: LocalAws, thousand: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.retries.standard.time.sleep", lambda _seconds: None, raising=False)
    throttled = Fault(call="sagemaker List*", code="ThrottlingException", times=2)
    empty = Fault(call="sagemaker ListClusterNodes", empty_first=True)
    with here.faults(throttled, empty), asked() as kept:
        assert main(["nodes", str(thousand), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (len(said["nodes"]), said["refused"]) == (NODES, [])
    assert kept.requests < 60
