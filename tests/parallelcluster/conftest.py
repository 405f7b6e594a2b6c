"""What the tests of parallelcluster share."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk.assertions import Template

from cdk_trainyard.parallelcluster import ParallelCluster
from tests.parallelcluster.parts import DEPLOYMENTS, existing_network, head, new_stack, queue


@pytest.fixture
def stack() -> Stack:
    """Return an empty stack."""
    return new_stack()


@pytest.fixture
def build(stack: Stack) -> Callable[..., ParallelCluster]:
    """Return a function that makes a legal cluster with changes in the stack."""

    def _build(**changes: Any) -> ParallelCluster:
        network = changes.pop("network", None) or existing_network(stack)
        return ParallelCluster(
            stack, "Cluster", **{"network": network, "head_node": head(), "queues": [queue()], **changes}
        )

    return _build


@pytest.fixture(scope="session")
def deployments() -> dict[str, tuple[ParallelCluster, Template]]:
    """Return the four deployments, synthesized once."""
    made = {}
    for name, define in DEPLOYMENTS.items():
        stack = new_stack()
        made[name] = (define(stack), Template.from_stack(stack))
    return made
