"""What the tests of hyperpod share."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Stack

from cdk_trainyard.hyperpod import HyperPodCluster
from tests.hyperpod.parts import controller, new_stack, worker


@pytest.fixture
def stack() -> Stack:
    """Return an empty stack."""
    return new_stack()


@pytest.fixture
def build(stack: Stack) -> Callable[..., HyperPodCluster]:
    """Return a function that makes a legal cluster with changes in the stack."""

    def _build(**changes: Any) -> HyperPodCluster:
        return HyperPodCluster(stack, "Cluster", **{"groups": [controller(), worker()], **changes})

    return _build
