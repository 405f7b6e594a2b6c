"""API Gateway, HTTP and WebSocket APIs: APIs, integrations, routes, stages. Nothing answers at their addresses."""

from typing import Any

from cdk_trainyard.local.resources.model import Resource, ResourceType, Step
from cdk_trainyard.local.resources.steps import Api, answer, given, identity, tagger

GATEWAY = Api("apigatewayv2")
_NOT_KEPT = ("BasePath", "Body", "CredentialsArn", "FailOnWarnings", "IpAddressType", "RouteKey", "Target")
_NOT_CHANGED = (*_NOT_KEPT, "ProtocolType", "Tags")


def _in_api(name: str) -> Any:
    """Return what names a part of an API: the API, and the parameter ``name`` with the part's id."""
    return lambda it: {**it.pick("ApiId"), name: it.id}


def _arn(it: Resource) -> str:
    return it.where.arn("apigateway", f"/apis/{it.id}", account="")


def _remove(operation: str, name: str) -> Step:
    return GATEWAY.forget(operation, _in_api(name))


TYPES = (
    ResourceType(
        name="AWS::ApiGatewayV2::Api",
        create=GATEWAY.apply("create_api", but=_NOT_KEPT),
        identity=answer("ApiId"),
        update=GATEWAY.apply("update_api", lambda it: {"ApiId": it.id}, but=_NOT_CHANGED),
        retag=tagger("apigatewayv2", "tag_resource", "untag_resource", lambda it: {"ResourceArn": _arn(it)}),
        delete=GATEWAY.forget("delete_api", lambda it: {"ApiId": it.id}),
        read=GATEWAY.read("get_api", lambda it: {"ApiId": it.id}, "{Name: Name, Description: Description}"),
        attributes={
            "ApiEndpoint": answer("ApiEndpoint"),
            "ApiId": identity,
            "ExecuteApiArn": lambda it: it.where.arn("execute-api", it.id),
        },
    ),
    ResourceType(
        name="AWS::ApiGatewayV2::Integration",
        create=GATEWAY.apply("create_integration"),
        identity=answer("IntegrationId"),
        update=GATEWAY.apply("update_integration", _in_api("IntegrationId")),
        delete=_remove("delete_integration", "IntegrationId"),
        read=GATEWAY.read("get_integration", _in_api("IntegrationId"), "{IntegrationUri: IntegrationUri}"),
        attributes={"IntegrationId": identity},
    ),
    ResourceType(
        name="AWS::ApiGatewayV2::Route",
        create=GATEWAY.apply("create_route"),
        identity=answer("RouteId"),
        update=GATEWAY.apply("update_route", _in_api("RouteId")),
        delete=_remove("delete_route", "RouteId"),
        read=GATEWAY.read("get_route", _in_api("RouteId"), "{RouteKey: RouteKey, Target: Target}"),
        attributes={"RouteId": identity},
    ),
    ResourceType(
        name="AWS::ApiGatewayV2::Stage",
        create=GATEWAY.apply("create_stage", but=("DeploymentId",)),
        identity=given("StageName"),
        update=GATEWAY.apply("update_stage", but=("DeploymentId",)),
        delete=_remove("delete_stage", "StageName"),
        read=GATEWAY.read("get_stage", _in_api("StageName"), "{AutoDeploy: AutoDeploy, Description: Description}"),
    ),
)
