"""Remote write and queries of Amazon Managed Service for Prometheus: APIs of Prometheus, and of no SDK.

Paths, answers and actions are those of its user guide, "RemoteWrite" and "QueryMetrics" under "Prometheus-compatible
APIs", and of the Service Authorization Reference (2026-11-23). The gate has verified the signature. Samples are not
kept, so that queries find none.
"""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from moto.amp.exceptions import WorkspaceNotFound
from moto.amp.models import amp_backends

from cdk_trainyard.local.access.body import body_of
from cdk_trainyard.local.access.call import of_prometheus
from cdk_trainyard.local.access.signature import signature_of
from cdk_trainyard.local.services.accounts import current

_NOTHING = {"status": "success", "data": {"resultType": "matrix", "result": []}}
_HEADERS = {"HTTP_CONTENT_ENCODING": "snappy", "CONTENT_TYPE": "application/x-protobuf"}


def respond(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """Take samples, compressed as Prometheus does it, or find none, in a workspace that there is."""
    operation, workspace = of_prometheus(environ) or ("", "")
    status, problem = _judged(environ, operation, workspace)
    body = {"message": problem} if problem else _NOTHING if operation == "QueryMetrics" else None
    start_response(f"{status.value} {status.phrase}", [("Content-Type", "application/json")])
    return [json.dumps(body).encode()] if body else []


def _judged(environ: dict[str, Any], operation: str, workspace: str) -> tuple[HTTPStatus, str]:
    signature = signature_of(environ)
    region = signature.region if signature else ""
    try:
        amp_backends[current()][region].describe_workspace(workspace)
    except WorkspaceNotFound:
        return HTTPStatus.NOT_FOUND, f"Workspace not found: {workspace}"
    if operation == "QueryMetrics":
        return HTTPStatus.OK, ""
    if (wrong := _wrong_header(environ)) or not body_of(environ):
        return HTTPStatus.BAD_REQUEST, f"remote write takes snappy-compressed protobuf, got {wrong or 'nothing'}"
    return HTTPStatus.OK, ""


def _wrong_header(environ: Mapping[str, Any]) -> str:
    return next((f"{name} {environ.get(name)}" for name, value in _HEADERS.items() if environ.get(name) != value), "")
