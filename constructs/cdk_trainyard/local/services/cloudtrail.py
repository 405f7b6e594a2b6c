"""CloudTrail's event history: the calls of roles' sessions, with what was refused.

Newest first, as AWS's; data events too (objects, secrets), which AWS's history leaves out. The CDK CLI asks for it when
a deployment fails.
"""

import json
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from moto.cloudtrail.responses import CloudTrailResponse
from moto.core.utils import get_service_model

from cdk_trainyard.local.access.recording import RecordedCall, calls
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.policy import Principal

_ATTRIBUTES = ("AccessKeyId", "EventId", "EventName", "EventSource", "Username")


def lookup_events(request: Request) -> dict[str, Any]:
    """Return the calls that have every wanted attribute.

    Raises:
        ApiError: There is no such attribute.
    """
    wanted = [(row["AttributeKey"], row["AttributeValue"]) for row in request.get("LookupAttributes", [])]
    for name, _ in wanted:
        if name not in _ATTRIBUTES:
            raise ApiError("InvalidLookupAttributesException", f"local AWS: events have no attribute {name} here")
    events = [_event(one, number) for number, one in enumerate(calls()) if one.call.region == request.region]
    found = [event for event in events if all(event[name] == value for name, value in wanted)]
    return {"Events": found[::-1]}


def _event(one: RecordedCall, number: int) -> dict[str, Any]:
    caller, key = Principal.role_session(one.session.role_arn, one.session.name), one.session.credentials.access_key_id
    prefix = str(get_service_model(one.call.service).endpoint_prefix)
    said = {
        "eventVersion": "1.11",
        "eventTime": f"{one.time:%Y-%m-%dT%H:%M:%SZ}",
        "userIdentity": {"type": "AssumedRole", "arn": caller.arn, "accessKeyId": key},
        "eventSource": f"{prefix}.amazonaws.com",
        "eventName": one.call.operation,
        "awsRegion": one.call.region,
        "requestParameters": {
            name[:1].lower() + name[1:]: value
            for name, value in one.call.parameters.items()
            if isinstance(value, str | int)
        },
        **({"errorCode": one.error.code, "errorMessage": one.error.message} if one.error else {}),
    }
    return {
        "EventId": str(uuid5(NAMESPACE_OID, f"{key} {number}")),
        "EventName": one.call.operation,
        "EventTime": one.time.timestamp(),
        "EventSource": said["eventSource"],
        "AccessKeyId": key,
        "Username": one.session.name,
        "CloudTrailEvent": json.dumps(said),
    }


def extend() -> None:
    """Give moto's CloudTrail what it lacks."""
    install(CloudTrailResponse, {"lookup_events": lookup_events})
