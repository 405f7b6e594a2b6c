"""What constructs refuse is said of the file's lines, in the file's words."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from constructs import Construct

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from cdk_trainyard.problems import Problem
from tests.deployment.good_file import edited


def test_every_problem_is_said_in_the_order_of_the_lines(write: Callable[[str], Path]) -> None:
    path = write(edited())
    found = [Problem(("groups", "workers", "count"), "is odd"), Problem(("groups", "head", "role"), "is too")]
    assert explain(ConfigurationError("TrainingStack/Cluster", found), Deployment.load(path)).splitlines() == [
        f"{path}: 2 problems",
        f"  - {path}:12:13: 'cluster.groups.head.role' is too",
        f"  - {path}:18:14: 'cluster.groups.workers.count' is odd",
    ]


def test_what_the_file_does_not_name_keeps_its_construct(write: Callable[[str], Path]) -> None:
    path = write(edited())
    found = [Problem(("moon",), "is in the wrong house"), "the sun shines"]
    assert explain(ConfigurationError("StorageStack/Lustre", found), Deployment.load(path)).splitlines()[1:] == [
        f"  - {path}:6:3: 'moon' is in the wrong house (StorageStack/Lustre)",
        f"  - {path}:6:3: the sun shines (StorageStack/Lustre)",
    ]


def test_a_construct_has_the_line_of_the_key_that_asks_for_it(write: Callable[[str], Path]) -> None:
    path = write(edited(("zone: use1-az4", "zone: use1-az4\n  flow_logs_retention_days: 30")))
    error = ConfigurationError("NetworkStack/Network/FlowLogs/Group", ["is full"])
    assert explain(error, Deployment.load(path)).splitlines()[1:] == [
        f"  - {path}:5:29: is full (NetworkStack/Network/FlowLogs/Group)"
    ]
    elsewhere = explain(ConfigurationError("MyStack/Network", ["is full"]), Deployment.load(path))
    assert elsewhere.splitlines()[1:] == [f"  - {path}:1:1: is full (MyStack/Network)"]


def test_what_cdk_raises_is_said_without_its_traces(write: Callable[[str], Path]) -> None:
    """At the value that it shows, where it shows one; else at the section of the construct that was being made."""
    path = write(edited(("storage:", "storage:\n  buckets: {datasets: {bucket_name: my-datasets}}")))
    deployment, scope = Deployment.load(path), Construct(Stack(App(), "StorageStack"), "Buckets")
    for text, place in (("Invalid S3 bucket name (value: my-datasets)\nBucket", "6:37"), ("It\ncannot", "6:3")):
        with pytest.raises(RuntimeError) as caught:
            raised_below(scope, text)
        said = " ".join(text.split())
        assert explain(caught.value, deployment).splitlines() == [
            f"{path}: 1 problem",
            f"  - {path}:{place}: CDK refuses StorageStack/Buckets: {said}",
        ]


class Half(Construct):
    """A construct of somebody's whose constructor does not get as far as a place in the tree."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        raise RuntimeError(f"{construct_id} of {scope.node.path} is broken")


def test_what_is_raised_before_a_construct_has_a_place_is_said_too(write: Callable[[str], Path]) -> None:
    path = write(edited())
    with pytest.raises(RuntimeError) as caught:
        Half(Stack(App(), "StorageStack"), "Half")
    said = "CDK refuses the app: Half of StorageStack is broken"
    assert explain(caught.value, Deployment.load(path)).splitlines()[1:] == [f"  - {path}:1:1: {said}"]


def raised_below(scope: Construct, text: str) -> None:
    raise RuntimeError(f"{scope and text}")


def test_errors_of_loading_are_left_as_they_are(write: Callable[[str], Path]) -> None:
    path = write("name: 5\n")
    with pytest.raises(ConfigurationError) as caught:
        Deployment.load(path)
    assert explain(caught.value) == str(caught.value)
