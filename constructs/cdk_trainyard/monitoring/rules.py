"""What is wrong with what was said of monitoring: pure functions, silent about Tokens. No CDK."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.monitoring.alarms import Alarm, alarm_names, alarms
from cdk_trainyard.monitoring.promql import unreadable
from cdk_trainyard.monitoring.render import own_rule
from cdk_trainyard.monitoring.spec import AlarmOverride, AlertRulesSpec, OwnAlarm
from cdk_trainyard.problems import At, Problem, either, option, shown, within
from cdk_trainyard.tokens import unresolved


def alert_rules_problems(spec: AlertRulesSpec) -> Iterator[Problem]:
    """Yield everything that is wrong with the alarms of a cluster.

    Args:
        spec: What was said.
    """
    if not unresolved(spec.overrides):
        yield from within(("overrides",), override_problems(spec.overrides))
    if not unresolved(spec.own_alarms):
        yield from within(("own_alarms",), own_alarm_problems(spec.own_alarms))


def override_problems(overrides: Sequence[AlarmOverride]) -> Iterator[Problem]:
    """Check that each names an alarm, once, and compares it with a number that makes sense.

    Args:
        overrides: What is other than in the table.
    """
    seen: set[str] = set()
    for override in overrides:
        if unresolved(override, override.name):
            continue
        known = next((alarm for alarm in alarms() if alarm.name == override.name), None)
        at: At = (override.name,)
        if known is None:
            names = alarm_names()
            text = f"must be an alarm: {either(names, all_in='the table of alarms')}, got {shown(override.name)}"
            yield Problem(at, f"{text}{did_you_mean(override.name, names)}", of_key=True)
        elif override.name in seen:
            yield Problem(at, f"must be said once, got {shown(override.name)} again", of_key=True)
        else:
            yield from within(at, _threshold_problems(override, known))
        seen.add(override.name)


def own_alarm_problems(own: Sequence[OwnAlarm]) -> Iterator[Problem]:
    """Check that alarms beside the table have names of their own, and that promtool, where there is one, reads them.

    Args:
        own: The alarms.
    """
    readable: dict[str, OwnAlarm] = {}
    for alarm in own:
        if unresolved(alarm, *(getattr(alarm, field.name) for field in fields(alarm))):
            continue
        at: At = (alarm.name,)
        if alarm.name in alarm_names():
            text = (
                f"must be no name of the table of alarms: {option('overrides')} change those, got {shown(alarm.name)}"
            )
            yield Problem(at, text, of_key=True)
        elif alarm.name in readable:
            yield Problem(at, f"must be said once, got {shown(alarm.name)} again", of_key=True)
        elif empty := next((name for name in ("expr", "summary") if not getattr(alarm, name).strip()), None):
            yield Problem((*at, empty), "must say something, got ''")
        else:
            readable[alarm.name] = alarm
    for name, why in unreadable({name: own_rule(alarm, "c") for name, alarm in readable.items()}).items():
        yield Problem((name, "expr"), f"must be PromQL, got {shown(readable[name].expr)}: promtool says {why}")


def _threshold_problems(override: AlarmOverride, alarm: Alarm) -> Iterator[Problem]:
    said = override.threshold
    if override.enabled is False:
        if any(value is not None for value in (said, override.minutes, override.severity)):
            yield Problem(("enabled",), "must be true beside what else is said of the alarm, or stand alone, got false")
    elif said is None or unresolved(said):
        return
    elif alarm.threshold is None:
        yield Problem(
            ("threshold",), f"must be left out: {alarm.name} compares with no number; {option('minutes')} says how long"
        )
    elif not alarm.bounds[0] <= said <= alarm.bounds[1]:
        least, most = (f"{bound:g}" for bound in alarm.bounds)
        yield Problem(("threshold",), f"must be {least} to {most} {alarm.unit}, got {said:g}")
