"""Drift: what changed behind CloudFormation's back."""

from typing import Any

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.engine.drift import _differences
from tests.local.stacks import Stacks, template


def _drifts(stacks: Stacks, name: str) -> dict[str, dict[str, Any]]:
    detection = stacks.client.detect_stack_drift(StackName=name)["StackDriftDetectionId"]
    status = stacks.client.describe_stack_drift_detection_status(StackDriftDetectionId=detection)
    assert status["DetectionStatus"] == "DETECTION_COMPLETE"
    rows = stacks.client.describe_stack_resource_drifts(StackName=name)["StackResourceDrifts"]
    assert status["DriftedStackResourceCount"] == len(
        [row for row in rows if row["StackResourceDriftStatus"] in ("MODIFIED", "DELETED")]
    )
    return {row["LogicalResourceId"]: row for row in rows}


def test_drift(stacks: Stacks, aws: LocalAws) -> None:
    note = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "one"}}
    unread = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
    name = stacks.deployed(template({"Same": note, "Changed": note, "Gone": note, "Unread": unread}))
    assert {row["StackResourceDriftStatus"] for row in _drifts(stacks, name).values()} == {"IN_SYNC", "NOT_CHECKED"}
    ssm = aws.client("ssm")
    ssm.put_parameter(Name=stacks.physical_id(name, "Changed"), Value="two", Overwrite=True)
    ssm.delete_parameter(Name=stacks.physical_id(name, "Gone"))
    found = _drifts(stacks, name)
    assert {logical: row["StackResourceDriftStatus"] for logical, row in found.items()} == {
        "Same": "IN_SYNC",
        "Changed": "MODIFIED",
        "Gone": "DELETED",
        "Unread": "NOT_CHECKED",
    }
    assert found["Changed"]["PropertyDifferences"] == [
        {"PropertyPath": "/Value", "ExpectedValue": '"one"', "ActualValue": '"two"', "DifferenceType": "NOT_EQUAL"}
    ]


@pytest.mark.parametrize(
    ("expected", "live"),
    [
        (1, 1.0),
        ("3", 3),
        (True, "true"),
        ({"A": 1, "B": 2}, {"A": 1}),
        ([{"Name": "a", "Count": 1}], [{"Name": "a"}]),
    ],
)
def test_what_is_written_differently_is_the_same(expected: Any, live: Any) -> None:
    assert _differences({"P": expected}, {"P": live}) == []


@pytest.mark.parametrize(("expected", "live"), [(1, 2), ("a", "b"), ([1], [1, 2]), ({"A": 1}, {"A": 2})])
def test_what_differs(expected: Any, live: Any) -> None:
    assert len(_differences({"P": expected}, {"P": live})) == 1
