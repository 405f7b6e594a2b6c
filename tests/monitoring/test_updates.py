"""Scheduled updates as PromQL: promtool is asked whether one runs, and what rings of nodes that are away is quiet."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, Stack

from cdk_trainyard import AlertRules, ConfigurationError, MetricsWorkspace
from cdk_trainyard.monitoring.alarms import alarms
from cdk_trainyard.monitoring.render import rule_groups
from cdk_trainyard.monitoring.spec import AlertRulesSpec
from cdk_trainyard.monitoring.updates import during
from tests.monitoring import promtool

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""A Thursday: promtool's clock begins there."""
HOURS = 2
BEGINS = {
    "cron(0 4 ? * SUN *)": ["1970-01-04 04:00", "1970-01-11 04:00"],
    "cron(30 23 ? * 7 *)": ["1970-01-03 23:30", "1970-01-10 23:30"],
    "cron(0 23 31 * ? *)": ["1970-01-31 23:00", "1970-03-31 23:00"],
    "cron(15 00 ? * L *)": ["1970-01-03 00:15"],
    "cron(0 3 ? * 3#2 *)": ["1970-01-13 03:00", "1970-02-10 03:00"],
    "cron(0 3 ? * 5L *)": ["1970-01-29 03:00", "1970-02-26 03:00"],
    "cron(0 3 1 */3 ? *)": ["1970-01-01 03:00", "1970-04-01 03:00"],
    "cron(59 23 31 12 ? 2026)": ["2026-12-31 23:59"],
}
"""Schedules, and when they begin, by the calendar."""
NEVER = {
    "cron(0 4 ? * SUN *)": ["1970-01-05 04:30"],
    "cron(0 23 31 * ? *)": ["1970-02-28 23:30", "1970-02-01 23:30"],
    "cron(15 00 ? * L *)": ["1970-01-01 00:30"],
    "cron(0 3 ? * 3#2 *)": ["1970-01-06 03:30", "1970-01-20 03:30"],
    "cron(0 3 ? * 5L *)": ["1970-01-22 03:30"],
    "cron(0 3 1 */3 ? *)": ["1970-02-01 03:30", "1970-03-01 03:30"],
    "cron(59 23 31 12 ? 2026)": ["2025-12-31 23:59", "2027-12-31 23:59"],
}
"""Days that look alike, on which they do not."""
AWAY = {alarm.name for alarm in alarms() if alarm.quiet_in_updates}
DEAD = 'slurm_node_unavailable{cluster="c",node="w1",state="down"}'
BROKEN = 'node_timex_sync_status{cluster="c",node="w1"}'
ERRORS = 'slurm_node_unavailable{cluster="c",node="w2",state="invalid"}'


def asked(schedule: str, moment: datetime, *, runs: bool) -> dict[str, Any]:
    expr = f"count({during(schedule, HOURS * 60)})"
    samples = [{"labels": "{}", "value": 1}] if runs else []
    return {"expr": expr, "eval_time": f"{(moment - EPOCH) // timedelta(minutes=1)}m", "exp_samples": samples}


def moments(schedule: str) -> list[dict[str, Any]]:
    """The minute before an update begins, its first, its last, the one after; and days that look alike."""
    found = []
    for text in BEGINS[schedule]:
        begins = datetime.fromisoformat(f"{text}+00:00")
        ends = begins + timedelta(hours=HOURS)
        minute = timedelta(minutes=1)
        if begins > EPOCH:
            found.append(asked(schedule, begins - minute, runs=False))
        found += [asked(schedule, moment, runs=True) for moment in (begins, ends - minute)]
        found.append(asked(schedule, ends, runs=False))
    for text in NEVER.get(schedule, []):
        found.append(asked(schedule, datetime.fromisoformat(f"{text}+00:00"), runs=False))
    return found


@pytest.mark.programs
def test_an_update_runs_from_its_minute_until_its_time_is_over_and_on_no_other_day(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"groups": []}
    files = {
        f"schedule-{number}": (rules, [{"interval": "1d", "promql_expr_test": moments(schedule)}])
        for number, schedule in enumerate(BEGINS)
    }
    assert promtool.failures(tmp_path, files) == {}


def rules(*schedules: str, minutes: int = 120) -> Any:
    spec = AlertRulesSpec(cluster_name="c", update_schedules=schedules, update_minutes=minutes)
    return yaml.load(rule_groups(spec), yaml.CSafeLoader)


def ringing(minute: int, *names: str) -> dict[str, Any]:
    found = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(names)]
    return {
        "expr": 'max by (alertname) (ALERTS{alertstate="firing",alertname=~"NodeDown|NodeInvalid"})',
        "eval_time": f"{minute}m",
        "exp_samples": found,
    }


@pytest.mark.programs
def test_a_node_that_is_away_rings_before_an_update_not_during_it_and_again_when_it_does_not_come(
    tmp_path: Path,
) -> None:
    """An update at 01:00 for two hours; a node with less than it should have rings all the while."""
    series = [{"series": name, "values": "1x300"} for name in (DEAD, ERRORS)]
    silence = {"series": 'up{cluster="c",job="agent"}', "values": "1x300"}
    test = {
        "interval": "1m",
        "input_series": [*series, silence],
        "promql_expr_test": [
            ringing(59, "NodeDown", "NodeInvalid"),
            ringing(60, "NodeInvalid"),
            ringing(179, "NodeInvalid"),
            ringing(180, "NodeInvalid"),
            ringing(181, "NodeDown", "NodeInvalid"),
        ],
    }
    assert promtool.failures(tmp_path, {"quiet": (rules("cron(0 1 ? * THU *)"), [test])}) == {}


@pytest.mark.programs
def test_a_cluster_that_falls_silent_because_its_controller_is_updated_rings_after_it(tmp_path: Path) -> None:
    def silent(minute: int, *, rings: bool) -> dict[str, Any]:
        labels = {"cluster": "c", "job": "agent", "severity": "critical"}
        alerts = [{"exp_labels": labels}] if rings else []
        return {"eval_time": f"{minute}m", "alertname": "ClusterSilent", "exp_alerts": alerts}

    minutes = ((100, False), (179, False), (184, False), (185, True))
    test = {"interval": "1m", "alert_rule_test": [silent(minute, rings=rings) for minute, rings in minutes]}
    written = rules("cron(0 1 ? * THU *)", "cron(0 0 ? * THU *)")
    for group in written["groups"]:
        for rule in group["rules"]:
            rule.pop("annotations", None)
    assert promtool.failures(tmp_path, {"silent": (written, [test])}) == {}


def changed(*schedules: str, minutes: int = 120) -> set[str]:
    """Alarms that ask something else with these schedules than without."""

    def asked(said: Any) -> dict[str, str]:
        return {rule["alert"]: rule["expr"] for group in said["groups"] for rule in group["rules"] if "alert" in rule}

    without = asked(rules())
    return {name for name, expr in asked(rules(*schedules, minutes=minutes)).items() if expr != without[name]}


def test_what_rings_of_nodes_that_are_away_is_quiet_and_faults_of_hardware_are_not() -> None:
    assert changed("cron(0 4 ? * SUN *)") == AWAY
    assert {"NodeDown", "ClusterSilent", "ExporterDown"} <= AWAY
    assert AWAY.isdisjoint({"NodeInvalid", "DiskReadOnly", "NeuronMemoryFault", "GpuFault", "MetricsLost"})
    assert changed("cron(0 4 ? * SUN *)", minutes=0) == set()


def test_what_is_no_schedule_of_updates_is_refused() -> None:
    stack = Stack(App(), "Stack")
    said = r"'update_schedules\[0\]' must be a cron expression of one minute, one hour.* got 'cron"
    with pytest.raises(ConfigurationError, match=said):
        AlertRules(
            stack,
            "Rules",
            workspace=MetricsWorkspace(stack, "Metrics"),
            cluster_name="c",
            update_schedules=["cron(0 4 ? * MON-FRI *)"],
        )
