"""What constructs refuse is said of the file's lines, in the file's words."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from stacks import build_stacks
from tests.deployment.bad_input_at_synth import ROWS, Row
from tests.deployment.good_file import edited, python_names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_fails_at_synth_with_file_and_line(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row.write(tmp_path)
    deployment = Deployment.load("x.yaml")
    with pytest.raises(ConfigurationError) as caught:
        build_stacks(App(), deployment)
    lines = [line for line in explain(caught.value, deployment).splitlines() if f" x.yaml:{row.place}: " in line]
    assert lines, explain(caught.value, deployment)
    rest = lines[0]
    for part in row.says:
        assert part in rest
        rest = rest.partition(part)[2]
    assert python_names(lines[0]) == []


def test_every_problem_is_said_in_the_order_of_the_lines(write: Callable[[str], Path]) -> None:
    path = write(edited())
    deployment = Deployment.load(path)
    error = ConfigurationError(
        "TrainingStack/Cluster", ["'count' of group 'workers' is odd", "'role' of group 'head' too"]
    )
    assert explain(error, deployment).splitlines() == [
        f"{path}: 2 problems",
        f"  - {path}:12:13: 'role' of group 'head' too",
        f"  - {path}:18:14: 'count' of group 'workers' is odd",
    ]


def test_what_the_file_does_not_name_keeps_its_construct(write: Callable[[str], Path]) -> None:
    path = write(edited())
    error = ConfigurationError("StorageStack/Lustre", ["the moon is in the wrong house"])
    assert explain(error, Deployment.load(path)).splitlines()[1:] == [
        f"  - {path}:5:1: the moon is in the wrong house (StorageStack/Lustre)"
    ]


def test_the_value_got_decides_between_equal_keys(write: Callable[[str], Path]) -> None:
    path = write(edited())
    deployment = Deployment.load(path)
    error = ConfigurationError(
        "TrainingStack/Cluster", ["'instance_type' must be another, got 'ml.trn1.32xlarge'; try"]
    )
    assert f"{path}:17:22: " in explain(error, deployment)


def test_errors_of_loading_are_left_as_they_are(write: Callable[[str], Path]) -> None:
    path = write("name: 5\n")
    with pytest.raises(ConfigurationError) as caught:
        Deployment.load(path)
    assert explain(caught.value) == str(caught.value)
