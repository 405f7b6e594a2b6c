"""The rules as a whole: they judge without CDK, and are silent about what has a wrong form."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from cdk_trainyard.parallelcluster.resolve import resolve_cluster
from cdk_trainyard.parallelcluster.rules import cluster_problems
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction
from cdk_trainyard.problems import sentence
from cdk_trainyard.tokens import Unknown
from tools.contract.table import rows
from tools.contract.table.clusters import Candidate, cluster, cpu, head, queue

GOOD = {row.name: row.cluster for row in rows() if row.name in {"raw keys", "priorities and memory"}}


def with_unknowns(value: Any) -> Iterator[Any]:
    """Yield a value as often as it has options, items and parts, each time with another one unknown."""
    yield Unknown()
    if isinstance(value, tuple | list):
        for index, item in enumerate(value):
            for changed in with_unknowns(item):
                yield (*value[:index], changed, *value[index + 1 :])
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for changed in with_unknowns(getattr(value, field.name)):
                yield replace(value, **{field.name: changed})


@pytest.mark.parametrize("candidate", GOOD.values(), ids=GOOD)
def test_what_has_a_wrong_form_is_answered_by_no_rule(candidate: Candidate) -> None:
    for said in list(with_unknowns(candidate.said))[1:]:
        spec = resolve_cluster(said, candidate.context)
        found = [sentence(problem) for problem in cluster_problems(spec, candidate.context)]
        assert [text for text in found if "Unknown" in text] == []


def test_a_presigned_script_is_for_what_runs_once() -> None:
    presigned = [CustomAction(script="https://b.s3.us-east-1.amazonaws.com/x.sh?X-Amz-Expires=60&X-Amz-Signature=0")]
    assert cluster(head=head(on_configured=presigned)).problems == []
    (text,) = cluster(queue(on_configured=presigned)).problems
    assert text.startswith("'queues[0].on_configured[0].script' must not be presigned")


def test_tags_of_instances_tell_case_apart() -> None:
    tags = {"Team": "a", "team": "b"}
    assert cluster(queue(cpu(tags=tags), tags=tags)).problems == []
    assert ["IAM" in text for text in cluster(tags=tags).problems] == [True]
