"""API Gateway: what a stage needs before it stands, and a new deployment behind a stage."""

import pytest

from cdk_trainyard.local import LocalAws
from tests.local.cases_gateway import ACCOUNT, DEPLOYMENT, METHOD, OF_REST, REST, ROOT
from tests.local.stacks import Stacks, Template, template

pytestmark = pytest.mark.usefixtures("support")


def _stage(deployment: str = "Deployment", **more: object) -> Template:
    properties = {**OF_REST, "StageName": "live", "DeploymentId": {"Ref": deployment}, **more}
    return {"Stage": {"Type": "AWS::ApiGateway::Stage", "Properties": properties}}


def test_a_stage_logs_only_with_a_role_of_the_account(stacks: Stacks, aws: LocalAws) -> None:
    """API Gateway Developer Guide, "Set up CloudWatch logging for REST APIs"."""
    patch = {"op": "replace", "path": "/cloudwatchRoleArn", "value": ""}
    aws.client("apigateway").update_account(patchOperations=[patch])
    logging = {"MethodSettings": [{"ResourcePath": "/*", "HttpMethod": "*", "LoggingLevel": "INFO"}]}
    needs = {**REST, **METHOD, **DEPLOYMENT}
    said = "CloudWatch Logs role ARN must be set in account settings to enable logging"
    assert stacks.failure(template({**needs, **_stage(**logging)})).startswith(said)
    stage = {"Stage": {**_stage(**logging)["Stage"], "DependsOn": "Account"}}
    stacks.deployed(template({**needs, **ACCOUNT, **stage}))


def test_a_new_deployment_takes_the_place_of_the_old_one_behind_a_stage(stacks: Stacks, aws: LocalAws) -> None:
    """As CDK does it: the logical id of a deployment changes with the API."""
    first = {**REST, **METHOD, **DEPLOYMENT, **_stage()}
    name = stacks.deployed(template(first))
    api, old = stacks.physical_id(name, "Api"), stacks.physical_id(name, "Deployment")
    other = {"Other": DEPLOYMENT["Deployment"]}
    assert stacks.update(name, template({**REST, **METHOD, **other, **_stage("Other")})) == "UPDATE_COMPLETE"
    client = aws.client("apigateway")
    left = [row["id"] for row in client.get_deployments(restApiId=api)["items"]]
    assert left == [stacks.physical_id(name, "Other")] != [old]
    assert client.get_stage(restApiId=api, stageName="live")["deploymentId"] == left[0]


def test_an_api_without_methods_has_nothing_to_deploy(stacks: Stacks) -> None:
    deployment = {"Deployment": {"Type": "AWS::ApiGateway::Deployment", "Properties": OF_REST}}
    assert "doesn't contain any methods" in stacks.failure(template({**REST, **deployment}))


def test_a_path_of_a_resource_is_told_apart_in_settings(stacks: Stacks, aws: LocalAws) -> None:
    resource = {"Type": "AWS::ApiGateway::Resource", "Properties": {**OF_REST, "ParentId": ROOT, "PathPart": "runs"}}
    settings = [
        {"ResourcePath": "/~1runs", "HttpMethod": "GET", "ThrottlingBurstLimit": 7},
        {"ResourcePath": "/*", "HttpMethod": "*", "CachingEnabled": True},
    ]
    name = stacks.deployed(
        template({**REST, **METHOD, **DEPLOYMENT, "Runs": resource, **_stage(MethodSettings=settings)})
    )
    found = aws.client("apigateway").get_stage(restApiId=stacks.physical_id(name, "Api"), stageName="live")
    assert found["methodSettings"]["~1runs/GET"]["throttlingBurstLimit"] == 7
    assert found["methodSettings"]["*/*"]["cachingEnabled"] is True
