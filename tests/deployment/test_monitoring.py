"""The section ``monitoring:``: what it makes, what a cluster's nodes are told, and what of it is refused."""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, Stack
from aws_cdk.assertions import Match, Template

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.monitoring.alarms import alarms
from stacks import build_stacks
from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER, GOOD_SERVING
from tests.monitoring.test_workspace import only, text
from tests.support import DEPLOYMENTS, ROOT

DATA = Path(__file__).parent / "data"


def built(path: Path) -> Template:
    stacks = build_stacks(App(), Deployment.load(path))
    return Template.from_stack(next(stack for stack in stacks if stack.node.id == "TrainingStack"))


@pytest.fixture(scope="module")
def monitored() -> Template:
    return built(DATA / "everything_monitored.yaml")


def test_a_workspace_rules_and_a_topic_are_made_of_one_line(monitored: Template) -> None:
    workspace = only(monitored, "AWS::APS::Workspace")["Properties"]
    assert workspace["WorkspaceConfiguration"]["RetentionPeriodInDays"] == 400
    assert workspace["KmsKeyArn"]
    namespace = only(monitored, "AWS::APS::RuleGroupsNamespace")["Properties"]
    rules = [rule for group in yaml.safe_load(namespace["Data"])["groups"] for rule in group["rules"]]
    asked = {rule["alert"]: rule for rule in rules if "alert" in rule}
    there = {alarm.name for alarm in alarms() if alarm.needs not in {"gpu", "engine"}}
    assert set(asked) == there - {"JobsStarving"} | {"LossIsNaN"}
    assert (asked["DiskFull"]["for"], asked["DiskFull"]["labels"]) == ("30m", {"severity": "critical"})
    assert asked["NodeDown"]["expr"].endswith(
        " unless on () (vector(time() - 14400) % 86400 < 5400 and day_of_week(vector(time() - 14400)) == 0)"
    )
    definition = yaml.safe_load(text(workspace["AlertManagerDefinition"]))
    assert yaml.safe_load(definition["alertmanager_config"])["route"]["receiver"] == "topic"


def test_what_the_cluster_stands_on_tells_the_same_topic(monitored: Template) -> None:
    found = monitored.find_resources("AWS::CloudWatch::Alarm")
    made = {name.removeprefix("Environment")[:-8]: alarm["Properties"] for name, alarm in found.items()}
    assert {"NatPorts1", "NatDrops1", "FileSystemFull", "FileSystemBusy"} <= set(made)
    (topic,) = monitored.find_resources("AWS::SNS::Topic")
    assert {json.dumps(alarm["AlarmActions"]) for alarm in made.values()} == {json.dumps([{"Ref": topic}])}
    assert "NAT gateways" in dashboards(monitored)["EnvironmentDashboard"]


def dashboards(template: Template) -> dict[str, str]:
    """Bodies of CloudWatch's dashboards, by logical id without its hash."""
    found = template.find_resources("AWS::CloudWatch::Dashboard")
    return {name[:-8]: text(made["Properties"]["DashboardBody"]) for name, made in found.items()}


def test_cloudwatch_shows_what_the_cluster_has_metrics_of(monitored: Template) -> None:
    shown = dashboards(monitored)
    boards = ("Cluster", "Jobs", "Nodes", "Fabric", "Accelerators", "Storage", "Idle")
    assert shown.keys() == {"EnvironmentDashboard", *(f"Dashboards{name}" for name in boards)}
    name = only(monitored, "AWS::SageMaker::Cluster")["Properties"]["ClusterName"]
    for body in (shown[f"Dashboards{name}"] for name in boards):
        queries = [json.loads(f'"{found}"') for found in re.findall(r"LAMBDA\(((?:[^\"\\]|\\.)*)\)", body)]
        assert queries
        assert all(f'cluster="{name}"' in query for query in queries)
    assert "Neuron" in shown["DashboardsAccelerators"]
    assert "GPU" not in shown["DashboardsAccelerators"]


def test_dashboards_can_be_left_out(tmp_path: Path) -> None:
    content = yaml.safe_load((DATA / "everything_monitored.yaml").read_text())
    content["monitoring"]["dashboards"] = False
    (tmp_path / "file.yaml").write_text(yaml.safe_dump(content))
    template = built(tmp_path / "file.yaml")
    assert dashboards(template).keys() == {"EnvironmentDashboard"}
    template.resource_count_is("AWS::Lambda::Permission", 0)


def test_grafana_looks_at_the_workspace_and_its_address_is_told(monitored: Template) -> None:
    (name,) = monitored.find_resources("AWS::Grafana::Workspace")
    said = only(monitored, "AWS::Grafana::Workspace")["Properties"]
    assert said["AuthenticationProviders"] == ["AWS_SSO", "SAML"]
    assert said["SamlConfiguration"]["RoleValues"] == {"Admin": ["platform"], "Editor": ["research"]}
    assert said["NetworkAccessControl"]["VpceIds"] == ["vpce-0123456789abcdef0"]
    monitored.has_output(
        "GrafanaAddress", {"Value": {"Fn::Join": ["", ["https://", {"Fn::GetAtt": [name, "Endpoint"]}]]}}
    )
    (metrics,) = monitored.find_resources("AWS::APS::Workspace")
    monitored.has_output("GrafanaDataSource", {"Value": {"Fn::GetAtt": [metrics, "PrometheusEndpoint"]}})


def test_the_controllers_role_alone_writes_and_to_this_workspace_alone(monitored: Template) -> None:
    policies = monitored.find_resources("AWS::IAM::ManagedPolicy")
    writers = {
        name: statement
        for name, policy in policies.items()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "aps:RemoteWrite"
    }
    ((name, statement),) = writers.items()
    assert "ControllerRole" in name
    (workspace,) = monitored.find_resources("AWS::APS::Workspace")
    assert statement["Resource"] == {"Fn::GetAtt": [workspace, "Arn"]}


def test_rules_know_the_cluster_by_the_name_that_its_agent_gives(monitored: Template) -> None:
    name = only(monitored, "AWS::SageMaker::Cluster")["Properties"]["ClusterName"]
    rules = only(monitored, "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"]
    assert f'cluster="{name}"' in rules


def test_a_workspace_that_exists_gets_rules_and_is_left_as_it_is() -> None:
    template = built(DATA / "existing_workspace.yaml")
    template.resource_count_is("AWS::APS::Workspace", 0)
    template.has_resource_properties(
        "AWS::APS::RuleGroupsNamespace", {"Workspace": "arn:aws:aps:us-east-1:111111111111:workspace/ws-0123"}
    )
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Statement": Match.array_with(
                    [
                        Match.object_like(
                            {
                                "Action": "aps:RemoteWrite",
                                "Resource": "arn:aws:aps:us-east-1:111111111111:workspace/ws-0123",
                            }
                        )
                    ]
                )
            }
        },
    )


@pytest.fixture(scope="module")
def parallelcluster(tmp_path_factory: pytest.TempPathFactory) -> Template:
    content = yaml.safe_load((ROOT / "deployments/parallelcluster-trn1.yaml").read_text())
    path = tmp_path_factory.mktemp("file") / "deployment.yaml"
    path.write_text(yaml.safe_dump(content | {"monitoring": {}, "alerts": {"emails": ["ops@example.com"]}}))
    return built(path)


def test_a_parallelcluster_has_the_alarms_of_what_its_nodes_have(parallelcluster: Template) -> None:
    data = only(parallelcluster, "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"]
    found = {rule["alert"] for group in yaml.safe_load(data)["groups"] for rule in group["rules"] if "alert" in rule}
    assert found == {alarm.name for alarm in alarms() if alarm.needs not in {"gpu", "engine"}}
    name = only(parallelcluster, "Custom::PclusterCluster")["Properties"]["ClusterName"]
    assert f'cluster="{name}"' in data


def parallelcluster_file(write: Callable[[str], Path], exporters: dict[str, Any]) -> Path:
    content = yaml.safe_load((ROOT / "deployments/parallelcluster-p5-capacity-block.yaml").read_text())
    return write(yaml.safe_dump(content | {"monitoring": {"exporters": exporters}}))


def test_gpus_of_a_parallelcluster_are_asked_and_have_their_alarms(write: Callable[[str], Path]) -> None:
    image = f"111111111111.dkr.ecr.us-west-2.amazonaws.com/dcgm-exporter@sha256:{'0' * 64}"
    template = built(parallelcluster_file(write, {"gpu": True, "gpu_image": image, "gpu_port": 9401}))
    assert "GpuFault" in only(template, "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"]
    cluster = json.dumps(only(template, "Custom::PclusterCluster")["Properties"])
    assert f"exporters_gpu_image={image}" in cluster
    assert "exporters_gpu_port=9401" in cluster


def test_ports_and_devices_of_a_parallelcluster_are_checked(write: Callable[[str], Path]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Deployment.load(parallelcluster_file(write, {"neuron": True, "port": 8429}))
    assert "'monitoring.exporters.port' must be another port than 8429" in str(refused.value)
    assert "'monitoring.exporters.neuron' must be left out when no instance type has Neuron" in str(refused.value)


def test_a_service_has_its_own_exporters(write: Callable[[str], Path]) -> None:
    content = yaml.safe_load((ROOT / "deployments/serving-inf2-vllm.yaml").read_text())
    with pytest.raises(ConfigurationError, match=r"'monitoring\.exporters' must be left out where there is no cluster"):
        Deployment.load(write(yaml.safe_dump(content | {"monitoring": {"exporters": {}}})))


def test_a_topic_of_a_parallelcluster_is_told_by_workspace_and_cloudwatch(parallelcluster: Template) -> None:
    """ParallelCluster itself tells nobody."""
    services = {"aps.amazonaws.com", "cloudwatch.amazonaws.com"}
    for kind, policy in (("AWS::SNS::TopicPolicy", "PolicyDocument"), ("AWS::KMS::Key", "KeyPolicy")):
        statements = only(parallelcluster, kind)["Properties"][policy]["Statement"]
        named = [each["Principal"].get("Service") for each in statements if isinstance(each["Principal"], dict)]
        assert services <= {name for name in named if isinstance(name, str)}, kind


KEPT_WITH_THE_WORKSPACE = {
    **dict.fromkeys(["APS::Workspace", "KMS::Key", "SNS::Topic", "SNS::TopicPolicy"], "RetainExceptOnCreate"),
    "SNS::Subscription": None,
}


def test_a_topic_is_kept_with_its_workspace_and_an_address_is_not(parallelcluster: Template) -> None:
    kept = {kind: only(parallelcluster, f"AWS::{kind}").get("DeletionPolicy") for kind in KEPT_WITH_THE_WORKSPACE}
    assert kept == KEPT_WITH_THE_WORKSPACE


def changed(write: Callable[[str], Path], **sections: Any) -> Path:
    content = yaml.safe_load((DATA / "existing_workspace.yaml").read_text())
    for name, section in sections.items():
        content[name] = section
    return write(yaml.safe_dump({name: section for name, section in content.items() if section is not None}))


def own(expr: str, summary: str = "x\n") -> dict[str, Any]:
    return {"expr": expr, "minutes": 1, "summary": summary}


@pytest.mark.parametrize(
    "expr",
    [
        "rate(x{$cluster}[121s]) > 1",
        "rate(x{$cluster}[1m:30s]) > 1",  # of an expression: as often as it says
        "rate(x[1m]) > 1",  # of somebody else, who may write more often
        "max_over_time(x{$cluster}[1m]) > 1",
        "changes(x{$cluster}[1m]) > 1",
    ],
)
def test_a_window_with_two_samples_is_taken(expr: str, write: Callable[[str], Path]) -> None:
    Deployment.load(changed(write, monitoring={"scrape_seconds": 120, "own_alarms": {"Mine": own(expr)}}))


@pytest.mark.parametrize(
    "expr",
    [
        'sum(rate(e{job="a",$cluster}[5m])) / sum(rate(r{job="a",$cluster}[5m])) > 0.1',
        "up{job='x', $cluster, instance=~`y`} == 0",
        'up{$cluster,job!="a"} unless up{$cluster,job="\\"b"}',
        'up{$cluster} == 0 # "$cluster" is the matcher',
    ],
)
def test_a_matcher_between_strings_is_in_none(expr: str, write: Callable[[str], Path]) -> None:
    Deployment.load(changed(write, monitoring={"own_alarms": {"Mine": own(expr)}}))


@pytest.mark.parametrize(
    ("sections", "answer"),
    [
        (
            {"monitoring": {"workspace_arn": "arn:aws:aps:eu-west-1:111111111111:workspace/ws-1"}},
            "'monitoring.workspace_arn' must be of Region us-east-1, got",
        ),
        (
            {
                "account": "222222222222",
                "monitoring": {"workspace_arn": "arn:aws:aps:us-east-1:111111111111:workspace/ws-1"},
            },
            "'monitoring.workspace_arn' must be of account 222222222222, got",
        ),
        (
            {"region": "cn-north-1", "network": {"zone": "cn-north-1a"}, "monitoring": {}},
            "'monitoring' must be left out in cn-north-1: Amazon Managed Service for Prometheus is not offered",
        ),
        (
            {"region": "cn-north-1", "network": {"zone": "cn-north-1a", "interface_endpoints": ["aps-workspaces"]}},
            "'network.interface_endpoints[0]' must be left out in cn-north-1, got aps-workspaces: Amazon Managed",
        ),
        (
            {"monitoring": {"workspace_arn": "arn:aws:aps:us-east-1:111111111111:workspace/w", "retention_days": 30}},
            "'monitoring.retention_days' must be left out beside 'workspace_arn': the workspace stays as it is",
        ),
        (
            {"monitoring": {"alarms": {"DiskFul": {"threshold": 3}}}},
            "got 'DiskFul'; did you mean 'DiskFull'?",
        ),
        (
            {"monitoring": {"alarms": {"DiskFull": {"threshold": 300}}}},
            "'monitoring.alarms.DiskFull.threshold' must be 1 to 90 percent free, got 300",
        ),
        (
            {"monitoring": {"alarms": {"DiskFull": {"threshold": "90%"}}}},
            "must be a number of the alarm's own unit (percent free of DiskFull, seconds of waiting of JobsStarving)",
        ),
        *(
            (
                {"monitoring": {"alarms": {name: {"minutes": 30}}}} | more,
                f"'monitoring.alarms.{name}' must be left out: the deployment does not make this alarm, as {why}",
            )
            for name, more, why in (
                ("GpuHot", {}, "no node has GPUs"),
                ("EngineSilent", {}, "nothing is served"),
                ("LustreTimeouts", {"storage": {}}, "no FSx for Lustre is mounted"),
            )
        ),
        *(
            (
                {"monitoring": {"scrape_seconds": seconds, "own_alarms": {"Mine": own(expr)}}},
                f"must have windows longer than 'scrape_seconds' {seconds}, got [{window}] of {function}, which wants",
            )
            for seconds, window, function, expr in (
                (120, "1m", "rate", "sum(rate(x{$cluster}[1m])) > 1"),
                (30, "30s", "deriv", 'deriv( x{a="}", $cluster}[ 30s ] ) > 1'),
                (60, "500ms", "increase", 'rate(x{$cluster}[5m]) > increase({__name__="x",$cluster}[500ms])'),
            )
        ),
        *(
            (
                {"monitoring": {"own_alarms": {"Mine": own(expr)}}},
                f"must have '$cluster' as it is between braces, got {value}: it is a whole matcher; write {{$cluster}}",
            )
            for value, expr in (
                ("'cluster=\"$cluster\"'", 'up{cluster="$cluster"} == 0'),
                ("'cluster =~ \"$cluster\"'", 'up{job="a", cluster =~ "$cluster"} == 0'),
                ("'cluster=$cluster'", "up{cluster=$cluster} == 0"),
                ("\"'$cluster'\"", "up{'$cluster'} == 0"),
            )
        ),
        (
            {"monitoring": {"update_minutes": 90}},
            "'monitoring.update_minutes' must be left out where no group of HyperPod has a 'scheduled_update', got 90",
        ),
        (
            {"monitoring": {"scrape_seconds": 600}},
            "'monitoring.scrape_seconds' must be 5 to 120 seconds, got 600",
        ),
        (
            {"monitoring": {"exporters": {"gpu": True}}},
            "'monitoring.exporters' must be left out: the cluster's 'node_setup' says what its nodes run",
        ),
        (
            {"monitoring": {"grafana": {}}},
            "'monitoring.grafana' must say who reaches Grafana, got nobody; give 'prefix_list_ids'",
        ),
        (
            {"monitoring": {"grafana": {"public_access": True, "authentication": ["AWS_SS0"]}}},
            "must be AWS_SSO or SAML, got 'AWS_SS0'; did you mean 'AWS_SSO'?",
        ),
        (
            {"monitoring": {"grafana": {"public_acess": True}}},
            "did you mean 'public_access'?",
        ),
        (
            {"monitoring": {}, "network": {"zone": "use1-az4", "nat": "none"}},
            "'monitoring' asks metrics to Amazon Managed Service for Prometheus at aps-workspaces.us-east-1",
        ),
    ],
)
def test_what_cannot_work_is_refused(write: Callable[[str], Path], sections: dict[str, Any], answer: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Deployment.load(changed(write, **sections))
    assert answer in str(refused.value)


@pytest.mark.parametrize(
    ("file", "name", "why"),
    [
        ("hyperpod-cpu-ddp", "EfaDrops", "no node has EFA"),
        ("hyperpod-cpu-ddp", "NeuronIdle", "no node has Neuron devices"),
        ("hyperpod-cpu-ddp", "GpuHot", "no node has GPUs"),
        ("parallelcluster-hello", "GpuHot", "no node has GPUs"),
        ("parallelcluster-hello", "EfaDrops", "no node has EFA"),
        ("parallelcluster-hello", "NeuronMemoryFault", "no node has Neuron devices"),
        ("fleet-p3dn-bert", "NeuronIdle", "a fleet has no Slurm"),
        ("fleet-p3dn-bert", "NeuronMemoryFault", "no node has Neuron devices"),
        ("fleet-p5-capacity-block", "ClusterSilent", "there may be no node"),
        ("fleet-p3dn-bert", "ClusterSilent", ""),
        ("fleet-p3dn-bert", "EfaDrops", ""),
        ("parallelcluster-trn1", "EfaDrops", ""),
        ("parallelcluster-trn1-ultracluster", "NeuronIdle", ""),
        ("hyperpod-trn1-llama2", "NeuronIdle", ""),
    ],
)
def test_an_alarm_on_devices_is_of_nodes_that_have_some(
    write: Callable[[str], Path], file: str, name: str, why: str
) -> None:
    content = yaml.safe_load((ROOT / "deployments" / f"{file}.yaml").read_text())
    if content["orchestrator"] == "hyperpod":
        content["cluster"] |= {"lifecycle": {"on_create": "on_create.sh"}}
    content["monitoring"] = {"alarms": {name: {"minutes": 30}}}
    path = write(yaml.safe_dump(content))
    if not why:
        Deployment.load(path)
        return
    with pytest.raises(ConfigurationError) as refused:
        Deployment.load(path)
    (problem,) = refused.value.problems
    assert problem.endswith(
        f"'monitoring.alarms.{name}' must be left out: the deployment does not make this alarm, as {why}"
    )


def test_an_alarm_of_an_exporter_that_is_switched_off_is_not_made(write: Callable[[str], Path]) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "fleet-p3dn-bert.yaml").read_text())
    content["monitoring"] = {"exporters": {"gpu": False}, "alarms": {"GpuHot": {"minutes": 30}}}
    with pytest.raises(ConfigurationError, match="this alarm, as 'gpu' of its exporters is false"):
        Deployment.load(write(yaml.safe_dump(content)))


def test_an_alarm_on_devices_that_jobs_have_is_not_made_without_slurm(write: Callable[[str], Path]) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "fleet-p3dn-bert.yaml").read_text())
    content["monitoring"] = {"exporters": {"gpu": True}, "alarms": {"GpuIdle": {"minutes": 30}}}
    with pytest.raises(ConfigurationError, match="does not make this alarm, as a fleet has no Slurm"):
        Deployment.load(write(yaml.safe_dump(content)))
    content["monitoring"]["alarms"] = {"GpuHot": {"minutes": 30}}
    rules = only(built(write(yaml.safe_dump(content))), "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"]
    assert "GpuHot" in rules
    assert "GpuIdle" not in rules


def test_ports_of_exporters_are_not_the_agents(write: Callable[[str], Path]) -> None:
    content = yaml.safe_load((DATA / "existing_workspace.yaml").read_text())
    content["cluster"]["node_setup"] = {"exporters": {"port": 8429}}
    with pytest.raises(ConfigurationError, match="must be another port than 8429, which the agent of the metrics has"):
        Deployment.load(write(yaml.safe_dump(content)))


def test_nodes_without_our_scripts_have_no_exporters(write: Callable[[str], Path]) -> None:
    content = yaml.safe_load((DATA / "existing_workspace.yaml").read_text())
    del content["cluster"]["lifecycle"]
    with pytest.raises(ConfigurationError, match="'monitoring' needs the project's own scripts on every group"):
        Deployment.load(write(yaml.safe_dump(content)))


def serving_stack(stacks: list[Stack]) -> Stack:
    return next(stack for stack in stacks if stack.node.id == "ServingStack")


def test_a_model_that_is_served_alone_has_a_workspace_of_its_own(write: Callable[[str], Path]) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "serving-inf2-vllm.yaml").read_text())
    section = {"alarms": {"EngineQueueing": {"threshold": 8}}, "grafana": {"public_access": True}}
    content |= {"monitoring": section, "alerts": {"emails": ["a@example.com"]}}
    template = Template.from_stack(serving_stack(build_stacks(App(), Deployment.load(write(yaml.safe_dump(content))))))
    workspace = only(template, "AWS::APS::Workspace")["Properties"]
    (topic,) = template.find_resources("AWS::SNS::Topic")
    assert topic in json.dumps(workspace["AlertManagerDefinition"])
    rules = only(template, "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"]
    assert "EngineSilent" in rules
    assert "> 8" in rules
    assert any("NatPorts1" in name for name in template.find_resources("AWS::CloudWatch::Alarm"))
    template.has_output("GrafanaAddress", {})
    shown = dashboards(template)
    assert shown.keys() == {"EnvironmentDashboard", "MonitoringDashboard", "DashboardsServing"}
    assert "vllm:kv_cache_usage_perc" in shown["DashboardsServing"]


@pytest.mark.parametrize(
    ("concurrency", "engine", "asked"),
    [
        (None, "{}", 32),
        ("{}", "{}", 7),  # of a batch of 4, four times as many come at a time
        ("{requests: 6}", "{}", 1),
        ("{requests: 4}", "{}", 0),
        ("{requests: 100}", "{}", 32),
        (None, "{kind: tgi, environment: {MAX_CONCURRENT_REQUESTS: '6'}}", 1),
    ],
)
def test_requests_that_wait_ring_where_a_limit_lets_so_many_wait(
    write: Callable[[str], Path], concurrency: str | None, engine: str, asked: int
) -> None:
    text = GOOD_SERVING.replace("engine:\n    kind: tgi", f"engine: {engine}")
    if concurrency:
        text = text.replace("load_balancer:\n", f"load_balancer:\n    concurrency: {concurrency}\n")
    path = write(f"{text}monitoring: {{alarms: {{EngineQueueing: {{minutes: 3}}}}}}\n")
    template = Template.from_stack(serving_stack(build_stacks(App(), Deployment.load(path))))
    groups = yaml.safe_load(only(template, "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"])["groups"]
    (rule,) = [each for group in groups for each in group["rules"] if each.get("alert") == "EngineQueueing"]
    assert (rule["expr"].rpartition(" > ")[2], rule["for"]) == (str(asked), "3m")


def test_what_another_engine_tells_is_neither_asked_nor_shown(write: Callable[[str], Path]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Deployment.load(write(f"{GOOD_SERVING}monitoring: {{alarms: {{KvCacheFull: {{threshold: 90}}}}}}\n"))
    assert refused.value.problems[0].endswith(
        "the deployment does not make this alarm, as 'kind' of 'engine' is tgi, which has no such metric"
    )
    path = write(f"{GOOD_SERVING}monitoring: {{}}\n")
    template = Template.from_stack(serving_stack(build_stacks(App(), Deployment.load(path))))
    rules = only(template, "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"]
    assert [name for name in ("EngineSilent", "KvCacheFull", "EnginePreempts") if name in rules] == ["EngineSilent"]
    assert "kv_cache_usage" not in dashboards(template)["DashboardsServing"]


def test_a_model_that_is_served_beside_a_cluster_shares_its_workspace(write: Callable[[str], Path]) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "serving-inf2-vllm.yaml").read_text())
    trained = yaml.safe_load((DATA / "existing_workspace.yaml").read_text())
    content |= {"region": "us-east-1", "orchestrator": "hyperpod", "cluster": trained["cluster"]}
    content["monitoring"] = {"grafana": {"public_access": True}}
    content["network"] = {"zone": "use1-az4", "service_zones": ["use1-az4", "use1-az6"]}
    content["serving"]["load_balancer"] |= {
        "certificate_arn": content["serving"]["load_balancer"]["certificate_arn"].replace("us-east-2", "us-east-1")
    }
    stacks = build_stacks(App(), Deployment.load(write(yaml.safe_dump(content))))
    served = Template.from_stack(serving_stack(stacks))
    served.resource_count_is("AWS::APS::Workspace", 0)
    served.resource_count_is("AWS::Grafana::Workspace", 0)
    assert "Fn::ImportValue" in json.dumps(only(served, "AWS::APS::RuleGroupsNamespace")["Properties"]["Workspace"])
    assert dashboards(served).keys() == {"MonitoringDashboard", "DashboardsServing"}
    queries = [
        statement["Resource"]
        for policy in served.find_resources("AWS::IAM::ManagedPolicy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "aps:QueryMetrics"
    ]
    assert len(queries) == 1
    assert "Fn::ImportValue" in queries[0]


EXISTING = {"workspace_arn": "arn:aws:aps:us-west-2:111111111111:workspace/ws-0123"}
SAID: dict[str, Any] = {
    "retention_days": 400,
    "key_arn": "arn:aws:kms:us-west-2:111111111111:key/55555555-89ab-cdef-0123-456789abcdef",
    "scrape_seconds": 60,
    "exporters": {"efa": False},
    "alarms": {"DiskFull": {"threshold": 5}},
    "own_alarms": {"LossIsNaN": {"expr": "train_loss != train_loss", "minutes": 5, "summary": "The loss is no number"}},
    "dashboards": False,
    "grafana": {"public_access": True},
}
CLUSTERS = {
    "hyperpod": (
        f"{GOOD}  lifecycle: {{ on_init_complete: on_init_complete.sh }}\n",
        {key: SAID[key] for key in SAID if key != "exporters"},
    ),
    "parallelcluster": (GOOD_PARALLELCLUSTER, SAID),
    "fleet": (GOOD_FLEET, SAID),
}
"""A cluster of each orchestrator, and every key of the section that it takes."""


@pytest.mark.parametrize("made", [True, False], ids=["made", "existing"])
@pytest.mark.parametrize("orchestrator", CLUSTERS)
def test_a_service_takes_whatever_is_said_of_a_cluster_s_metrics(
    write: Callable[[str], Path], orchestrator: str, made: bool
) -> None:
    good, said = CLUSTERS[orchestrator]
    served = yaml.safe_load(GOOD_SERVING)
    content = yaml.safe_load(good) | {name: served[name] for name in ("region", "network", "serving")}
    content |= {"monitoring": said if made else EXISTING}
    stack = serving_stack(build_stacks(App(), Deployment.load(write(yaml.safe_dump(content)))))
    assert stack.node.try_find_child("AlertRules")


def test_every_key_of_the_section_is_said_beside_a_service() -> None:
    of_updates = {"update_minutes"}  # of nodes of HyperPod alone
    keys = {"key_arn" if field.name == "key" else field.name for field in fields(MonitoringSection)}
    assert {*SAID, *EXISTING} == keys - of_updates


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_it_is_off_by_default(path: Path) -> None:
    assert Deployment.load(path).monitoring is None
