"""CloudWatch's dashboards of a cluster: their function, whom it lets in, and bodies as CloudWatch takes them."""

import json
import re
from itertools import combinations
from typing import Any

import botocore.session
import pytest
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk.assertions import Match, Template

from cdk_trainyard import ClusterDashboards, ConfigurationError, MetricsSource, MetricsWorkspace, Naming
from cdk_trainyard.monitoring.cloudwatch import body, shown
from cdk_trainyard.monitoring.panels import Dashboard, dashboards
from tests.monitoring.test_workspace import only, text

LONGEST = {"cluster_name": "c" * 63, "function_name": "f" * 64, "region": "ap-southeast-2"}
"""A name of a HyperPod cluster, of a Lambda function, and of a Region, as long as they may be."""
BODIES = [pytest.param(each, body(each, **LONGEST), id=each.name) for each in dashboards()]
SLURM_ON_NEURON = [MetricsSource.CONTROLLER, MetricsSource.SLURM, MetricsSource.NODE, MetricsSource.NEURON]


def new_stack() -> Stack:
    return Stack(App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))


def made(**more: Any) -> Template:
    stack = new_stack()
    said = {"cluster_name": "llama2", "sources": SLURM_ON_NEURON, **more}
    ClusterDashboards(stack, "Dashboards", workspace=MetricsWorkspace(stack, "Metrics"), **said)
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def template() -> Template:
    return made()


def test_the_function_may_query_this_workspace_and_write_its_log_alone(template: Template) -> None:
    (workspace,) = template.find_resources("AWS::APS::Workspace")
    (log,) = template.find_resources("AWS::Logs::LogGroup")
    assert only(template, "AWS::IAM::ManagedPolicy")["Properties"]["PolicyDocument"]["Statement"] == [
        {"Action": "aps:QueryMetrics", "Effect": "Allow", "Resource": {"Fn::GetAtt": [workspace, "Arn"]}},
        {
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Effect": "Allow",
            "Resource": {"Fn::GetAtt": [log, "Arn"]},
        },
    ]
    role = only(template, "AWS::IAM::Role")["Properties"]
    assert role.keys() == {"AssumeRolePolicyDocument", "ManagedPolicyArns"}
    assert len(role["ManagedPolicyArns"]) == 1


def test_cloudwatch_of_this_account_alone_may_call_it(template: Template) -> None:
    (function,) = template.find_resources("AWS::Lambda::Function")
    template.resource_count_is("AWS::Lambda::Permission", 1)
    template.has_resource_properties(
        "AWS::Lambda::Permission",
        {
            "Action": "lambda:InvokeFunction",
            "FunctionName": {"Fn::GetAtt": [function, "Arn"]},
            "Principal": "lambda.datasource.cloudwatch.amazonaws.com",
            "SourceAccount": "111111111111",
        },
    )


def test_the_function_ends_before_cloudwatch_does_and_keeps_its_log_for_a_time(template: Template) -> None:
    (log,) = template.find_resources("AWS::Logs::LogGroup")
    (workspace,) = template.find_resources("AWS::APS::Workspace")
    template.has_resource_properties("AWS::Logs::LogGroup", {"RetentionInDays": 90})
    template.has_resource_properties(
        "AWS::Lambda::Function",
        {
            "Environment": {"Variables": {"WORKSPACE_ENDPOINT": {"Fn::GetAtt": [workspace, "PrometheusEndpoint"]}}},
            "Handler": "index.handler",
            "LoggingConfig": {"LogGroup": {"Ref": log}},
            "Tags": [{"Key": "cloudwatch:datasource", "Value": "custom"}],
            "Timeout": 10,
            "VpcConfig": Match.absent(),
        },
    )


def test_there_is_a_dashboard_wherever_there_are_metrics(template: Template) -> None:
    found = {name[10:-8] for name in template.find_resources("AWS::CloudWatch::Dashboard")}
    assert found == {"Cluster", "Jobs", "Nodes", "Accelerators", "Idle"}
    (function,) = template.find_resources("AWS::Lambda::Function")
    for dashboard in template.find_resources("AWS::CloudWatch::Dashboard").values():
        written = dashboard["Properties"]["DashboardBody"]
        assert json.loads(text(written))["widgets"]
        assert {str(part) for part in written["Fn::Join"][1] if isinstance(part, dict)} == {str({"Ref": function})}


def test_panels_without_metrics_are_left_out() -> None:
    assert [each.name for each in shown([])] == []
    assert [each.name for each in shown(["engine"])] == ["serving"]
    assert [each.name for each in shown(["controller", "node"])] == ["cluster", "nodes"]
    (idle,) = (each for each in shown(["neuron"]) if each.name == "idle")
    assert [panel.needs for panel in idle.panels] == ["neuron"]
    assert "price" not in idle.chosen
    assert [each.name for each in shown(tuple(MetricsSource))] == [each.name for each in dashboards()]


@pytest.mark.parametrize(("shown_board", "written"), BODIES)
def test_panels_and_queries_are_those_of_grafana(shown_board: Dashboard, written: dict[str, Any]) -> None:
    assert len(written["widgets"]) == len(shown_board.panels)
    for panel, widget in zip(shown_board.panels, written["widgets"], strict=True):
        properties = widget["properties"]
        assert properties["title"].startswith(panel.title)
        assert [metric["id"] for (metric,) in properties["metrics"]] == [f"q{n}" for n in range(len(panel.queries))]
        for (query, legend), (metric,) in zip(panel.queries, properties["metrics"], strict=True):
            pattern = re.sub(r"\\\$\w+", ".+", re.escape(query))
            assert re.fullmatch(
                rf"LAMBDA\('f{{64}}', '{pattern}', '{re.escape(legend)}', '(range|instant)'\)", metric["expression"]
            )


@pytest.mark.parametrize(("shown_board", "written"), BODIES)
def test_expressions_are_such_as_cloudwatch_takes(shown_board: Dashboard, written: dict[str, Any]) -> None:
    """No longer than MetricExpression of botocore's model, one line, and with nothing to be escaped in its strings."""
    longest = botocore.session.get_session().get_service_model("cloudwatch").shape_for("MetricExpression").metadata
    expressions = [each["expression"] for widget in written["widgets"] for (each,) in widget["properties"]["metrics"]]
    for expression in expressions:
        assert longest["min"] <= len(expression) <= longest["max"]
        assert expression.count("'") == 8
        assert not set(expression) & {"\\", "\n", "$"}, shown_board.name


@pytest.mark.parametrize(("shown_board", "written"), BODIES)
def test_no_widget_lies_on_another_or_beyond_the_grid(shown_board: Dashboard, written: dict[str, Any]) -> None:
    """Dashboard Body Structure and Syntax: 24 columns, heights of 1 to 1000, 500 widgets at most."""
    places = [[widget[name] for name in ("x", "y", "width", "height")] for widget in written["widgets"]]
    assert 0 < len(places) <= 500, shown_board.name
    for x, y, width, height in places:
        assert min(x, y) >= 0
        assert min(width, height) >= 1
        assert x + width <= 24
    for (x, y, width, height), (x2, y2, width2, height2) in combinations(places, 2):
        assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y


@pytest.mark.parametrize(("shown_board", "written"), BODIES)
def test_what_is_chosen_stands_in_the_queries_and_nowhere_else(shown_board: Dashboard, written: dict[str, Any]) -> None:
    variables = {variable["id"]: variable for variable in written["variables"]}
    assert variables.keys() == shown_board.chosen - {"cluster"}
    queries = json.dumps([widget["properties"]["metrics"] for widget in written["widgets"]])
    for name, variable in variables.items():
        kind, default = cloudwatch.VariableType.PATTERN, cloudwatch.DefaultValue.value(variable["defaultValue"])
        of_cdk = cloudwatch.DashboardVariable(
            id=name,
            type=kind,
            input_type=cloudwatch.VariableInputType.INPUT,
            value=variable["pattern"],
            label=variable["label"],
            default_value=default,
            visible=True,
        )
        assert of_cdk.to_json() == variable
        assert json.dumps(written["widgets"]).count(variable["pattern"]) == queries.count(variable["pattern"]) > 0


def test_a_name_that_is_known_later_stands_where_it_is_known() -> None:
    stack = new_stack()
    name = CfnParameter(stack, "Name").value_as_string
    ClusterDashboards(stack, "Dashboards", workspace=MetricsWorkspace(stack, "Metrics"), cluster_name=name)
    found = Template.from_stack(stack).find_resources("AWS::CloudWatch::Dashboard")
    assert len(found) == len(dashboards())
    for dashboard in found.values():
        assert {"Ref": "Name"} in dashboard["Properties"]["DashboardBody"]["Fn::Join"][1]


def test_names_by_convention() -> None:
    found = made(names=Naming(prefix="acme-ml-")).find_resources("AWS::CloudWatch::Dashboard")
    assert all(each["Properties"]["DashboardName"].startswith("acme-ml-") for each in found.values())


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"cluster_name": 'llama2"} or up'}, "'cluster_name'"),
        ({"sources": ["slurms"]}, "slurm"),
    ],
)
def test_what_cannot_work_is_refused(said: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        made(**said)
