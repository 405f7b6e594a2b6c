"""What has happened to HyperPod clusters, and the operations that change how many machines they have.

Which members an answer has is botocore's model of SageMaker; what descriptions say, this project's.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request
from cdk_trainyard.local.services.constraints import check
from cdk_trainyard.local.services.sagemaker_state import INVALID, Cluster, Event, Scaling, find

_T = TypeVar("_T")
_MOST = 500
"""How many events are remembered: the newest (awslabs/awsome-distributed-ai, hyperpod-mental-model.md, 2026-07)."""


def _continuous(request: Request) -> Cluster:
    """Return a cluster whose events are told."""
    cluster = find(request, request["ClusterName"])
    if not cluster.is_continuous:
        raise ApiError(INVALID, "This operation is only supported when NodeProvisioningMode is set to Continuous.")
    return cluster


def list_cluster_events(request: Request) -> dict[str, Any]:
    """Return events, the newest first unless it is asked otherwise; what failed in them only their description says."""
    check("sagemaker", "ListClusterEvents", request.parameters)
    cluster = _continuous(request)
    found = [event for event in cluster.events[-_MOST:] if _wanted(request, event)]
    if request.get("SortOrder", "Descending") == "Descending":
        found.reverse()
    return _page(request, found, "Events", lambda event: _summary(cluster, event))


def _wanted(request: Request, event: Event) -> bool:
    asked: Mapping[str, str] = {
        "InstanceGroupName": event.group,
        "NodeId": event.instance_id,
        "ResourceType": event.resource_type,
        "OperationId": event.operation,
    }
    return all(request.get(name) in {None, value} for name, value in asked.items()) and _time(
        request, "EventTimeAfter", event.at
    ) <= event.at <= _time(request, "EventTimeBefore", event.at)


def _time(request: Request, name: str, otherwise: datetime) -> datetime:
    """Return a time that was asked for, which moto reads without the zone that it was written in: UTC."""
    asked: datetime | None = request.get(name)
    return otherwise if asked is None else asked if asked.tzinfo else asked.replace(tzinfo=UTC)


def _summary(cluster: Cluster, event: Event) -> dict[str, Any]:
    return {
        "EventId": event.id,
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "InstanceGroupName": event.group or None,
        "InstanceId": event.instance_id or None,
        "ResourceType": event.resource_type,
        "EventTime": event.at,
        "Description": event.text,
        "EventLevel": event.level,
        "OperationId": event.operation or None,
    }


def describe_cluster_event(request: Request) -> dict[str, Any]:
    """Return an event, with what failed."""
    check("sagemaker", "DescribeClusterEvent", request.parameters)
    cluster = _continuous(request)
    event = _one(cluster.events, request["EventId"], "Event")
    failed = {"FailureMessage": event.failure} if event.failure else {}
    details = {"EventDetails": {"EventMetadata": {event.resource_type: failed}}}
    return {"EventDetails": {**_summary(cluster, event), **details}}


def list_cluster_operations(request: Request) -> dict[str, Any]:
    """Return operations, the newest first."""
    check("sagemaker", "ListClusterOperations", request.parameters)
    cluster = find(request, request["ClusterName"])
    found = [
        each
        for each in reversed(cluster.operations)
        if request.get("Status") in {None, _status(each)} and request.get("Type") in {None, "Scaling"}
    ]
    return _page(request, found, "ClusterOperationSummaries", lambda each: _operation(cluster, each))


def describe_cluster_operation(request: Request) -> dict[str, Any]:
    """Return an operation, with what it changes of each group."""
    check("sagemaker", "DescribeClusterOperation", request.parameters)
    cluster = find(request, request["ClusterName"])
    found = _one(cluster.operations, request["OperationId"], "Operation")
    come = [node.group for node in cluster.nodes if node.instance_id]
    details = [
        {
            "InstanceGroupName": name,
            "Status": _status(found),
            "Original": {"CurrentCount": before, "TargetCount": before},
            "Desired": {"CurrentCount": come.count(name), "TargetCount": wanted},
        }
        for name, (before, wanted) in found.groups.items()
    ]
    return {**_operation(cluster, found), "ScalingDetails": details}


def _operation(cluster: Cluster, found: Scaling) -> dict[str, Any]:
    return {
        "OperationId": found.id,
        "ClusterArn": cluster.arn,
        "Type": "Scaling",
        "Status": _status(found),
        "CreationTime": found.at,
    }


def _status(found: Scaling) -> str:
    return "Done" if found.done else "InProgress"


def _one(rows: Sequence[_T], identifier: str, what: str) -> _T:
    for row in rows:
        if getattr(row, "id", None) == identifier:
            return row
    raise ApiError("ResourceNotFound", f"{what} {identifier} could not be found.")


def _page(
    request: Request, rows: Sequence[_T], member: str, described: Callable[[_T], Mapping[str, Any]]
) -> dict[str, Any]:
    start, size = int(request.get("NextToken", 0)), request.get("MaxResults", 100)
    more = {"NextToken": str(start + size)} if start + size < len(rows) else {}
    return {member: [described(row) for row in rows[start : start + size]], **more}
