"""Every alarm rings, is quiet and ends when it should, asked of Prometheus' own promtool."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.cli._app import COMMANDS
from cdk_trainyard.monitoring import AlarmOverride
from cdk_trainyard.monitoring.alarms import Alarm, alarm_names, alarms, records
from cdk_trainyard.monitoring.render import rule_groups
from cdk_trainyard.monitoring.spec import AlertRulesSpec
from tests.monitoring import promtool
from tests.monitoring.cases import CASES, Case

pytestmark = pytest.mark.programs
BY_NAME = {alarm.name: alarm for alarm in alarms()}


def rules(*overrides: AlarmOverride) -> dict[str, Any]:
    """The rules of cluster c, as the template has them, without what people read."""
    written = yaml.load(rule_groups(AlertRulesSpec(cluster_name="c", overrides=overrides)), yaml.CSafeLoader)
    for group in written["groups"]:
        for rule in group["rules"]:
            rule.pop("annotations", None)
    return dict(written)


def unit_test(alarm: Alarm, case: Case) -> dict[str, Any]:
    labels = {"cluster": "c", "severity": alarm.severity, **case.labels}
    if alarm.name == "ClusterSilent":
        labels["job"] = "agent"
    return {
        "interval": case.interval,
        "input_series": [{"series": series, "values": values} for series, values in case.series.items()],
        "alert_rule_test": [
            {
                "eval_time": f"{minute}m",
                "alertname": alarm.name,
                "exp_alerts": [{"exp_labels": labels}] if minute in case.rings else [],
            }
            for minute in sorted({*case.rings, *case.quiet})
        ],
    }


def unit_tests(names: Sequence[str]) -> list[dict[str, Any]]:
    return [unit_test(BY_NAME[name], case) for name in names for case in CASES[name]]


def test_every_alarm_has_its_cases_and_none_is_left_over() -> None:
    assert sorted(CASES) == sorted(alarm_names())


@pytest.mark.parametrize("name", alarm_names())
def test_its_cases_ring_are_quiet_and_end(name: str) -> None:
    cases = CASES[name]
    assert any(case.rings for case in cases)
    assert any(case.rings and max(case.quiet) > max(case.rings) for case in cases)
    assert all(case.quiet for case in cases)


def test_promtool_finds_nothing_wrong_with_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.yml"
    path.write_text(rule_groups(AlertRulesSpec(cluster_name="c")))
    checked = promtool.run("promtool", "check", "rules", "--lint-fatal", path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"{len(alarms()) + len(records())} rules found" in checked.stdout


def alone(name: str, *overrides: AlarmOverride) -> dict[str, Any]:
    """The rules of one alarm: what rings asks for no other rule."""
    found = (rule for group in rules(*overrides)["groups"] for rule in group["rules"] if rule.get("alert") == name)
    return {"groups": [{"name": "alone", "rules": list(found)}]}


@pytest.fixture(scope="module")
def unexpected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What promtool says of each alarm whose cases fail."""
    files = {name: (alone(name), unit_tests([name])) for name in alarm_names()}
    return promtool.failures(tmp_path_factory.mktemp("cases"), files)


@pytest.mark.parametrize("name", alarm_names())
def test_it_rings_when_it_should_and_not_else(name: str, unexpected: dict[str, str]) -> None:
    assert name not in unexpected, unexpected[name]


def mutations() -> list[tuple[str, AlarmOverride]]:
    """Another number, and other minutes, for every alarm that has some."""
    found = []
    for alarm in alarms():
        if alarm.threshold is not None:
            changed = {alarm.threshold * 1.05 + 0.001, alarm.threshold * 0.95 - 0.001}
            if alarm.threshold == 0:
                changed = {1e9, -1.0}
            found += [(alarm.name, AlarmOverride(name=alarm.name, threshold=number)) for number in sorted(changed)]
        minutes = {alarm.minutes + 1, alarm.minutes - 1} if alarm.minutes else {1}
        found += [(alarm.name, AlarmOverride(name=alarm.name, minutes=number)) for number in sorted(minutes)]
    return found


MUTATIONS = {f"{name}-{number}": (name, mutation) for number, (name, mutation) in enumerate(mutations())}


@pytest.fixture(scope="module")
def noticed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What promtool says of each mutation that it notices."""
    files = {key: (alone(name, mutation), unit_tests([name])) for key, (name, mutation) in MUTATIONS.items()}
    return promtool.failures(tmp_path_factory.mktemp("mutations"), files)


@pytest.mark.slow
@pytest.mark.parametrize("key", MUTATIONS)
def test_another_number_or_other_minutes_do_not_pass(key: str, noticed: dict[str, str]) -> None:
    name, mutation = MUTATIONS[key]
    assert key in noticed, f"no case of {name} notices {mutation}"
    assert f"alertname: {name}" in noticed[key]


def test_a_query_that_finds_nothing_and_one_that_always_does_are_noticed(tmp_path: Path) -> None:
    """The tests can fail, each with what is said of its own alarm."""
    files = {}
    for name in alarm_names():
        for what, expr in (("never", "vector(0) > 1"), ("always", "vector(1)")):
            changed = alone(name)
            changed["groups"][0]["rules"][0]["expr"] = expr
            files[f"{name}-{what}"] = (changed, unit_tests([name]))
    assert promtool.failures(tmp_path, files).keys() == files.keys()


@pytest.mark.parametrize("alarm", alarms(), ids=alarm_names())
def test_it_says_what_to_do_where_to_look_and_where_it_comes_from(alarm: Alarm) -> None:
    assert alarm.means
    assert alarm.do
    assert alarm.source
    assert alarm.date
    program, command, *_ = alarm.command.split()
    assert program == "trainyard"
    assert command in COMMANDS
    assert (alarm.threshold is None) == ("$threshold" not in alarm.expr)
    assert "$cluster" in alarm.expr
    if alarm.threshold is not None:
        assert alarm.bounds[0] <= alarm.threshold <= alarm.bounds[1]
        assert alarm.unit
