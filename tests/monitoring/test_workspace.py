"""The workspace, whom it tells, and what of it CloudFormation is given."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard import AlarmOverride, AlarmSeverity, AlertRules, ConfigurationError, MetricsSource, MetricsWorkspace
from cdk_trainyard.monitoring.alarms import Alarm, alarm_names, alarms, records
from cdk_trainyard.monitoring.render import alertmanager_configuration
from cdk_trainyard.monitoring.rules import override_problems
from cdk_trainyard.monitoring.yaml_text import yaml_text
from tests.monitoring import promtool
from tools import alarms as alarm_table

REGION = "us-west-2"
TOPIC = f"arn:aws:sns:{REGION}:111111111111:alarms"
WORKSPACE = f"arn:aws:aps:{REGION}:111111111111:workspace/ws-0123"


def new_stack() -> Stack:
    return Stack(App(), "Stack", env=Environment(account="111111111111", region=REGION))


def only(template: Template, kind: str) -> dict[str, Any]:
    (found,) = template.find_resources(kind).values()
    return dict(found)


def text(value: Any) -> str:
    """A property as text, with the name of what is referred to in its place."""
    if isinstance(value, str):
        return value
    parts = value["Fn::Join"][1]
    return "".join(part if isinstance(part, str) else str(next(iter(part.values()))) for part in parts)


def test_a_workspace_is_kept_and_tells_a_topic_with_a_key() -> None:
    stack = new_stack()
    topic = sns.Topic(stack, "Topic", master_key=kms.Key(stack, "Key"))
    AlertRules(stack, "Rules", workspace=MetricsWorkspace(stack, "Metrics"), topic=topic, cluster_name="llama2")
    template = Template.from_stack(stack)
    workspace = only(template, "AWS::APS::Workspace")
    assert workspace["DeletionPolicy"] == "RetainExceptOnCreate"
    assert workspace["UpdateReplacePolicy"] == "Retain"
    assert workspace["Properties"]["WorkspaceConfiguration"] == {
        "RetentionPeriodInDays": 150,
        "OutOfOrderTimeWindowInSeconds": 600,
    }
    template.has_resource_properties(
        "AWS::SNS::TopicPolicy",
        {
            "PolicyDocument": {
                "Statement": [
                    {
                        "Sid": "AlarmsOfMetrics",
                        "Effect": "Allow",
                        "Principal": {"Service": "aps.amazonaws.com"},
                        "Action": ["sns:Publish", "sns:GetTopicAttributes"],
                        "Condition": {
                            "StringEquals": {"aws:SourceAccount": "111111111111"},
                            "ArnEquals": {"aws:SourceArn": Match.any_value()},
                        },
                    }
                ]
            }
        },
    )
    statements = only(template, "AWS::KMS::Key")["Properties"]["KeyPolicy"]["Statement"]
    assert [each["Principal"] for each in statements if each.get("Sid") == "AlarmsOfMetrics"] == [
        {"Service": "aps.amazonaws.com"}
    ]
    definition = yaml.safe_load(text(workspace["Properties"]["AlertManagerDefinition"]))
    configuration = yaml.safe_load(definition["alertmanager_config"])
    (receiver,) = configuration["receivers"][0]["sns_configs"]
    assert receiver["topic_arn"] == "TopicBFC7AF6E"
    assert configuration["route"]["group_by"] == ["cluster", "alertname"]
    assert set(definition["template_files"]) == set(configuration["templates"])


@pytest.mark.parametrize("existing", [True, False])
def test_a_topic_that_keeps_its_own_policy_is_a_warning(*, existing: bool) -> None:
    stack = new_stack()
    topic = sns.Topic.from_topic_arn(stack, "Topic", TOPIC) if existing else sns.Topic(stack, "Topic")
    MetricsWorkspace(stack, "Metrics").tell(topic)
    expected = (
        "the policy of the topic cannot be changed from here (Stack/Topic): let aps.amazonaws.com publish and read its "
        "attributes (sns:Publish, sns:GetTopicAttributes), and use the key that encrypts it, or no alarm on metrics "
        "arrives [ack: @cdk-trainyard/monitoring:topic-policy]"
    )
    found = Annotations.from_stack(stack).find_warning("/Stack/Metrics", Match.any_value())
    assert [one.entry.data for one in found] == [expected] * existing


def test_alertmanager_takes_its_configuration(tmp_path: Path) -> None:
    path = tmp_path / "alertmanager.yml"
    path.write_text(yaml_text(alertmanager_configuration(TOPIC, REGION)))
    (tmp_path / "trainyard").write_text("")
    checked = promtool.run("amtool", "check-config", path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "4 inhibit rules" in checked.stdout


def test_rules_are_of_one_cluster_and_of_the_metrics_there_are() -> None:
    stack = new_stack()
    workspace = MetricsWorkspace(stack, "Metrics")
    made = AlertRules(
        stack, "Rules", workspace=workspace, cluster_name="llama2", sources=[MetricsSource.SLURM, MetricsSource.NODE]
    )
    written = yaml.safe_load(made.rules)
    asked = [rule for group in written["groups"] for rule in group["rules"]]
    there = {"agent", "slurm", "node"}
    assert {rule["alert"] for rule in asked if "alert" in rule} == {
        alarm.name for alarm in alarms() if there.issuperset(alarm.asked)
    }
    assert {rule["record"] for rule in asked if "record" in rule} == {
        record.name for record in records() if record.needs in there
    }
    assert all('cluster="llama2"' in rule["expr"] for rule in asked)
    assert "$" not in "".join(rule["expr"] for rule in asked)
    assert only(Template.from_stack(stack), "AWS::APS::RuleGroupsNamespace")["Properties"]["Name"] == "trainyard-llama2"


def test_long_names_are_cut_to_what_cloudformation_takes() -> None:
    stack = Stack(App(), "Stack", stack_name="a" * 128)
    AlertRules(stack, "Rules", workspace=MetricsWorkspace(stack, "Metrics"), cluster_name="b" * 100)
    template = Template.from_stack(stack)
    assert len(only(template, "AWS::APS::Workspace")["Properties"]["Alias"]) == 100
    name = only(template, "AWS::APS::RuleGroupsNamespace")["Properties"]["Name"]
    assert len(name) == 64
    assert name.startswith(f"trainyard-{'b' * 45}-")


def test_what_is_said_of_an_alarm_counts() -> None:
    stack = new_stack()
    rules = AlertRules(
        stack,
        "Rules",
        workspace=MetricsWorkspace.from_workspace_arn(stack, "Metrics", WORKSPACE),
        cluster_name="c",
        overrides=[
            AlarmOverride(name="DiskFull", threshold=5, minutes=30, severity=AlarmSeverity.CRITICAL),
            AlarmOverride(name="GpuHot", enabled=False),
        ],
    )
    asked = {rule.get("alert"): rule for group in yaml.safe_load(rules.rules)["groups"] for rule in group["rules"]}
    assert "GpuHot" not in asked
    assert asked["DiskFull"]["for"] == "30m"
    assert asked["DiskFull"]["expr"].endswith("< 5")
    assert asked["DiskFull"]["labels"] == {"severity": "critical"}


@pytest.mark.parametrize(
    ("override", "answer"),
    [
        (
            AlarmOverride(name="DiskFul"),
            "got 'DiskFul'; did you mean 'DiskFull'?",
        ),
        (
            AlarmOverride(name="GpuXid"),
            "got 'GpuXid'; did you mean 'GpuFault'?",
        ),
        (
            AlarmOverride(name="DiskFull", threshold=95),
            "threshold' must be 1 to 90 percent free, got 95",
        ),
        (
            AlarmOverride(name="NodeDown", threshold=1),
            "must be left out: NodeDown compares with no number; 'minutes' says how long",
        ),
        (
            AlarmOverride(name="GpuHot", threshold=80, enabled=False),
            "'overrides.GpuHot.enabled' must be true beside what else is said of the alarm, or stand alone, got false",
        ),
        (
            AlarmOverride(name="GpuHot", minutes=2000),
            "'overrides.GpuHot.minutes' must be 0 to 1440 minutes, got 2000",
        ),
        (
            AlarmOverride(name="OutOfMemory", minutes=10),
            "minutes, got 10: OutOfMemory sees an event for 10 minutes, and would not ring for one",
        ),
        (AlarmOverride(name="EngineSilent", minutes=1440), "must be less than 120 minutes, got 1440"),
        (AlarmOverride(name="LustreEvicted", minutes=30), "must be less than 15 minutes, got 30"),
        (AlarmOverride(name="LustreEvicted", minutes=30, threshold=1200), "must be less than 20 minutes, got 30"),
        (
            AlarmOverride(name="NeuronIdle", threshold=100),
            "must be less than 100 percent of use, got 100: nothing is more, and NeuronIdle asks whether something is",
        ),
        (AlarmOverride(name="EfaRetransmits", threshold=100), "must be less than 100 percent of packets, got 100"),
    ],
)
def test_an_override_that_makes_no_sense_is_refused(override: AlarmOverride, answer: str) -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError) as refused:
        AlertRules(stack, "Rules", workspace=MetricsWorkspace(stack, "Metrics"), cluster_name="c", overrides=[override])
    assert answer in str(refused.value)


@pytest.mark.parametrize("alarm", alarms(), ids=alarm_names())
def test_an_alarm_of_what_lasts_has_no_bound_of_minutes_and_that_of_an_event_rings_for_one(alarm: Alarm) -> None:
    seen = alarm.remembered(None)
    assert seen is None or alarm.minutes < seen
    said = 1440 if seen is None else int(seen) - 1
    assert not [*override_problems([AlarmOverride(name=alarm.name, minutes=said)])]


def test_an_alarm_is_said_once() -> None:
    stack = new_stack()
    twice = [AlarmOverride(name="GpuHot", threshold=80), AlarmOverride(name="GpuHot", threshold=90)]
    with pytest.raises(ConfigurationError, match="must be said once, got 'GpuHot' again"):
        AlertRules(stack, "Rules", workspace=MetricsWorkspace(stack, "Metrics"), cluster_name="c", overrides=twice)


def test_a_workspace_that_exists_is_written_to_and_tells_whom_its_owner_says() -> None:
    stack = new_stack()
    workspace = MetricsWorkspace.from_workspace_arn(stack, "Metrics", WORKSPACE)
    assert stack.resolve(workspace.remote_write_url) == {
        "Fn::Join": [
            "",
            [
                f"https://aps-workspaces.{REGION}.",
                {"Ref": "AWS::URLSuffix"},
                "/workspaces/ws-0123/api/v1/remote_write",
            ],
        ]
    }
    with pytest.raises(ConfigurationError, match="'topic' must be left out for a workspace that exists"):
        AlertRules(stack, "Rules", workspace=workspace, topic=sns.Topic(stack, "Topic"), cluster_name="c")


def test_a_workspace_tells_one_topic() -> None:
    stack = new_stack()
    workspace, topic = MetricsWorkspace(stack, "Metrics"), sns.Topic(stack, "Topic")
    workspace.tell(topic)
    workspace.tell(topic)
    with pytest.raises(ConfigurationError, match="it has one alert manager"):
        workspace.tell(sns.Topic(stack, "Other"))


def test_writers_write_and_readers_read_this_workspace_alone() -> None:
    stack = new_stack()
    workspace = MetricsWorkspace(stack, "Metrics")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    workspace.grant_remote_write(role)
    workspace.grant_query(role)
    statements = only(Template.from_stack(stack), "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"]
    assert [each["Action"] for each in statements] == [
        "aps:RemoteWrite",
        ["aps:QueryMetrics", "aps:GetSeries", "aps:GetLabels", "aps:GetMetricMetadata"],
    ] or json.dumps(statements).count("aps:") == 5
    assert "*" not in json.dumps([each["Resource"] for each in statements])


@pytest.mark.parametrize(
    "value",
    [
        {"a": "1", "b": {"c": ["x: y", {"d": 1, "e": "# no comment"}, ["f"]]}, "g": [], "h": {}},
        {"text": "two\nlines\n  and a margin\n", "kept": True, "none": None},
        ["yes", "{{ template }}", 'a "quoted" one', "it's", 'both "of" it\'s\\', "°C", "a\ttab"],
    ],
)
def test_what_is_written_as_yaml_is_read_as_the_same(value: Any) -> None:
    assert yaml.safe_load(yaml_text(value)) == value


def test_the_table_in_the_readme_is_made_of_the_alarms() -> None:
    page = alarm_table.PAGE.read_text()
    assert alarm_table.renewed(page) == page
    assert all(f"`{alarm.name}`" in page for alarm in alarms())


def test_what_tells_of_a_fault_is_an_alarm_and_every_alarm_tells_of_one() -> None:
    _, _, rest = alarm_table.PAGE.read_text().partition("### What fails, and what tells\n")
    told = set(re.findall(r"`([A-Z][A-Za-z]+\d?)`", rest.partition("\n## ")[0]))
    cloudwatch = {"DatabaseBusy", "DatabaseFull", "FileSystemBusy", "FileSystemFull", "NatPorts1", "NatDrops1"}
    others = {"FileServer", "OwnAlarm", "ServiceMonitoring"}
    assert told - cloudwatch - others == {alarm.name for alarm in alarms()}
