"""How the types of API Gateway are tried: REST APIs and HTTP APIs."""

from typing import Any

from cdk_trainyard.local import LocalAws
from tests.local.cases import Case, Look, look
from tests.local.support import of
from tests.support import every

REST = {"Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": "tried"}}}
OF_REST = {"RestApiId": {"Ref": "Api"}}
ROOT = {"Fn::GetAtt": ["Api", "RootResourceId"]}
_MOCK = {
    "Type": "MOCK",
    "RequestTemplates": {"application/json": '{"statusCode": 200}'},
    "IntegrationResponses": [{"StatusCode": "200", "ResponseTemplates": {"application/json": "{}"}}],
}
METHOD = {
    "Method": {
        "Type": "AWS::ApiGateway::Method",
        "Properties": {
            **OF_REST,
            "ResourceId": ROOT,
            "HttpMethod": "GET",
            "AuthorizationType": "NONE",
            "Integration": _MOCK,
        },
    }
}
DEPLOYMENT = {"Deployment": {"Type": "AWS::ApiGateway::Deployment", "Properties": OF_REST, "DependsOn": "Method"}}
ACCOUNT = {"Account": {"Type": "AWS::ApiGateway::Account", "Properties": {"CloudWatchRoleArn": of("RoleArn")}}}
_HTTP = {"Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "tried", "ProtocolType": "HTTP"}}}
_OF_HTTP = {"ApiId": {"Ref": "Api"}}
_PROXY = {
    **_OF_HTTP,
    "IntegrationType": "HTTP_PROXY",
    "IntegrationMethod": "GET",
    "IntegrationUri": "https://first.example",
    "PayloadFormatVersion": "1.0",
}
_INTEGRATION = {"Integration": {"Type": "AWS::ApiGatewayV2::Integration", "Properties": _PROXY}}


def _in_apis(service: str, listed: str, key: str, operation: str, path: str, **names: str) -> Look:
    """Look for a part in each API: calls ``operation`` with the API's id and ``names``, until one knows it."""

    def run(aws: LocalAws, physical_id: str) -> Any:
        client = aws.client(service)
        for api in every(client, listed).get("items", every(client, listed).get("Items", [])):
            asked = {key: api.get("id", api.get("ApiId")), **names}
            try:
                return look(service, operation, path, **asked)(aws, physical_id)
            except client.exceptions.NotFoundException:
                continue
        return None

    return run


def _rest(operation: str, path: str, **names: str) -> Look:
    return _in_apis("apigateway", "get_rest_apis", "restApiId", operation, path, **names)


def _http(operation: str, path: str, **names: str) -> Look:
    return _in_apis("apigatewayv2", "get_apis", "ApiId", operation, path, **names)


def _methods(aws: LocalAws, _physical_id: str) -> Any:
    """Return the method GET of the one API with methods."""
    client = aws.client("apigateway")
    for api in every(client, "get_rest_apis")["items"]:
        root = next(
            row["id"] for row in every(client, "get_resources", restApiId=api["id"])["items"] if row["path"] == "/"
        )
        try:
            found = client.get_method(restApiId=api["id"], resourceId=root, httpMethod="GET")
        except client.exceptions.NotFoundException:
            continue
        integration = found["methodIntegration"]
        return [
            found["authorizationType"],
            sorted(found.get("methodResponses", {})),
            integration["type"],
            integration.get("uri"),
            sorted(integration.get("integrationResponses", {})),
        ]
    return None


CASES = (
    # ---------------------------------------------------------------- REST
    Case(
        type="AWS::ApiGateway::RestApi",
        properties={
            "Name": "first",
            "Description": "first",
            "EndpointConfiguration": {"Types": ["REGIONAL"]},
            "ApiKeySourceType": "HEADER",
            "BinaryMediaTypes": ["image/png"],
            "Tags": [{"Key": "Name", "Value": "first"}],
        },
        look=look(
            "apigateway",
            "get_rest_api",
            "[name, description, endpointConfiguration.types, apiKeySource, binaryMediaTypes, tags.Name]",
            restApiId="{}",
        ),
        made=["first", "first", ["REGIONAL"], "HEADER", ["image/png"], "first"],
        change={"Name": "second", "Description": "second", "BinaryMediaTypes": ["image/jpeg"]},
        changed=["second", "second", ["REGIONAL"], "HEADER", ["image/jpeg"], "first"],
        attributes=("RestApiId", "RootResourceId"),
    ),
    Case(
        type="AWS::ApiGateway::Resource",
        needs=REST,
        properties={**OF_REST, "ParentId": ROOT, "PathPart": "runs"},
        look=_rest("get_resource", "path", resourceId="{}"),
        made="/runs",
        attributes=("ResourceId",),
    ),
    Case(
        type="AWS::ApiGateway::Method",
        needs=REST,
        properties={**METHOD["Method"]["Properties"], "MethodResponses": [{"StatusCode": "200"}]},
        look=_methods,
        made=["NONE", ["200"], "MOCK", None, ["200"]],
        change={
            "AuthorizationType": "AWS_IAM",
            "Integration": {"Type": "HTTP", "IntegrationHttpMethod": "GET", "Uri": "https://second.example"},
        },
        changed=["AWS_IAM", ["200"], "HTTP", "https://second.example", []],
    ),
    Case(
        type="AWS::ApiGateway::Deployment",
        needs={**REST, **METHOD},
        properties={**OF_REST, "Description": {"Fn::Sub": "of ${Method}"}},
        look=_rest("get_deployment", "id != null", deploymentId="{}"),
        made=True,
        attributes=("DeploymentId",),
    ),
    Case(
        type="AWS::ApiGateway::Stage",
        needs={**REST, **METHOD, **DEPLOYMENT, **ACCOUNT},
        properties={
            **OF_REST,
            "StageName": "live",
            "DeploymentId": {"Ref": "Deployment"},
            "Description": {"Fn::Sub": "${Account} first"},
            "Variables": {"a": "1", "b": "2"},
            "TracingEnabled": True,
            "MethodSettings": [
                {"ResourcePath": "/*", "HttpMethod": "*", "LoggingLevel": "INFO", "MetricsEnabled": True}
            ],
            "AccessLogSetting": {"DestinationArn": of("LogsArn"), "Format": "$context.requestId"},
            "Tags": [{"Key": "Name", "Value": "first"}],
        },
        look=_rest(
            "get_stage",
            '[variables, tracingEnabled, methodSettings."*/*".[loggingLevel, metricsEnabled], '
            "accessLogSettings.format, tags.Name]",
            stageName="{}",
        ),
        made=[{"a": "1", "b": "2"}, True, ["INFO", True], "$context.requestId", "first"],
        change={
            "Variables": {"a": "3"},
            "TracingEnabled": False,
            "MethodSettings": [
                {"ResourcePath": "/*", "HttpMethod": "*", "LoggingLevel": "ERROR", "MetricsEnabled": False}
            ],
            "AccessLogSetting": {"DestinationArn": of("LogsArn"), "Format": "$context.path"},
            "Tags": [{"Key": "Name", "Value": "second"}],
        },
        changed=[{"a": "3"}, False, ["ERROR", False], "$context.path", "second"],
    ),
    Case(
        type="AWS::ApiGateway::Account",
        properties={"CloudWatchRoleArn": of("RoleArn")},
        look=look("apigateway", "get_account", "cloudwatchRoleArn != null"),
        made=True,
        attributes=("Id",),
        stays=True,
    ),
    # ---------------------------------------------------------------- HTTP
    Case(
        type="AWS::ApiGatewayV2::Api",
        properties={
            "Name": "first",
            "ProtocolType": "HTTP",
            "CorsConfiguration": {"AllowOrigins": ["https://first.example"]},
            "Tags": {"Name": "first"},
        },
        look=look(
            "apigatewayv2", "get_api", "[Name, ProtocolType, CorsConfiguration.AllowOrigins, Tags.Name]", ApiId="{}"
        ),
        made=["first", "HTTP", ["https://first.example"], "first"],
        change={"Name": "second", "CorsConfiguration": {"AllowOrigins": ["*"]}, "Tags": {"Name": "second"}},
        changed=["second", "HTTP", ["*"], "second"],
        attributes=("ApiEndpoint", "ApiId", "ExecuteApiArn"),
    ),
    Case(
        type="AWS::ApiGatewayV2::Integration",
        needs=_HTTP,
        properties=_PROXY,
        look=_http("get_integration", "[IntegrationType, IntegrationUri, PayloadFormatVersion]", IntegrationId="{}"),
        made=["HTTP_PROXY", "https://first.example", "1.0"],
        change={"IntegrationUri": "https://second.example"},
        changed=["HTTP_PROXY", "https://second.example", "1.0"],
        attributes=("IntegrationId",),
    ),
    Case(
        type="AWS::ApiGatewayV2::Route",
        needs={**_HTTP, **_INTEGRATION},
        properties={
            **_OF_HTTP,
            "RouteKey": "GET /runs",
            "Target": {"Fn::Join": ["/", ["integrations", {"Ref": "Integration"}]]},
        },
        look=_http("get_route", "[RouteKey, AuthorizationType, starts_with(Target, 'integrations/')]", RouteId="{}"),
        made=["GET /runs", "NONE", True],
        change={"RouteKey": "GET /models", "AuthorizationType": "AWS_IAM"},
        changed=["GET /models", "AWS_IAM", True],
        attributes=("RouteId",),
    ),
    Case(
        type="AWS::ApiGatewayV2::Stage",
        needs=_HTTP,
        properties={
            **_OF_HTTP,
            "StageName": "$default",
            "AutoDeploy": True,
            "StageVariables": {"a": "1"},
            "DefaultRouteSettings": {"ThrottlingBurstLimit": 5},
            "AccessLogSettings": {"DestinationArn": of("LogsArn"), "Format": "$context.requestId"},
            "Tags": {"Name": "first"},
        },
        look=_http(
            "get_stage",
            "[AutoDeploy, StageVariables, DefaultRouteSettings.ThrottlingBurstLimit, AccessLogSettings.Format, "
            "Tags.Name]",
            StageName="{}",
        ),
        made=[True, {"a": "1"}, 5, "$context.requestId", "first"],
        change={"StageVariables": {"b": "2"}, "DefaultRouteSettings": {"ThrottlingBurstLimit": 9}},
        changed=[True, {"b": "2"}, 9, "$context.requestId", "first"],
    ),
)
