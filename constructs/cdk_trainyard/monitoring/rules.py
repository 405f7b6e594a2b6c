"""What is wrong with what was said of monitoring: pure functions, silent about Tokens. No CDK."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Final

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import asked, did_you_mean
from cdk_trainyard.monitoring.alarms import Alarm, alarm_names, alarms
from cdk_trainyard.monitoring.promql import can_parse, taken_for_a_value, taken_for_a_variable, unreadable
from cdk_trainyard.monitoring.render import own_rule
from cdk_trainyard.monitoring.spec import (
    AlarmOverride,
    AlertRulesSpec,
    GrafanaAuthentication,
    GrafanaSaml,
    GrafanaWorkspaceSpec,
    OwnAlarm,
)
from cdk_trainyard.monitoring.templates import is_open, lacks_newer, template_fault
from cdk_trainyard.monitoring.updates import UPDATE_SCHEDULE, is_update_schedule
from cdk_trainyard.problems import At, Problem, either, option, shown, within
from cdk_trainyard.tokens import unresolved

_LITERAL: Final = re.compile(r"""-?[0-9.]+|"[^"]*"|'[^']*'""")
_NAME_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_OFFERED: Final = "the AWS General Reference, 'Amazon Managed Grafana endpoints and quotas'"
_WHOLE: Final = 100
"""Percent of all there is."""
_MOST_LISTED: Final = 5
"""Prefix lists, and endpoints (AWS::Grafana::Workspace NetworkAccessControl, ``maxItems``)."""


def alert_rules_problems(spec: AlertRulesSpec) -> Iterator[Problem]:
    """Yield everything that is wrong with the alarms of a cluster.

    Args:
        spec: What was said.
    """
    if not unresolved(spec.overrides):
        yield from within(("overrides",), override_problems(spec.overrides))
    if not unresolved(spec.own_alarms):
        yield from within(("own_alarms",), own_alarm_problems(spec.own_alarms))
    if not unresolved(spec.update_schedules):
        yield from within(("update_schedules",), schedule_problems(spec.update_schedules))


def schedule_problems(schedules: Sequence[str]) -> Iterator[Problem]:
    """Check that each says when an update begins, as HyperPod takes it.

    Args:
        schedules: When nodes are updated.
    """
    for number, schedule in enumerate(schedules):
        if unresolved(schedule):
            yield Problem((number,), "must be known when rules are made: they ask for its hours and days")
        elif not is_update_schedule(schedule):
            yield Problem((number,), f"{UPDATE_SCHEDULE}, got {shown(schedule)}")


def override_problems(overrides: Sequence[AlarmOverride], offered: Sequence[str] | None = None) -> Iterator[Problem]:
    """Check that each names an alarm, once, and compares it with a number that makes sense.

    Args:
        overrides: What is other than in the table.
        offered: The alarms that may be meant. Default - all.
    """
    names = offered or alarm_names()
    seen: set[str] = set()
    for override in overrides:
        if unresolved(override.name):
            continue
        known = next((alarm for alarm in alarms() if alarm.name == override.name), None)
        at: At = (override.name,)
        if known is None:
            text = f"must be an alarm: {either(names, all_in='the table of alarms')}, got {shown(override.name)}"
            yield Problem(at, f"{text}{_meant(override.name, names)}", of_key=True)
        elif override.name in seen:
            yield Problem(at, f"must be said once, got {shown(override.name)} again", of_key=True)
        elif not unresolved(override):
            yield from within(at, _threshold_problems(override, known))
            yield from within(at, _minutes_problems(override, known))
        seen.add(override.name)


def _meant(name: str, offered: Sequence[str]) -> str:
    """Return the one alarm that has all words of a name, in its own or in its metrics, else the nearest as a question.

    Args:
        name: A name that no alarm has.
        offered: The alarms that may be meant.
    """
    words = [word.lower() for word in re.findall(_NAME_WORD, name)]
    told = {alarm.name: f"{alarm.name} {alarm.expr}".lower() for alarm in alarms() if alarm.name in offered}
    found = [each for each, text in told.items() if words and all(word in text for word in words)]
    return asked(name, found) if len(found) == 1 else did_you_mean(name, offered)


def own_alarm_problems(own: Sequence[OwnAlarm], *, changes: str = "overrides") -> Iterator[Problem]:
    """Check that alarms beside the table have names of their own, and that promtool, where there is one, reads them.

    Args:
        own: The alarms.
        changes: What changes those of the table, where these are said.
    """
    readable: dict[str, OwnAlarm] = {}
    for alarm in own:
        if unresolved(alarm) or unresolved(*(getattr(alarm, field.name) for field in fields(alarm))):
            continue
        at: At = (alarm.name,)
        if alarm.name in alarm_names():
            text = f"must be no name of the table of alarms: {shown(changes)} change those, got {shown(alarm.name)}"
            yield Problem(at, text, of_key=True)
        elif alarm.name in readable:
            yield Problem(at, f"must be said once, got {shown(alarm.name)} again", of_key=True)
        elif empty := next((name for name in ("expr", "summary") if not getattr(alarm, name).strip()), None):
            yield Problem((*at, empty), f"must say something, got {shown(getattr(alarm, empty))}")
        elif is_open(alarm.summary):
            yield Problem((*at, "summary"), f"must close each '{{{{' with '}}}}', got {shown(alarm.summary)}")
        elif wrong := _misused(alarm.expr):
            yield Problem((*at, "expr"), wrong)
        else:
            readable[alarm.name] = alarm
    yield from _reading_problems(readable)


def _misused(expr: str) -> str | None:
    """Return what is wrong with PromQL that Prometheus may read, or that is not yet what it reads."""
    if _LITERAL.fullmatch(expr.strip()):
        return f"must ask for a metric, got {shown(expr)}"
    if value := taken_for_a_value(expr):
        text = f"must have '$cluster' as it is between braces, got {shown(value)}: it is a whole matcher"
        return f"{text}; write {{$cluster}}"
    if instead := taken_for_a_variable(expr):
        text = "must have '$cluster' between the braces of a selector, since it is a matcher"
        return f"{text}, got {shown(expr)}; {instead}"
    if "{{resolve:" in expr:
        return f"must be without '{{{{resolve:', which CloudFormation takes for a reference, got {shown(expr)}"
    return None


def _reading_problems(readable: Mapping[str, OwnAlarm]) -> Iterator[Problem]:
    """Ask promtool, where there is one; elsewhere, and of the place, what can be seen without it."""
    unread, asked = unreadable({name: own_rule(alarm, "c") for name, alarm in readable.items()}), can_parse()
    for name, alarm in readable.items():
        said = unread.get(name, {})
        told = said.get("summary", "")
        fault = template_fault(alarm.summary) if told or not asked else None
        if fault or (told and not lacks_newer(told)):
            text = f"must be a template of Prometheus, got {shown(alarm.summary)}: {fault or told}"
            yield Problem((name, "summary"), text)
        if "expr" in said:
            yield Problem((name, "expr"), f"must be PromQL, got {shown(alarm.expr)}: {said['expr']}")


def grafana_problems(spec: GrafanaWorkspaceSpec, region: str | None) -> Iterator[Problem]:
    """Check that Amazon Managed Grafana is offered, that users can sign in, and that somebody reaches it.

    Args:
        spec: What was said.
        region: Where it will be. None: that is not known.
    """
    data = load("monitoring", "grafana_regions")
    if region is not None and not unresolved(region) and region not in data["regions"]:
        offered = sorted(
            data["regions"], key=lambda other: other.split("-")[0] != region.split("-")[0]
        )  # nearest first
        why = f"Amazon Managed Grafana is offered in {either(offered, all_in=_OFFERED)}"
        if region in data["without_type"]:
            why = "CloudFormation has no AWS::Grafana::Workspace there"
        text = f"must be left out in {region}: {why}"
        yield Problem((), f"{text}; Grafana of your own imports the same dashboards")
        return
    yield from _access_problems(spec)
    if unresolved(spec.authentication, *spec.authentication):
        return
    saml = GrafanaAuthentication.SAML
    if not spec.authentication:
        text = f"must name {either(GrafanaAuthentication)}, got nothing: nobody could sign in"
        yield Problem(("authentication",), text)
    elif spec.saml is not None and saml not in spec.authentication:
        yield Problem(("saml",), f"must be left out, or {option('authentication')} must name {saml}")
    if spec.saml is not None and not unresolved(spec.saml, spec.saml.admin_roles) and not spec.saml.admin_roles:
        yield Problem(("saml", "admin_roles"), "must name one or more, got none: nobody could administer Grafana")
    yield from _role_problems(spec.saml)


def _role_problems(saml: GrafanaSaml | None) -> Iterator[Problem]:
    """Check that each role says one thing of its users."""
    if saml is None or unresolved(saml, saml.admin_roles, saml.editor_roles):
        return
    for index, role in enumerate(saml.editor_roles):
        if not unresolved(role) and role in saml.admin_roles:
            text = f"must be none of {option('admin_roles')}, got {shown(role)}; leave it out of one of the two"
            yield Problem(("saml", "editor_roles", index), text)


def _access_problems(spec: GrafanaWorkspaceSpec) -> Iterator[Problem]:
    listed = {name: getattr(spec, name) for name in ("prefix_list_ids", "vpc_endpoint_ids")}
    if unresolved(spec.public_access, *listed.values()):
        return
    for name, ids in listed.items():
        if ids and spec.public_access:
            yield Problem((name,), f"must be left out beside {option('public_access')}: every address reaches it")
        elif len(ids) > _MOST_LISTED:
            yield Problem((name,), f"must name {_MOST_LISTED} at most, got {len(ids)}")
    if not spec.public_access and not any(listed.values()):
        ways = f"give {option('prefix_list_ids')} or {option('vpc_endpoint_ids')}, or {option('public_access')}"
        yield Problem((), f"must say who reaches Grafana, got nobody; {ways}")


def _threshold_problems(override: AlarmOverride, alarm: Alarm) -> Iterator[Problem]:
    said = override.threshold
    if override.enabled is False:
        others = (said, override.minutes, override.severity)
        if any(value is not None and not unresolved(value) for value in others):
            yield Problem(("enabled",), "must be true beside what else is said of the alarm, or stand alone, got false")
    elif said is None or unresolved(said):
        return
    elif alarm.threshold is None:
        yield Problem(
            ("threshold",), f"must be left out: {alarm.name} compares with no number; {option('minutes')} says how long"
        )
    elif not alarm.bounds[0] <= said <= alarm.bounds[1]:
        least, most = (f"{bound:.15g}" for bound in alarm.bounds)
        yield Problem(("threshold",), f"must be {least} to {most} {alarm.unit}, got {said:.15g}")
    elif alarm.unit.startswith("percent") and said == _WHOLE:
        text = f"must be less than {_WHOLE} {alarm.unit}, got {said:.15g}"
        yield Problem(("threshold",), f"{text}: nothing is more, and {alarm.name} asks whether something is")


def _minutes_problems(override: AlarmOverride, alarm: Alarm) -> Iterator[Problem]:
    """Check that what a single event leaves is seen for longer than it must hold."""
    minutes, threshold = override.minutes, override.threshold
    if minutes is None or override.enabled is False or unresolved(minutes, threshold):
        return
    if threshold is not None and not alarm.bounds[0] <= threshold <= alarm.bounds[1]:
        return  # that is said
    seen = alarm.remembered(threshold)
    if seen is not None and minutes >= seen:
        text = (
            f"must be less than {seen:.15g} minutes, got {minutes}: {alarm.name} sees an event for {seen:.15g} minutes"
        )
        yield Problem(("minutes",), f"{text}, and would not ring for one")
