"""What Auto Scaling groups have done: their activities, and refreshes of their instances.

Which members an answer has is botocore's model; descriptions and causes are those of the Amazon EC2 Auto Scaling user
guide, "Verify a scaling activity for an Auto Scaling group", read 2026-11.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.autoscaling.models import FakeAutoScalingGroup, autoscaling_backends

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request
from cdk_trainyard.local.state import Store


@dataclass(kw_only=True, slots=True)
class Activity:
    """Something that a group has done."""

    group: str
    text: str
    cause: str
    failure: str = ""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: str = field(default_factory=lambda: str(uuid4()))


_ACTIVITIES: Store[list[Activity]] = Store(lambda _account, _region: [])
_REFRESHES: Store[list[dict[str, Any]]] = Store(lambda _account, _region: [])
_MOST = 100


def launched(group: FakeAutoScalingGroup, instance_id: str) -> None:
    """Note that a group has launched an instance."""
    cause = "an instance was started in response to a difference between desired and actual capacity"
    _note(group, Activity(group=group.name, text=f"Launching a new EC2 instance: {instance_id}", cause=cause))


def not_launched(group: FakeAutoScalingGroup, why: str) -> None:
    """Note that a group has not got an instance; the same again is noted once."""
    text = "Launching a new EC2 instance"
    message = f"{why} Launching EC2 instance failed."
    known = _ACTIVITIES.of(group.account_id, group.region)
    if not any(each.group == group.name and each.failure == message for each in known):
        _note(group, Activity(group=group.name, text=text, cause="desired capacity", failure=message))


def _note(group: FakeAutoScalingGroup, activity: Activity) -> None:
    _ACTIVITIES.of(group.account_id, group.region).append(activity)


def describe_scaling_activities(request: Request) -> dict[str, Any]:
    """Return activities, the newest first, in pages."""
    wanted = request.get("AutoScalingGroupName")
    found = [each for each in reversed(_ACTIVITIES.of(request.account, request.region)) if wanted in {None, each.group}]
    start, size = int(request.get("NextToken", 0)), request.get("MaxRecords", _MOST)
    more = {"NextToken": str(start + size)} if start + size < len(found) else {}
    return {"Activities": [_described(each) for each in found[start : start + size]], **more}


def _described(each: Activity) -> dict[str, Any]:
    return {
        "ActivityId": each.id,
        "AutoScalingGroupName": each.group,
        "Description": each.text,
        "Cause": each.cause,
        "StartTime": each.at,
        "EndTime": each.at,
        "StatusCode": "Failed" if each.failure else "Successful",
        "StatusMessage": each.failure or None,
        "Progress": 100,
    }


def start_instance_refresh(request: Request) -> dict[str, Any]:
    """Replace every instance of a group: done at once."""
    backend = autoscaling_backends[request.account][request.region]
    name = request["AutoScalingGroupName"]
    if name not in backend.autoscaling_groups:
        raise ApiError("ValidationError", f"AutoScalingGroup name not found - {name}")
    group = backend.autoscaling_groups[name]
    for state in list(group.instance_states):
        backend.terminate_instance(state.instance.id, should_decrement=False)
    made = {
        "InstanceRefreshId": str(uuid4()),
        "AutoScalingGroupName": name,
        "Status": "Successful",
        "StartTime": datetime.now(UTC),
        "EndTime": datetime.now(UTC),
        "PercentageComplete": 100,
        "InstancesToUpdate": 0,
    }
    _REFRESHES.of(request.account, request.region).append(made)
    return {"InstanceRefreshId": made["InstanceRefreshId"]}


def describe_instance_refreshes(request: Request) -> dict[str, Any]:
    """Return the refreshes of a group, the newest first."""
    name, found = request["AutoScalingGroupName"], reversed(_REFRESHES.of(request.account, request.region))
    return {"InstanceRefreshes": [each for each in found if each["AutoScalingGroupName"] == name]}
