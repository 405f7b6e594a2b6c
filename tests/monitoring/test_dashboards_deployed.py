"""ClusterDashboards on the local AWS: what is deployed is called as CloudWatch calls it, with the role that it has."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from aws_cdk import RemovalPolicy, Stack

from cdk_trainyard import ClusterDashboards, MetricsWorkspace
from cdk_trainyard.local import LocalAws
from cdk_trainyard.monitoring.panels import dashboards
from tests.local.apps_of_rooms import REGION, bootstrap, synthesized, uploaded

DESCRIBE = {"EventType": "DescribeGetMetricData"}


def query(text: str) -> dict[str, Any]:
    request = {"StartTime": 0, "EndTime": 600, "Period": 60, "Arguments": [text]}
    return {"EventType": "GetMetricData", "GetMetricDataRequest": request}


@pytest.fixture(scope="module")
def outputs(aws: LocalAws) -> Iterator[dict[str, str]]:
    """What is deployed, by type; of each type the physical ids."""
    bootstrap(aws)

    def build(stack: Stack) -> None:
        workspace = MetricsWorkspace(stack, "Metrics", removal_policy=RemovalPolicy.DESTROY)
        ClusterDashboards(stack, "Dashboards", workspace=workspace, cluster_name="llama2")

    template = synthesized(aws, build, "Shown")
    client = aws.client("cloudformation", REGION)
    asked = {"StackName": "shown", "TemplateURL": uploaded(aws, template), "Capabilities": ["CAPABILITY_NAMED_IAM"]}
    stack = str(client.create_stack(**asked)["StackId"])
    deadline = time.monotonic() + 600
    while (status := client.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]).endswith("_IN_PROGRESS"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    events = client.describe_stack_events(StackName=stack)["StackEvents"]
    assert status == "CREATE_COMPLETE", events
    assert [each["ResourceStatusReason"] for each in events if "local" in each.get("ResourceStatusReason", "")] == []
    found = client.describe_stack_resources(StackName=stack)["StackResources"]
    yield {row["LogicalResourceId"][:-8]: row["PhysicalResourceId"] for row in found}
    client.delete_stack(StackName=stack)


def called(aws: LocalAws, function: str, event: dict[str, Any]) -> dict[str, Any]:
    said = aws.client("lambda", REGION).invoke(FunctionName=function, Payload=json.dumps(event))
    answer: dict[str, Any] = json.loads(said["Payload"].read())
    assert "FunctionError" not in said, answer
    return answer


def test_dashboards_call_the_function_that_is_there(aws: LocalAws, outputs: dict[str, str]) -> None:
    client = aws.client("cloudwatch", REGION)
    for each in dashboards():
        name = outputs[f"Dashboards{each.name.title()}"]
        body = json.loads(client.get_dashboard(DashboardName=name)["DashboardBody"])
        asked = [metric["expression"] for widget in body["widgets"] for (metric,) in widget["properties"]["metrics"]]
        assert asked
        assert all(expression.startswith(f"LAMBDA('{outputs['DashboardsConnector']}', ") for expression in asked)


def test_cloudwatch_is_let_in(aws: LocalAws, outputs: dict[str, str]) -> None:
    said = aws.client("lambda", REGION).get_policy(FunctionName=outputs["DashboardsConnector"])["Policy"]
    (statement,) = json.loads(said)["Statement"]
    assert statement["Principal"] == {"Service": "lambda.datasource.cloudwatch.amazonaws.com"}
    assert "SourceAccount" in json.dumps(statement["Condition"])


@contextmanager
def asking(aws: LocalAws, function: str, workspace: str) -> Iterator[None]:
    """Have the function ask a workspace: this server stands for the name of AWS that it was given."""
    client = aws.client("lambda", REGION)
    own = client.get_function_configuration(FunctionName=function)["Environment"]["Variables"]
    assert urlsplit(own["WORKSPACE_ENDPOINT"]).netloc == f"aps-workspaces.{REGION}.amazonaws.com"
    there = {"WORKSPACE_ENDPOINT": f"{aws.endpoint}/workspaces/{workspace}/"}
    client.update_function_configuration(FunctionName=function, Environment={"Variables": there})
    yield
    client.update_function_configuration(FunctionName=function, Environment={"Variables": own})


def test_the_function_queries_its_workspace_by_its_role(aws: LocalAws, outputs: dict[str, str]) -> None:
    function, workspace = outputs["DashboardsConnector"], outputs["Metrics"].rpartition("/")[2]
    own = aws.client("lambda", REGION).get_function_configuration(FunctionName=function)["Environment"]["Variables"]
    assert urlsplit(own["WORKSPACE_ENDPOINT"]).path == f"/workspaces/{workspace}/"
    assert called(aws, function, DESCRIBE).keys() == {"Description", "ArgumentDefaults"}
    with asking(aws, function, workspace):
        assert called(aws, function, query("up")) == {"MetricDataResults": []}


def test_another_workspace_is_not_open_to_it(aws: LocalAws, outputs: dict[str, str]) -> None:
    """Its role is refused, and its log has the query."""
    function = outputs["DashboardsConnector"]
    other = aws.client("amp", REGION).create_workspace()["workspaceId"]
    with asking(aws, function, other):
        told = called(aws, function, query("up{node='w1'}"))["Error"]
    aws.client("amp", REGION).delete_workspace(workspaceId=other)
    assert "not authorized to perform: aps:QueryMetrics" in told["Value"]
    events = aws.client("logs", REGION).filter_log_events(logGroupName=outputs["DashboardsLogs"])["events"]
    assert any("up{node='w1'}" in each["message"] for each in events)
