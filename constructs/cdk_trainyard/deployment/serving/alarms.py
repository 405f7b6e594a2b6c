"""What a served model's engine and load balancer make of alarms on the metrics of its tasks. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.monitoring.alarms import alarms
from cdk_trainyard.monitoring.spec import AlarmOverride
from cdk_trainyard.problems import Problem, within
from cdk_trainyard.serving.rules_concurrency import default_waiting, unreached_problems
from cdk_trainyard.tokens import unresolved

_SLOW: Final = "FirstTokenSlow"
_QUEUEING: Final = "EngineQueueing"


def never_ringing_problems(overrides: Sequence[AlarmOverride], section: ServingSection) -> Iterator[Problem]:
    """Check that thresholds can be exceeded: by the time a request may take, and by the requests that may wait.

    Args:
        overrides: What is other than in the table of alarms.
        section: What is served.
    """
    for override in overrides:
        if unresolved(override, override.name, override.threshold) or override.threshold is None:
            continue
        judged = {_SLOW: _slow_problems, _QUEUEING: _queueing_problems}.get(override.name)
        if judged is not None:
            yield from within((override.name, "threshold"), judged(override.threshold, section))


def _slow_problems(said: float, section: ServingSection) -> Iterator[Problem]:
    longest = None if unresolved(section.request_timeout) else section.request_timeout.to_seconds()
    if longest is not None and not unresolved(longest) and said >= longest:
        text = f"must be less than {longest:g} seconds, the longest that a request may take, got {said:.15g}"
        yield Problem((), f"{text}: such an alarm never rings")


def _queueing_problems(said: float, section: ServingSection) -> Iterator[Problem]:
    if not unresolved(section.load_balancer):
        limit = section.load_balancer.concurrency
        yield from unreached_problems(said, limit, section.engine, section.model, exceeded=True)


def of_engine(monitoring: MonitoringSection, section: ServingSection) -> MonitoringSection:
    """Return what is said of monitoring, with a threshold of requests that wait which as many as may wait exceed.

    Where they cannot exceed the table's, it is that of the alarm in CloudWatch, which rings at it and not above it.

    Args:
        monitoring: The section, in which nothing is wrong.
        section: What is served.
    """
    parts = section.load_balancer.concurrency, section.engine, section.model
    said = next((each for each in monitoring.alarms if each.name == _QUEUEING), AlarmOverride(name=_QUEUEING))
    usual = next(alarm.threshold or 0 for alarm in alarms() if alarm.name == _QUEUEING)
    if said.threshold is not None or not said.enabled or not any(unreached_problems(usual, *parts, exceeded=True)):
        return monitoring
    others = [each for each in monitoring.alarms if each.name != _QUEUEING]
    return replace(monitoring, alarms=[*others, replace(said, threshold=default_waiting(*parts) - 1)])
