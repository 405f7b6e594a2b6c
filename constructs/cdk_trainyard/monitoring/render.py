"""Alarms in the words of Prometheus and Alertmanager. Nothing is decided here."""

from collections.abc import Iterator, Mapping
from typing import Final

from cdk_trainyard.json_value import JsonObject, JsonValue
from cdk_trainyard.monitoring.alarms import Alarm, alarms, records
from cdk_trainyard.monitoring.spec import OF_ENGINES, AlarmOverride, AlertRulesSpec, MetricsSource, OwnAlarm
from cdk_trainyard.monitoring.updates import outside
from cdk_trainyard.monitoring.yaml_text import yaml_text

AGENT: Final = "agent"
"""Whose metrics there always are, where one agent writes for all nodes; tasks that serve come and go with theirs."""
_LARGEST_GROUP: Final = 20
"""Rules of a group: quota "Rules per rule group" (Amazon Managed Service for Prometheus user guide, "Service quotas",
read 2026-11)."""
_OF_TASKS: Final = {each.value for each in (*OF_ENGINES, MetricsSource.NODE)}
_MUTED_BY_SILENCE: Final = "ClusterSilent"
_MUTED_BY_SLURM: Final = "SlurmctldDown"
_MUTED_BY_NODE: Final = "NodeDown"
_MUTED_BY_ENGINE: Final = "EngineSilent"
_SUBJECT: Final = (
    '{{ define "trainyard.subject" }}[{{ .Status | toUpper }}] {{ .CommonLabels.alertname }} of '
    "{{ .CommonLabels.cluster }}{{ with .Alerts.Firing }} ({{ len . }}){{ end }}{{ end }}\n"
)
"""It says how many ring; of what has ended it says no number: Prometheus tells of it again for a quarter of an hour."""
_MESSAGE: Final = (
    '{{ define "trainyard.message" }}{{ range .Alerts }}{{ .Status }}, {{ .Labels.severity }}: '
    "{{ .Annotations.summary }}\n"
    "  {{ .Annotations.description }}\n"
    "  Do: {{ .Annotations.runbook }}\n"
    "  Look: {{ .Annotations.command }}\n"
    "{{ end }}{{ end }}\n"
)


def rule_groups(spec: AlertRulesSpec) -> str:
    """Return recording and alerting rules of a cluster, as a rules file of Prometheus.

    Args:
        spec: The cluster, whose metrics there are, and what is other than in the table.
    """
    sources = {MetricsSource(source).value for source in spec.sources}
    if MetricsSource.ENGINE not in sources or sources - _OF_TASKS:
        sources.add(AGENT)
    changed = {override.name: override for override in spec.overrides}
    groups: dict[str, list[JsonValue]] = {}
    for record in records():
        if record.needs in sources:
            groups.setdefault("records", []).append({"record": record.name, "expr": record.query(spec.cluster_name)})
    for alarm in alarms():
        override = changed.get(alarm.name)
        if sources.issuperset(alarm.asked) and (override is None or override.enabled):
            groups.setdefault(alarm.needs, []).append(_rule(alarm, override, spec))
    for first in range(0, len(spec.own_alarms), _LARGEST_GROUP):
        some = spec.own_alarms[first : first + _LARGEST_GROUP]
        name = f"own-{first // _LARGEST_GROUP + 1}" if first else "own"
        groups[name] = [own_rule(alarm, spec.cluster_name) for alarm in some]
    named: list[JsonValue] = [{"name": f"{spec.cluster_name}-{name}", "rules": rules} for name, rules in groups.items()]
    return yaml_text({"groups": named})


def alert_manager(topic_arn: str, region: str) -> str:
    """Return the definition of an alert manager that tells a topic.

    Alerts of one kind of one cluster are one message: a rack that dies is not eighteen. What follows from another
    alert is muted while that one rings.

    Args:
        topic_arn: ARN of the topic.
        region: The Region of topic and workspace.
    """
    return yaml_text(
        {
            "template_files": {"trainyard": _SUBJECT + _MESSAGE},
            "alertmanager_config": yaml_text(alertmanager_configuration(topic_arn, region)),
        }
    )


def alertmanager_configuration(topic_arn: str, region: str) -> JsonObject:
    """Return what Alertmanager is configured with.

    Args:
        topic_arn: ARN of the topic.
        region: The Region.
    """
    receiver: JsonObject = {
        "topic_arn": topic_arn,
        "sigv4": {"region": region},
        "subject": '{{ template "trainyard.subject" . }}',
        "message": '{{ template "trainyard.message" . }}',
        "send_resolved": True,
        "attributes": {"severity": "{{ .CommonLabels.severity }}", "alarm": "{{ .CommonLabels.alertname }}"},
    }
    return {
        "templates": ["trainyard"],
        "route": {
            "receiver": "topic",
            "group_by": ["cluster", "alertname"],
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": "12h",
        },
        "inhibit_rules": [*_inhibitions()],
        "receivers": [{"name": "topic", "sns_configs": [receiver]}],
    }


def _inhibitions() -> Iterator[JsonObject]:
    """Say what follows from what: nobody wants to hear of a dead node's full disk."""
    yield _inhibition(_MUTED_BY_SILENCE, ["cluster"])
    of_slurm = 'alertname=~"NodeDown|NodeAwaited|NodeDrained|NodeInvalid|JobsStarving"'
    yield _inhibition(_MUTED_BY_SLURM, ["cluster"], of_slurm)
    yield _inhibition(_MUTED_BY_NODE, ["cluster", "node"])
    yield _inhibition(_MUTED_BY_ENGINE, ["cluster", "task"])


def _inhibition(source: str, equal: list[str], *targets: str) -> Mapping[str, JsonValue]:
    return {
        "source_matchers": [f'alertname="{source}"'],
        "target_matchers": [f'alertname!="{source}"', *targets],
        "equal": equal,
    }


def own_rule(alarm: OwnAlarm, cluster: str) -> JsonObject:
    """Return the rule of an alarm that the table does not have.

    Args:
        alarm: What was said.
        cluster: The cluster's name.
    """
    return {
        "alert": alarm.name,
        "expr": alarm.expr.replace("$cluster", f'cluster="{cluster}"'),
        "for": f"{alarm.minutes}m",
        "labels": {"severity": alarm.severity.value},
        "annotations": {
            "summary": alarm.summary,
            "description": "an alarm of your own",
            "runbook": "what its author says",
            "command": "trainyard status FILE",
        },
    }


def _rule(alarm: Alarm, override: AlarmOverride | None, spec: AlertRulesSpec) -> JsonObject:
    threshold = override.threshold if override else None
    minutes = alarm.minutes if override is None or override.minutes is None else override.minutes
    severity = alarm.severity if override is None or override.severity is None else override.severity.value
    expr = alarm.query(spec.cluster_name, threshold)
    if alarm.quiet_in_updates:
        expr = outside(expr, spec.update_schedules, spec.update_minutes)
    return {
        "alert": alarm.name,
        "expr": expr,
        "for": f"{minutes}m",
        "labels": {"severity": severity},
        "annotations": {
            "summary": alarm.summary,
            "description": alarm.means,
            "runbook": alarm.do,
            "command": alarm.command,
        },
    }
