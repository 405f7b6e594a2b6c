"""Nodes are named as people name them, and what is not there is answered with what is."""

import pytest

from cdk_trainyard.operations import Node, OperationError, named

NODES = [
    Node(id="i-1", group="head", type="m5.large", state="Running", is_head=True),
    Node(id="i-2", group="workers", type="c5.large", state="Running", slurm_name="ip-10-0-0-2", address="10.0.0.2"),
    Node(id="i-3", group="workers", type="c5.large", state="Pending"),
]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], ["i-1", "i-2", "i-3"]),
        (["i-2"], ["i-2"]),
        (["ip-10-0-0-2", "10.0.0.2"], ["i-2"]),
        (["i-3", "workers"], ["i-3", "i-2"]),
    ],
)
def test_nodes_by_their_names(names: list[str], found: list[str]) -> None:
    assert [node.id for node in named(NODES, names, what="mine")] == found


@pytest.mark.parametrize(
    ("names", "nodes", "said"),
    [
        (["worker"], NODES, "mine has no node or group 'worker'; did you mean 'workers'?"),
        (["x"], NODES, "mine has no node or group 'x'; its groups are head or workers"),
        (["x", "i-2", ""], NODES, "'x'; its groups are head or workers\nmine has no node or group ''; its"),
        (["x"], [], "mine has no node or group 'x'; it has no nodes"),
    ],
)
def test_what_is_not_there(names: list[str], nodes: list[Node], said: str) -> None:
    with pytest.raises(OperationError) as refused:
        named(nodes, names, what="mine")
    assert said in str(refused.value)
