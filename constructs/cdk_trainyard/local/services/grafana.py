"""Amazon Managed Grafana, which moto lacks: workspaces are kept, and no Grafana runs.

A workspace whose users sign in by SAML alone waits for its configuration (DescribeWorkspaceAuthentication).
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from cdk_trainyard.local.access.body import body_of
from cdk_trainyard.local.access.call import call_of
from cdk_trainyard.local.access.signature import signature_of
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Operation, Request, plain
from cdk_trainyard.local.state import Store

NAME = "grafana"
Row = dict[str, Any]
_ROWS: Store[dict[str, Row]] = Store(lambda _account, _region: {})
_VERSION = "10.4"
_ANSWERED = (
    "authenticationProviders",
    "clientToken",
    "configuration",
    "removeNetworkAccessConfiguration",
    "workspaceId",
)
_STATUS = {"ResourceNotFoundException": "404 Not Found", "ValidationException": "400 Bad Request"}


def _rows(request: Request) -> dict[str, Row]:
    return _ROWS.of(request.account, request.region)


def _find(request: Request, identifier: str) -> Row:
    if identifier not in _rows(request):
        raise ApiError("ResourceNotFoundException", f"Workspace {identifier} not found.")
    return _rows(request)[identifier]


def _said(request: Request) -> Row:
    """Return what a request says of a workspace, as descriptions of one name it."""
    names = {name: name.removeprefix("workspace") for name in request.parameters if name not in _ANSWERED}
    short = {name: found[0].lower() + found[1:] for name, found in names.items() if name != "workspaceRoleArn"}
    return {short.get(name, name): request[name] for name in names}


def _shown(row: Row) -> Row:
    return {"workspace": {name: value for name, value in row.items() if name != "saml"}}


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _create(request: Request) -> Row:
    access = request.get("networkAccessControl")
    if access is not None and not {"prefixListIds", "vpceIds"} <= set(access):
        raise ApiError("ValidationException", "networkAccessControl must have prefixListIds and vpceIds")
    if request["permissionType"] == "CUSTOMER_MANAGED" and not request.get("workspaceRoleArn"):
        raise ApiError("ValidationException", "workspaceRoleArn is required for CUSTOMER_MANAGED workspaces")
    identifier = f"g-{mock_random.get_random_hex(10)}"
    providers = request["authenticationProviders"]
    status = {"samlConfigurationStatus": "NOT_CONFIGURED"} if "SAML" in providers else {}
    row = {
        "id": identifier,
        "created": _now(),
        "modified": _now(),
        "dataSources": [],
        "endpoint": f"{identifier}.grafana-workspace.{request.region}.amazonaws.com",
        "grafanaVersion": _VERSION,
        "status": "ACTIVE",
        "authentication": {"providers": providers, **status},
        "tags": {},
        "saml": {},
        **_said(request),
    }
    _rows(request)[identifier] = row
    return _shown(row)


def _describe(request: Request) -> Row:
    return _shown(_find(request, request["workspaceId"]))


def _list(request: Request) -> Row:
    return {"workspaces": [_shown(row)["workspace"] for row in _rows(request).values()]}


def _update(request: Request) -> Row:
    row = _find(request, request["workspaceId"])
    row.update({**_said(request), "modified": _now()})
    if request.get("removeNetworkAccessConfiguration"):
        row.pop("networkAccessControl", None)
    return _shown(row)


def _delete(request: Request) -> Row:
    row = _find(request, request["workspaceId"])
    del _rows(request)[row["id"]]
    return {"workspace": {**_shown(row)["workspace"], "status": "DELETING"}}


def _authentication(request: Request) -> Row:
    row = _find(request, request["workspaceId"])
    providers = row["authentication"]["providers"]
    status = row["authentication"].get("samlConfigurationStatus")
    saml = {"saml": {"status": status, "configuration": row["saml"]}} if status and row["saml"] else {}
    return {"authentication": {"providers": providers, **saml}}


def _authenticate(request: Request) -> Row:
    row, providers = _find(request, request["workspaceId"]), request["authenticationProviders"]
    row["saml"] = request.get("samlConfiguration", {})
    configured = "CONFIGURED" if row["saml"] else "NOT_CONFIGURED"
    status = {"samlConfigurationStatus": configured} if "SAML" in providers else {}
    row["authentication"] = {"providers": providers, **status}
    return _authentication(request)


def _of_arn(request: Request) -> Row:
    return _find(request, request["resourceArn"].rpartition("/")[2])


def _tag(request: Request) -> Row:
    _of_arn(request)["tags"].update(request["tags"])
    return {}


def _untag(request: Request) -> Row:
    row = _of_arn(request)
    row["tags"] = {key: value for key, value in row["tags"].items() if key not in request["tagKeys"]}
    return {}


def _tags(request: Request) -> Row:
    return {"tags": _of_arn(request)["tags"]}


_OPERATIONS: Mapping[str, Operation] = {
    "CreateWorkspace": _create,
    "DeleteWorkspace": _delete,
    "DescribeWorkspace": _describe,
    "DescribeWorkspaceAuthentication": _authentication,
    "ListTagsForResource": _tags,
    "ListWorkspaces": _list,
    "TagResource": _tag,
    "UntagResource": _untag,
    "UpdateWorkspace": _update,
    "UpdateWorkspaceAuthentication": _authenticate,
}


def respond(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """Answer a request of the API.

    Raises:
        KeyError: The operation is not emulated.
    """
    signature = signature_of(environ)
    call = call_of(environ, body_of(environ), NAME, signature.region if signature else "")
    request = Request(
        account=call.account, region=call.region, partition=call.partition, parameters=plain(call.parameters)
    )
    status, headers = "200 OK", [("Content-Type", "application/json")]
    try:
        body = _OPERATIONS[call.operation](request)
    except ApiError as error:
        status, body = _STATUS[str(error.code)], {"message": error.message}
        headers.append(("x-amzn-ErrorType", str(error.code)))
    start_response(status, headers)
    return [json.dumps(body).encode()]
