"""What is done to nodes: what is lost is said, somebody is asked, and each node is taken or refused for itself."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.cli import main
from cdk_trainyard.local import Fault, LocalAws
from cdk_trainyard.operations import Action, Node, OperationError, make
from cdk_trainyard.operations.fleet import Fleet
from cdk_trainyard.operations.hyperpod import HyperPod
from tests.deployed import deploy

HYPERPOD, FLEET = "deployments/hyperpod-cpu-ddp.yaml", "deployments/fleet-p3dn-bert.yaml"
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def there(here: LocalAws) -> Iterator[LocalAws]:
    deploy(here, "hyperpod-cpu-ddp")
    deploy(here, "fleet-p3dn-bert")
    yield here
    here.reset()


def nodes(capsys: Capsys, file: str, *names: str) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    assert main(["nodes", file, *names, "--json"]) == 0
    return {node["id"]: node for node in json.loads(capsys.readouterr().out)["nodes"]}


@pytest.mark.parametrize(("file", "group"), [(HYPERPOD, "worker-group-1"), (FLEET, "worker")])
def test_a_node_is_replaced(there: LocalAws, capsys: Capsys, file: str, group: str) -> None:
    before = nodes(capsys, file, group)
    old = min(before)
    assert main(["replace", file, old, "--yes"]) == 0
    shown = capsys.readouterr()
    assert shown.out == f"{old}: taken\n"
    assert f"replace 1 node of {group} ({old})\nthis loses:\n  - the job" in shown.err
    assert "file systems and buckets stay" in shown.err
    command = {
        HYPERPOD: f"batch-replace-cluster-nodes --cluster-name arn:aws:sagemaker:us-east-1:{there.account}:cluster/",
        FLEET: f"terminate-instance-in-auto-scaling-group --instance-id {old} --no-should-decrement-desired-capacity",
    }[file]
    assert command in shown.err
    after = nodes(capsys, file, group)
    assert len(after) == len(before)
    assert old not in after


@pytest.mark.parametrize(("file", "group"), [(HYPERPOD, "worker-group-1"), (FLEET, "worker"), (FLEET, "master")])
def test_nodes_are_rebooted(there: LocalAws, capsys: Capsys, file: str, group: str) -> None:  # noqa: ARG001  deployed
    before = nodes(capsys, file, group)
    assert main(["reboot", file, group, "--yes", "--json"]) == 0
    outcomes = json.loads(capsys.readouterr().out)["outcomes"]
    assert outcomes == [{"subject": each, "done": True, "text": "", "busy": False} for each in before]
    assert nodes(capsys, file, group).keys() == before.keys()


def test_the_image_of_groups_is_updated(there: LocalAws, capsys: Capsys) -> None:
    assert main(["update-image", HYPERPOD, "worker-group-1", "--yes"]) == 0
    client = there.client("sagemaker", "us-east-1")
    cluster = client.list_clusters()["ClusterSummaries"][0]["ClusterName"]
    groups = client.describe_cluster(ClusterName=cluster)["InstanceGroups"]
    assert [group.get("SoftwareUpdateStatus") for group in groups] == [None, "Succeeded"]
    assert "update-cluster-software" in capsys.readouterr().err
    before = nodes(capsys, FLEET)
    assert main(["update-image", FLEET, "--yes"]) == 0  # every group that Auto Scaling has
    after = nodes(capsys, FLEET)
    assert {node["group"] for name, node in after.items() if name in before} == {"master"}
    assert len(after) == len(before)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["replace", HYPERPOD, "controller-machine"], "HyperPod replaces no Slurm controller; 'trainyard reboot'"),
        (["replace", HYPERPOD, "worker-group-1", "controller-machine"], "HyperPod replaces no Slurm controller"),
        (["replace", FLEET, "master"], "no group replaces it, since CloudFormation launched it alone"),
        (["update-image", FLEET, "master"], "no group replaces it, since CloudFormation launched it alone"),
        (["update-image", FLEET, "wroker"], "fleet-p3dn-bert has no group 'wroker'; did you mean 'worker'?"),
        (["update-image", HYPERPOD, "x"], "has no group 'x'; its groups are controller-machine or worker-group-1"),
        (["reboot", HYPERPOD, "i-0123456789abcdef0"], "hyperpod-cpu-ddp has no node or group 'i-0123456789abcdef0'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_done(
    there: LocalAws, capsys: Capsys, words: list[str], said: str
) -> None:
    with there.faults(Fault(call="* Batch*", code="InternalFailure"), Fault(call="* Start*", code="InternalFailure")):
        assert main([*words, "--yes"]) == 1
    assert said in capsys.readouterr().err


def test_somebody_is_asked(there: LocalAws, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    before = nodes(capsys, HYPERPOD)
    assert main(["replace", HYPERPOD, "worker-group-1"]) == 2
    assert "nothing was done: there is nobody to ask; add --yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_words, **_more: False)
    assert main(["replace", HYPERPOD, "worker-group-1"]) == 1
    assert "nothing was done" in capsys.readouterr().err
    assert nodes(capsys, HYPERPOD).keys() == before.keys()


def test_what_the_account_does_not_take_is_said_for_each(there: LocalAws, capsys: Capsys) -> None:
    file = HYPERPOD
    first, second = nodes(capsys, file, "worker-group-1")
    there.fail_node(first, "broken")
    denied = Fault(call="sagemaker BatchRebootClusterNodes", code="AccessDeniedException", message="not you")
    with there.faults(denied):
        assert main(["reboot", file, first, second, "--yes"]) == 1
    assert capsys.readouterr().out == f"{first}: not allowed: not you\n{second}: not allowed: not you\n"
    assert nodes(capsys, file)[first]["health"] == "broken"
    assert main(["reboot", file, first, "--yes"]) == 0
    assert nodes(capsys, file)[first]["health"] == ""


class Said(Account):
    """An account that answers as it is told."""

    def __init__(self, *values: dict[str, Any]) -> None:
        super().__init__("us-west-2")
        self.values = list(values)

    def ask(self, call: Call) -> Answer:
        return Answer(call=call, value=self.values.pop(0))


def test_a_batch_that_is_taken_in_part() -> None:
    call = Call("sagemaker", "BatchRebootClusterNodes", {"ClusterName": "c", "NodeIds": ["i-1", "i-2"]})
    failed = [{"NodeId": "i-2", "ErrorCode": "InstanceIdInUse", "Message": "wait"}]
    action = Action(what="", calls=(call,), loses=(), then="")
    first, second = make(Said({"Successful": ["i-1"], "Failed": failed}), action)
    assert (first.subject, first.done, first.text) == ("i-1", True, "")
    assert (second.subject, second.done, second.text) == ("i-2", False, "InstanceIdInUse: wait")


IDS = st.lists(st.integers(0, 2**60), unique=True, min_size=1, max_size=90)


@given(IDS)
def test_every_node_is_in_one_batch_of_at_most_25(ids: Sequence[int]) -> None:
    cluster = object.__new__(HyperPod)
    cluster._arn = "arn"
    asked = [Node(id=f"i-{number:017x}", group="g", type="t", state="Running") for number in ids]
    calls = cluster.reboot(asked).calls
    batches = [call.parameters["NodeIds"] for call in calls]
    assert [name for batch in batches for name in batch] == [node.id for node in asked]
    assert max(map(len, batches)) <= 25
    assert len(batches) == -(-len(asked) // 25)


def test_nodes_that_have_not_come_are_replaced_by_their_logical_ids() -> None:
    cluster = object.__new__(HyperPod)
    cluster._arn = "arn"
    pair = [Node(id=name, group="g", type="t", state="Pending") for name in ("node-1", "i-1")]
    assert [dict(call.parameters) for call in cluster.replace(pair).calls] == [
        {"ClusterName": "arn", "NodeIds": ["i-1"]},
        {"ClusterName": "arn", "NodeLogicalIds": ["node-1"]},
    ]
    with pytest.raises(OperationError, match=r"node-1 \(g\): it has no instance yet, and nothing to reboot"):
        cluster.reboot(pair)


def test_a_fleets_instances_are_terminated_one_by_one() -> None:
    fleet = object.__new__(Fleet)
    calls = fleet.replace([Node(id=name, group="g", type="t", state="InService") for name in ("i-1", "i-2")]).calls
    assert [call.parameters["InstanceId"] for call in calls] == ["i-1", "i-2"]
