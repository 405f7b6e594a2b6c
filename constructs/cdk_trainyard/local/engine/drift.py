"""Drift: what the template says, against what the services say."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.engine.records import as_resource
from cdk_trainyard.local.engine.state import Deployed, Region, Stack
from cdk_trainyard.local.registry import type_of
from cdk_trainyard.local.resources.steps import is_missing


def drifts(region: Region, stack: Stack) -> list[dict[str, Any]]:
    """Return a row for every resource of ``stack``, as ``DescribeStackResourceDrifts`` does."""
    return [_drift(region, stack, deployed) for deployed in stack.resources.values()]


def _drift(region: Region, stack: Stack, deployed: Deployed) -> dict[str, Any]:
    row: dict[str, Any] = {
        "StackId": stack.stack_id,
        "LogicalResourceId": deployed.logical_id,
        "PhysicalResourceId": deployed.physical_id,
        "ResourceType": deployed.type_name,
        "StackResourceDriftStatus": "NOT_CHECKED",
        "Timestamp": datetime.now(UTC),
    }
    read = type_of(deployed.type_name).read
    if read is None:
        return row
    try:
        live = read(as_resource(region, stack, deployed))
    except ClientError as error:
        if not is_missing(error):
            raise
        live = None
    expected = dict(deployed.properties)
    differences = [] if live is None else _differences(expected, live)
    status = "DELETED" if live is None else "MODIFIED" if differences else "IN_SYNC"
    return {
        **row,
        "StackResourceDriftStatus": status,
        "PropertyDifferences": differences,
        "ExpectedProperties": json.dumps(expected, default=str),
        "ActualProperties": json.dumps({**expected, **(live or {})}, default=str),
    }


def _differences(expected: Mapping[str, Any], live: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for name, value in live.items():
        if name in expected:
            wanted = _like(expected[name], value)
            if not _same(wanted, value):
                rows.append(
                    {
                        "PropertyPath": f"/{name}",
                        "ExpectedValue": json.dumps(wanted, default=str),
                        "ActualValue": json.dumps(value, default=str),
                        "DifferenceType": "NOT_EQUAL",
                    }
                )
    return rows


def _like(expected: Any, live: Any) -> Any:
    """Return of the expected value what the live one tells about."""
    if isinstance(live, Mapping) and isinstance(expected, Mapping):
        return {key: _like(expected.get(key), value) for key, value in live.items()}
    if isinstance(live, list) and isinstance(expected, list) and len(live) == len(expected):
        return [_like(left, right) for left, right in zip(expected, live, strict=True)]
    return expected


def _same(left: Any, right: Any) -> bool:
    """Compare as CloudFormation does: ``"3"`` is 3, ``1`` is 1.0, ``"true"`` is true."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return _plain(left) == _plain(right)


def _plain(value: Any) -> str | float:
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value).lower()
