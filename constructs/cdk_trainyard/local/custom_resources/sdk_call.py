"""CDK's ``AwsCustomResource``, done in Python: one SDK call per creation, update or deletion."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError

from cdk_trainyard.local.clients import call
from cdk_trainyard.local.custom_resources.request import Answer, Request

_PHYSICAL_ID_MARK = "PHYSICAL:RESOURCEID:"
_OTHER_NAMES = {
    "applicationautoscaling": "application-autoscaling",
    "cloudwatchevents": "events",
    "cloudwatchlogs": "logs",
    "cognitoidentityprovider": "cognito-idp",
    "elasticloadbalancingv2": "elbv2",
    "eventbridge": "events",
    "resourcegroupstaggingapi": "resourcegroupstaggingapi",
    "sfn": "stepfunctions",
}
"""The SDK for JavaScript's names of services, without punctuation, where boto3 has other ones."""


def sdk_call(request: Request) -> Answer:
    """Make the call that the properties describe, as CDK's handler does, and answer its flattened result."""
    calls = {kind: _parsed(request.properties.get(kind)) for kind in ("Create", "Update", "Delete")}
    physical_id = _physical_id(request, calls)
    wanted = calls[request.kind]
    if not wanted:
        return Answer(physical_id=physical_id)
    region = wanted.get("region") or request.where.region
    parameters = _with_id(wanted.get("parameters") or {}, physical_id)
    result: dict[str, Any] = {"region": region}
    try:
        service, operation = _service(wanted["service"]), _operation(wanted["action"])
        result |= flatten(call(service, region, operation, parameters, credentials=request.credentials))
    except ClientError as error:
        ignored = wanted.get("ignoreErrorCodesMatching")
        if not ignored or not re.search(ignored, error.response["Error"]["Code"]):
            raise
    path = (wanted.get("physicalResourceId") or {}).get("responsePath")
    return Answer(physical_id=str(result[path]) if path else physical_id, data=_filtered(wanted, result))


def _parsed(text: str | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


def _physical_id(request: Request, calls: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the id before the call: given for this call or, on creation, for any of them."""
    kinds = ("Create", "Update", "Delete") if request.kind == "Create" else (request.kind,)
    given = [str((calls[kind].get("physicalResourceId") or {}).get("id") or "") for kind in kinds]
    return next(filter(None, given), request.physical_id or request.where.logical_id)


def _with_id(value: Any, physical_id: str) -> Any:
    if value == _PHYSICAL_ID_MARK:
        return physical_id
    if isinstance(value, Mapping):
        return {key: _with_id(inner, physical_id) for key, inner in value.items()}
    return [_with_id(item, physical_id) for item in value] if isinstance(value, list) else value


def _service(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]", "", name.removeprefix("@aws-sdk/client-").lower())
    return _OTHER_NAMES.get(plain, plain)


def _operation(action: str) -> str:
    return str(xform_name(action.removesuffix("Command")))


def _filtered(wanted: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    paths = [wanted["outputPath"]] if wanted.get("outputPath") else wanted.get("outputPaths")
    if not paths:
        return dict(result)
    return {key: value for key, value in result.items() if key.startswith(tuple(paths))}


def flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Return ``{"A": [{"B": 1}]}`` as ``{"A.0.B": 1}``."""
    if isinstance(value, Mapping):
        inner: Any = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        return {path: _leaf(value)}
    return {
        name: leaf for key, item in inner for name, leaf in flatten(item, f"{path}.{key}" if path else str(key)).items()
    }


def _leaf(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "read"):
        return value.read().decode()
    return value if isinstance(value, str | int | float | bool) else str(value)
