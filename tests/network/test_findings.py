"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

from functools import partial
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_kms as kms

from cdk_trainyard.network import HYPERPOD_ENDPOINTS, EfaSecurityGroup, Endpoint, Nat, PlacementGroup
from tests.network.parts import new_network, new_stack
from tests.review.tools import Review

NETWORKS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "everything": {
        "zone": "use1-az4",
        "public_zones": ["use1-az5"],
        "service_zones": ["use1-az4", "use1-az5"],
        "nat": Nat.PER_ZONE,
        "interface_endpoints": list(Endpoint),
        "secondary_cidr": "100.64.0.0/16",
    },
    "closed": {"nat": Nat.NONE, "interface_endpoints": HYPERPOD_ENDPOINTS},
}


def define(changes: dict[str, Any], stack: Stack) -> None:
    key = kms.Key(stack, "Key", enable_key_rotation=True) if changes else None
    network = new_network(stack, flow_logs_key=key, **changes)
    EfaSecurityGroup(stack, "Efa", vpc=network.vpc, outbound=not changes)
    PlacementGroup(stack, "Group")


BUILDS = {name: partial(define, changes) for name, changes in NETWORKS.items()}


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Review[Stack]:
    return Review(BUILDS, lambda app: new_stack(app=app), tmp_path_factory.mktemp("review"))


@pytest.mark.review
@pytest.mark.parametrize("name", BUILDS)
def test_no_finding_is_unexplained_and_no_explanation_idle(review: Review[Stack], name: str) -> None:
    assert review.open_findings(name) == []


@pytest.mark.review
def test_cfn_lint_has_no_open_finding(review: Review[Stack]) -> None:
    assert review.lint() == []
