"""Amazon Managed Service for Prometheus: the alert manager and the configuration of workspaces, which moto lacks.

What the service refuses of a definition is in its user guide, "Create an alert manager configuration" and "Configure
alert manager to send messages to your Amazon SNS topic" (2026-11-23).
"""

from collections.abc import Mapping
from typing import Any

import yaml
from moto.amp import urls
from moto.amp.models import Workspace, amp_backends
from moto.amp.responses import PrometheusServiceResponse

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install, remember

_PATHS = ("alertmanager/definition", "configuration")
_REFUSED = ("api_url", "http_config")
_ACTIVE = {"statusCode": "ACTIVE"}


def create_alert_manager_definition(request: Request) -> dict[str, Any]:
    """Give a workspace an alert manager, or another definition of it."""
    workspace, text = _workspace(request), _text(request["data"])
    if problem := _problem(text):
        raise ApiError("ValidationException", problem)
    remember(workspace, {"alert_manager": text})
    return {"status": _ACTIVE}


def put_alert_manager_definition(request: Request) -> dict[str, Any]:
    """Change the definition."""
    return create_alert_manager_definition(request)


def describe_alert_manager_definition(request: Request) -> dict[str, Any]:
    """Show the definition."""
    workspace = _workspace(request)
    text = getattr(workspace, "alert_manager", None)
    if text is None:
        raise ApiError("ResourceNotFoundException", "Alert manager definition not found")
    times = {"createdAt": workspace.created_at, "modifiedAt": workspace.created_at}
    return {"alertManagerDefinition": {"status": _ACTIVE, "data": text.encode(), **times}}


def delete_alert_manager_definition(request: Request) -> dict[str, Any]:
    """Take the alert manager away."""
    remember(_workspace(request), {"alert_manager": None})
    return {}


def update_workspace_configuration(request: Request) -> dict[str, Any]:
    """Change what is said of a workspace; the rest stays."""
    workspace = _workspace(request)
    said = {name: value for name, value in request.parameters.items() if name not in {"workspaceId", "clientToken"}}
    remember(workspace, {"configuration": {**getattr(workspace, "configuration", {}), **said}})
    return {"status": _ACTIVE}


def describe_workspace_configuration(request: Request) -> dict[str, Any]:
    """Show what was said; metrics are kept for 150 days where nothing was."""
    said = getattr(_workspace(request), "configuration", {})
    return {"workspaceConfiguration": {"status": _ACTIVE, "retentionPeriodInDays": 150, **said}}


def _workspace(request: Request) -> Workspace:
    return amp_backends[request.account][request.region].describe_workspace(request["workspaceId"])


def _text(data: bytes | str) -> str:
    return data.decode() if isinstance(data, bytes) else data


def _problem(text: str) -> str | None:
    """Return why the service takes no such definition."""
    try:
        definition = yaml.safe_load(text)
        configuration = yaml.safe_load(definition["alertmanager_config"])
        receivers = configuration["receivers"]
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        return f"error validating Alertmanager config: {error}"
    told = [topic for receiver in receivers for topic in receiver.get("sns_configs", [])]
    kinds = {name for receiver in receivers for name in receiver} - {"name", "sns_configs"}
    if kinds:
        return f"error validating Alertmanager config: receiver {min(kinds)} is not supported"
    return next((problem for topic in told if (problem := _problem_of_topic(topic))), None)


def _problem_of_topic(topic: Mapping[str, Any]) -> str | None:
    if refused := [name for name in _REFUSED if name in topic]:
        return f"error validating Alertmanager config: {refused[0]} is not allowed"
    if not topic.get("sigv4", {}).get("region"):
        return "error validating Alertmanager config: missing region in sigv4"
    return None


def extend() -> None:
    """Give moto's workspaces what they lack."""
    for path in _PATHS:
        urls.url_paths[f"{{0}}/workspaces/(?P<workspace_id>[^/]+)/{path}$"] = PrometheusServiceResponse.dispatch
    operations = (
        create_alert_manager_definition,
        put_alert_manager_definition,
        describe_alert_manager_definition,
        delete_alert_manager_definition,
        update_workspace_configuration,
        describe_workspace_configuration,
    )
    install(PrometheusServiceResponse, {operation.__name__: operation for operation in operations})
