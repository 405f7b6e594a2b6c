"""API Gateway, REST APIs: APIs, resources, methods, deployments, stages, the account. Nothing answers for them."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, identity, nothing, tagger

GATEWAY = Api("apigateway")
_API_NOT_KEPT = ("BinaryMediaTypes", "CloneFrom", "Version")
_API_PATHS = {
    "Name": "/name",
    "Description": "/description",
    "ApiKeySourceType": "/apiKeySource",
    "Policy": "/policy",
    "DisableExecuteApiEndpoint": "/disableExecuteApiEndpoint",
}
_STAGE_PATHS = {
    "DeploymentId": "/deploymentId",
    "Description": "/description",
    "TracingEnabled": "/tracingEnabled",
    "CacheClusterEnabled": "/cacheClusterEnabled",
    "CacheClusterSize": "/cacheClusterSize",
}
_SETTINGS = {
    "CacheDataEncrypted": "caching/dataEncrypted",
    "CacheTtlInSeconds": "caching/ttlInSeconds",
    "CachingEnabled": "caching/enabled",
    "DataTraceEnabled": "logging/dataTrace",
    "LoggingLevel": "logging/loglevel",
    "MetricsEnabled": "metrics/enabled",
    "ThrottlingBurstLimit": "throttling/burstLimit",
    "ThrottlingRateLimit": "throttling/rateLimit",
}
"""Where the settings of methods are in a patch (API Gateway API Reference, UpdateStage, patch operations)."""
Patches = Iterator[dict[str, Any]]


def _replaced(it: Resource, paths: Mapping[str, str]) -> Patches:
    """Yield what puts changed properties in their places."""
    for name, path in paths.items():
        if it.changed(name) and name in it.properties:
            yield {"Op": "replace", "Path": path, "Value": it[name]}


# ---------------------------------------------------------------- APIs
def _api(it: Resource) -> dict[str, Any]:
    return {"ApiKeySource": it["ApiKeySourceType"]} if "ApiKeySourceType" in it else {}


def _media_types(it: Resource) -> Patches:
    new, old = set(it.get("BinaryMediaTypes") or []), set(it.previous.get("BinaryMediaTypes") or [])
    for operation, types in (("remove", old - new), ("add", new - old)):
        yield from ({"Op": operation, "Path": f"/binaryMediaTypes/{_escaped(name)}"} for name in sorted(types))


def _escaped(path: str) -> str:
    return path.replace("/", "~1")


def _patch_api(it: Resource, patches: list[dict[str, Any]]) -> None:
    if patches:
        it.call("apigateway", "update_rest_api", {"RestApiId": it.id, "PatchOperations": patches})


def _update_api(it: Resource) -> None:
    _patch_api(it, [*_replaced(it, _API_PATHS), *_media_types(it)])


# ---------------------------------------------------------------- methods
def _method_of(it: Resource) -> dict[str, Any]:
    return it.pick("RestApiId", "ResourceId", "HttpMethod")


def _method(it: Resource) -> dict[str, Any]:
    """Put a method, its responses, and its integration with its responses."""
    where, integration = _method_of(it), dict(it.get("Integration") or {})
    GATEWAY.put("put_method", lambda it: {"AuthorizationType": it.get("AuthorizationType", "NONE")})(it)
    for response in it.get("MethodResponses") or []:
        it.call("apigateway", "put_method_response", {**where, **response})
    responses = integration.pop("IntegrationResponses", None) or []
    if integration:
        it.call("apigateway", "put_integration", {**where, **integration})
    for response in responses:
        it.call("apigateway", "put_integration_response", {**where, "ResponseTemplates": {}, **response})
    return {"Id": _made_up(it)}


def _made_up(it: Resource) -> str:
    """Return an id of the form that CloudFormation makes up: ``mysta-metho-01234b567890``."""
    return f"{it.where.stack_name[:5]}-{it.where.logical_id[:5]}-{uuid4().hex[:12]}".lower()


# ---------------------------------------------------------------- stages
def _stage_of(it: Resource) -> dict[str, Any]:
    return it.pick("RestApiId", "StageName")


def _settings(it: Resource) -> Patches:
    """Yield what puts the settings of methods in their places; in a path of a template ``~1`` is a slash already."""
    for row in it.get("MethodSettings") or []:
        path, method = row.get("ResourcePath", "/*"), row.get("HttpMethod", "*")
        where = f"{'/~1' if path == '/' else path}/{method}"
        yield from (
            {"Op": "replace", "Path": f"{where}/{setting}", "Value": row[name]}
            for name, setting in _SETTINGS.items()
            if name in row
        )


def _log(it: Resource) -> Patches:
    said = it.get("AccessLogSetting") or {}
    if it.previous.get("AccessLogSetting") and not said:
        yield {"Op": "remove", "Path": "/accessLogSettings"}
    for name, path in (("DestinationArn", "destinationArn"), ("Format", "format")):
        if name in said:
            yield {"Op": "replace", "Path": f"/accessLogSettings/{path}", "Value": said[name]}


def _variables(it: Resource) -> Patches:
    new, old = it.get("Variables") or {}, it.previous.get("Variables") or {}
    yield from ({"Op": "remove", "Path": f"/variables/{name}"} for name in sorted(old.keys() - new.keys()))
    yield from ({"Op": "replace", "Path": f"/variables/{name}", "Value": value} for name, value in new.items())


def _patch_stage(it: Resource, patches: list[dict[str, Any]]) -> None:
    if patches:
        it.call("apigateway", "update_stage", {**_stage_of(it), "PatchOperations": patches})


def _settle_stage(it: Resource) -> None:
    _patch_stage(it, [*_log(it), *_settings(it)])


def _update_stage(it: Resource) -> None:
    _patch_stage(it, [*_replaced(it, _STAGE_PATHS), *_variables(it), *_log(it), *_settings(it)])


def _stage_arn(it: Resource) -> str:
    return it.where.arn("apigateway", f"/restapis/{it['RestApiId']}/stages/{it.id}", account="")


def _account(it: Resource) -> dict[str, Any]:
    patch = {"Op": "replace", "Path": "/cloudwatchRoleArn", "Value": it.get("CloudWatchRoleArn", "")}
    it.call("apigateway", "update_account", {"PatchOperations": [patch]})
    return {"Id": _made_up(it)}


TYPES = (
    ResourceType(
        name="AWS::ApiGateway::RestApi",
        create=GATEWAY.apply("create_rest_api", _api, but=_API_NOT_KEPT),
        identity=answer("id"),
        settle=lambda it: _patch_api(it, list(_media_types(it))),
        update=_update_api,
        delete=GATEWAY.forget("delete_rest_api", lambda it: {"RestApiId": it.id}),
        read=GATEWAY.read("get_rest_api", lambda it: {"RestApiId": it.id}, "{Name: name, Description: description}"),
        attributes={"RestApiId": identity, "RootResourceId": answer("rootResourceId")},
    ),
    ResourceType(
        name="AWS::ApiGateway::Resource",
        create=GATEWAY.apply("create_resource"),
        identity=answer("id"),
        delete=GATEWAY.forget("delete_resource", lambda it: {**it.pick("RestApiId"), "ResourceId": it.id}),
        read=GATEWAY.read(
            "get_resource", lambda it: {**it.pick("RestApiId"), "ResourceId": it.id}, "{PathPart: pathPart}"
        ),
        attributes={"ResourceId": identity},
    ),
    ResourceType(
        name="AWS::ApiGateway::Method",
        create=_method,
        identity=answer("Id"),
        update=lambda it: {**_method(it), **it.result},
        delete=GATEWAY.forget("delete_method", _method_of),
        read=GATEWAY.read("get_method", _method_of, "{AuthorizationType: authorizationType}"),
    ),
    ResourceType(
        name="AWS::ApiGateway::Deployment",
        create=GATEWAY.apply("create_deployment"),
        identity=answer("id"),
        delete=GATEWAY.forget("delete_deployment", lambda it: {**it.pick("RestApiId"), "DeploymentId": it.id}),
        read=GATEWAY.read(
            "get_deployment",
            lambda it: {**it.pick("RestApiId"), "DeploymentId": it.id},
            "{Description: description}",
        ),
        attributes={"DeploymentId": identity},
    ),
    ResourceType(
        name="AWS::ApiGateway::Stage",
        create=GATEWAY.apply("create_stage", but=("CanarySetting", "DocumentationVersion")),
        identity=given("StageName"),
        settle=_settle_stage,
        update=_update_stage,
        retag=tagger("apigateway", "tag_resource", "untag_resource", lambda it: {"ResourceArn": _stage_arn(it)}),
        delete=GATEWAY.forget("delete_stage", _stage_of),
        read=GATEWAY.read("get_stage", _stage_of, "{DeploymentId: deploymentId, Description: description}"),
    ),
    ResourceType(
        name="AWS::ApiGateway::Account",
        create=_account,
        identity=answer("Id"),
        update=lambda it: {**_account(it), **it.result},
        delete=nothing,  # the account's setting stays
        read=GATEWAY.read("get_account", lambda _: {}, "{CloudWatchRoleArn: cloudwatchRoleArn}"),
        attributes={"Id": identity},
    ),
)
