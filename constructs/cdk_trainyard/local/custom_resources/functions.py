"""Custom resources behind a Lambda function: asked directly, or through CDK's provider framework."""

import json
import time
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cdk_trainyard.local.access.sessions import issue
from cdk_trainyard.local.clients import client
from cdk_trainyard.local.custom_resources import answers
from cdk_trainyard.local.custom_resources.request import REFUSED, Answer, Function, Request
from cdk_trainyard.local.errors import ApiError, ResourceFailed
from cdk_trainyard.local.parallelcluster.provider import is_provider

_ON_EVENT, _IS_COMPLETE = "USER_ON_EVENT_FUNCTION_ARN", "USER_IS_COMPLETE_FUNCTION_ARN"
_ANSWER_PATIENCE_S = 5.0
_COMPLETION_PATIENCE_S = 120.0
_COMPLETION_INTERVAL_S = 0.2


def function_of(region: str, function: str) -> Function | None:
    """Return a function by its ARN; none when it does not exist, or is AWS's own.

    ParallelCluster's provider is in the template that AWS publishes, and what its role may do is not known here.
    """
    if is_provider(function):
        return None
    try:
        found = client("lambda", region).get_function_configuration(FunctionName=function)
        session = issue(found["Role"], found["FunctionName"], "function", region)
    except (ApiError, BotoCoreError, ClientError):
        return None
    return Function(runtime=found.get("Runtime", ""), credentials=session.credentials)


def ask(request: Request) -> Answer:
    """Send ``request`` to the function behind the resource's ``ServiceToken``.

    Raises:
        ResourceFailed: The function failed, said FAILED, or did not answer.
    """
    token, url = answers.new_url()
    event = {
        "RequestType": request.kind,
        "ServiceToken": request.properties["ServiceToken"],
        "ResponseURL": url,
        "StackId": request.where.stack_id,
        "RequestId": token,
        "LogicalResourceId": request.where.logical_id,
        "ResourceType": request.where.type_name,
        "ResourceProperties": dict(request.properties),
        **({"PhysicalResourceId": request.physical_id} if request.physical_id else {}),
        **({"OldResourceProperties": dict(request.previous)} if request.kind == "Update" else {}),
    }
    function = str(request.properties["ServiceToken"])
    variables = _variables(request, function)
    if _ON_EVENT in variables:
        return _provider(request, variables, event)
    _invoke(client("lambda", request.where.region), function, event)  # as CloudFormation
    answer = answers.take(token, _ANSWER_PATIENCE_S)
    if answer is None:
        raise ResourceFailed(f"{REFUSED}the function ended and never answered CloudFormation")
    if answer.get("Status") != "SUCCESS":
        raise ResourceFailed(f"{REFUSED}{answer.get('Reason')}", answer.get("PhysicalResourceId") or token)
    return Answer(physical_id=answer.get("PhysicalResourceId") or "", data=answer.get("Data") or {})


def _variables(request: Request, function: str) -> Mapping[str, str]:
    if ":lambda:" not in function:
        raise ResourceFailed(f"local AWS: a ServiceToken must be a Lambda function, got {function}")
    try:
        found = client("lambda", request.where.region).get_function_configuration(FunctionName=function)
    except ClientError as error:
        raise ResourceFailed(f"the function {function} of the custom resource does not exist") from error
    variables: Mapping[str, str] = found.get("Environment", {}).get("Variables", {})
    return variables


def _invoke(invoker: Any, function: str, event: Mapping[str, Any]) -> Any:
    answer = invoker.invoke(FunctionName=function, Payload=json.dumps(event).encode())
    payload = json.loads(answer["Payload"].read() or b"null")
    if "FunctionError" in answer:
        raise ResourceFailed(f"{REFUSED}{payload.get('errorMessage', payload)}")
    return payload


def _provider(request: Request, variables: Mapping[str, str], event: Mapping[str, Any]) -> Answer:
    """Do what CDK's provider framework does between CloudFormation and the user's functions."""
    answered = _invoke(request.client("lambda"), variables[_ON_EVENT], event) or {}
    physical_id = answered.get("PhysicalResourceId") or event.get("PhysicalResourceId") or event["RequestId"]
    if request.kind == "Delete" and physical_id != request.physical_id:
        raise ResourceFailed(
            f'{REFUSED}DELETE: cannot change the physical resource ID from "{request.physical_id}" '
            f'to "{physical_id}" during deletion'
        )
    data = dict(answered.get("Data") or {})
    if _IS_COMPLETE in variables:
        waiting = {**event, **answered, "PhysicalResourceId": physical_id}
        data |= _completion(request, variables[_IS_COMPLETE], waiting)
    return Answer(physical_id=physical_id, data=data)


def _completion(request: Request, function: str, event: Mapping[str, Any]) -> Mapping[str, Any]:
    deadline = time.monotonic() + _COMPLETION_PATIENCE_S
    while time.monotonic() < deadline:
        answered = _invoke(request.client("lambda"), function, event) or {}
        if answered.get("IsComplete"):
            data: Mapping[str, Any] = answered.get("Data") or {}
            return data
        if answered.get("Data"):
            raise ResourceFailed(f'{REFUSED}"Data" is not allowed if "IsComplete" is "False"')
        time.sleep(_COMPLETION_INTERVAL_S)
    raise ResourceFailed(f"{REFUSED}Operation timed out")
