"""What a service needs of its hosts and its bounds, and its alarms of it. Pure."""

from collections.abc import Iterator, Mapping

from cdk_trainyard.problems import Problem, option
from cdk_trainyard.serving.rollout import hosts_needed, least_tasks, most_tasks
from cdk_trainyard.serving.rules_schedules import schedules_problems
from cdk_trainyard.serving.spec_service import (
    MonitoringSpec,
    Rollout,
    ScalingMetric,
    ServiceScaling,
    ServiceSpec,
    ServingHosts,
)
from cdk_trainyard.tokens import unresolved

_TIMEOUT_SECONDS = (30, 3600)
_NO_METRIC: Mapping[ScalingMetric, str] = {
    ScalingMetric.ALB_REQUESTS: "the load balancer counts no request per task",
    ScalingMetric.QUEUE: "no engine reports a queue",
}


def tasks_problems(hosts: ServingHosts, scaling: ServiceScaling | None) -> Iterator[Problem]:
    """Check the number of tasks against its bounds."""
    if scaling is None or unresolved(hosts.tasks, scaling, scaling.min_tasks, scaling.max_tasks):
        return
    low, high = scaling.min_tasks, scaling.max_tasks
    if low <= high and not low <= hosts.tasks <= high:
        nearest = min(max(hosts.tasks, low), high)
        text = f"must be {low} to {high} as 'scaling' says, got {hosts.tasks}; use {nearest}, or widen the bounds"
        yield Problem(("hosts", "tasks"), text)


def hosts_problems(hosts: ServingHosts, scaling: ServiceScaling | None) -> Iterator[Problem]:
    """Check that there may be as many hosts as tasks and a deployment need: a host holds one task."""
    if most_hosts_at_once(hosts, scaling) is None:
        return
    most, rollout, got = most_tasks(hosts, scaling), hosts.rollout, hosts.max_hosts
    if got is not None and not unresolved(got):
        needed, at = hosts_needed(rollout, most), ("hosts", "max_hosts")
        if got < most:
            yield Problem(at, f"must be {most} or more, one for each task, got {got}; raise it, or lower the tasks")
        elif got < needed:
            other = Rollout.ROLLING if least_tasks(hosts, scaling) > 1 else Rollout.RECREATE
            text = f"must be {needed} or more for {option('rollout')} {rollout} of {most} tasks, got {got}"
            yield Problem(at, f"{text}; raise it, or use {option('rollout')} {other}")
    least = least_tasks(hosts, scaling)
    if rollout is Rollout.ROLLING and least == 1:
        by = "" if hosts.tasks == 1 else " by 'scaling'"
        text = f"must be recreate or surge for a single task, got rolling with 1{by}"
        why = "there is no host for the new task while the old one runs, and no deployment would end"
        yield Problem(("hosts", "rollout"), f"{text}: {why}; keep 2 tasks or more, or use recreate or surge")


def most_hosts_at_once(hosts: ServingHosts, scaling: ServiceScaling | None) -> int | None:
    """Return how many hosts there are at most, while a new version replaces the old one; None when it is not known."""
    bounds = () if scaling is None else (scaling, scaling.schedules, *_bounds(scaling))
    if unresolved(hosts, hosts.tasks, hosts.rollout, *bounds):
        return None
    return hosts_needed(hosts.rollout, most_tasks(hosts, scaling))


def _bounds(scaling: ServiceScaling) -> Iterator[int]:
    yield from (scaling.min_tasks, scaling.max_tasks)
    for schedule in scaling.schedules:
        yield from (schedule.min_tasks, schedule.max_tasks)


def scaling_problems(scaling: ServiceScaling) -> Iterator[Problem]:
    """Check bounds, target and schedules."""
    low, high = scaling.min_tasks, scaling.max_tasks
    if not unresolved(low) and low < 1:
        metric = "" if unresolved(scaling.metric) else f" with metric {scaling.metric}"
        why = f"without a task {_NO_METRIC.get(scaling.metric, 'there is no metric')}, so nothing would start one"
        text = f"must be 1 or more{metric}, got {low}: {why}"
        yield Problem(("min_tasks",), f"{text}; use 1, and {option('schedules')} for the hours without any")
    if not unresolved(low, high) and high < max(1, low):
        yield Problem(("max_tasks",), f"must be {max(1, low)} or more, got {high}")
    if scaling.target is not None and not unresolved(scaling.target) and scaling.target <= 0:
        yield Problem(("target",), f"must be more than 0, got {scaling.target:.15g}")
    yield from schedules_problems(scaling.schedules)


def timeout_problems(spec: ServiceSpec) -> Iterator[Problem]:
    """Check the longest request: a load balancer's target group waits for an hour at most."""
    low, high = _TIMEOUT_SECONDS
    if unresolved(spec.request_timeout):
        return
    seconds = spec.request_timeout.to_seconds()
    if not unresolved(seconds) and not low <= seconds <= high:
        yield Problem(("request_timeout",), f"must be {low} to {high} seconds, got {seconds:g}")


def monitoring_problems(spec: MonitoringSpec, request_seconds: float | None) -> Iterator[Problem]:
    """Check that every threshold can be reached, and is more than nothing: an alarm at 0 never rests.

    Args:
        spec: The thresholds.
        request_seconds: The longest that a request may take. None: not known.
    """
    for name in ("latency_seconds", "waiting", "error_percent"):
        value = getattr(spec, name)
        if value is not None and not unresolved(value) and value <= 0:
            yield Problem((name,), f"must be more than 0, got {value:.15g}")
    latency = spec.latency_seconds
    if latency is None or request_seconds is None or unresolved(latency, request_seconds):
        return
    if latency > request_seconds:
        text = f"must be at most {request_seconds:g}, the longest that a request may take, got {latency:.15g}"
        yield Problem(("latency_seconds",), f"{text}: such an alarm never rings")
