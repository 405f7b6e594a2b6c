"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

import pytest
from aws_cdk import Stack

from tests.parallelcluster.parts import DEPLOYMENTS, closed, encrypted, new_stack
from tests.review.tools import Review

CLUSTERS = {**DEPLOYMENTS, "closed": closed, "encrypted": encrypted}


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Review[Stack]:
    return Review(CLUSTERS, new_stack, tmp_path_factory.mktemp("review"))


@pytest.mark.review
@pytest.mark.parametrize("name", CLUSTERS)
def test_no_finding_is_unexplained_and_no_explanation_idle(review: Review[Stack], name: str) -> None:
    assert review.open_findings(name) == []


@pytest.mark.review
def test_cfn_lint_has_no_open_finding(review: Review[Stack]) -> None:
    assert review.lint() == []


@pytest.mark.review
def test_checkov_has_no_open_finding_and_no_idle_skip(review: Review[Stack]) -> None:
    assert review.checkov() == []
