"""API Gateway: changes that moto lacks, and the role of the account without which no REST stage logs."""

import json
from typing import Any
from urllib.parse import unquote

from moto.apigateway.exceptions import BadRequestException
from moto.apigateway.models import APIGatewayBackend, RestAPI
from moto.apigateway.models import Stage as RestStage
from moto.apigatewayv2.models import Stage
from moto.apigatewayv2.responses import ApiGatewayV2Response

from cdk_trainyard.local.services.api import replace

_LOGGING = "/logging/loglevel"
_MEDIA_TYPES, _ENDPOINT = "/binaryMediaTypes/", "/disableExecuteApiEndpoint"
_change_stage, _patch_api = APIGatewayBackend.update_stage, RestAPI.apply_patch_operations


def _update_stage(self: ApiGatewayV2Response) -> tuple[int, dict[str, str], str]:
    """Change an HTTP stage: what is not said stays."""
    _, _, _, api_id, _, name = self.path.split("/")
    api = self.apigatewayv2_backend.get_api(api_id)
    old = api.get_stage(unquote(name))
    changed = Stage(api, {**old.config, **json.loads(self.body)})
    changed.created = old.created
    api.stages[old.name] = changed
    return 200, {}, json.dumps(changed.to_json())


def _changed(self: APIGatewayBackend, function_id: str, stage_name: str, patch_operations: Any) -> RestStage:
    """Change a REST stage; it logs calls only when the account has a role for that.

    Source: API Gateway Developer Guide, "Set up CloudWatch logging for REST APIs".
    """
    logs = any(each["path"].endswith(_LOGGING) and each["value"] != "OFF" for each in patch_operations)
    if logs and not self.get_account().cloudwatch_role_arn:
        raise BadRequestException("CloudWatch Logs role ARN must be set in account settings to enable logging")
    return _change_stage(self, function_id, stage_name, patch_operations)


def _patched(self: RestAPI, patch_operations: list[dict[str, Any]]) -> None:
    """Change a REST API: media types stand in paths, and false is not true, as moto has it."""
    _patch_api(self, [{**each, "value": _value(each)} for each in patch_operations])


def _value(operation: dict[str, Any]) -> Any:
    path, value = operation["path"], operation.get("value", "")
    if path.startswith(_MEDIA_TYPES):
        return path.removeprefix(_MEDIA_TYPES).replace("~1", "/")
    return "" if path == _ENDPOINT and value == "false" else value


def extend() -> None:
    """Give moto's API Gateway what it lacks."""
    replace(ApiGatewayV2Response, {"update_stage": _update_stage})
    replace(APIGatewayBackend, {"update_stage": _changed})
    replace(RestAPI, {"apply_patch_operations": _patched})
