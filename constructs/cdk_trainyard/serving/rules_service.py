"""What a service needs of its hosts, its subnets and its bounds. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cdk_trainyard.serving.engine_settings import MANAGED_VARIABLES
from cdk_trainyard.serving.rollout import Rollout, hosts_needed
from cdk_trainyard.serving.scaling_values import ScalingMetric, ScalingSchedule, ServiceScaling
from cdk_trainyard.tokens import unresolved

_WHEN = re.compile(r"cron\(\S+( \S+){5}\)|at\(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\)")
_VOLUME_MIB_S = (125, 1000)
_TIMEOUT_SECONDS = (30, 3600)


def tasks_problems(tasks: int, scaling: ServiceScaling | None) -> list[str]:
    """Check the number of tasks against its bounds."""
    if unresolved(tasks):
        return []
    if tasks < 0:
        return [f"'tasks' must be 0 or more, got {tasks}"]
    if scaling is None or unresolved(scaling.min_tasks, scaling.max_tasks):
        return []
    if not scaling.min_tasks <= tasks <= scaling.max_tasks and scaling.min_tasks <= scaling.max_tasks:
        return [
            (
                f"'tasks' must be between 'min_tasks' {scaling.min_tasks} and 'max_tasks' {scaling.max_tasks} of "
                f"'scaling', "
                f"got {tasks}; use {min(max(tasks, scaling.min_tasks), scaling.max_tasks)}, or widen the bounds"
            )
        ]
    return []


def hosts_problems(max_hosts: int, rollout: Rollout, tasks: int, scaling: ServiceScaling | None) -> list[str]:
    """Check that there may be as many hosts as tasks and a deployment need: a host holds one task."""
    if unresolved(max_hosts, tasks):
        return []
    most = max(tasks, scaling.max_tasks) if scaling and not unresolved(scaling.max_tasks) else tasks
    problems = []
    if max_hosts < most:
        problems.append(
            f"'max_hosts' must be {most} or more, one for each task, got {max_hosts}; raise it, or lower the tasks"
        )
    elif max_hosts < hosts_needed(rollout, most):
        problems.append(
            f"'max_hosts' must be {hosts_needed(rollout, most)} or more for 'rollout' {rollout} of {most} tasks, got "
            f"{max_hosts}; raise it, or use 'rollout' {Rollout.ROLLING if most > 1 else Rollout.RECREATE}"
        )
    if rollout is Rollout.ROLLING and tasks == 1:
        problems.append(
            "'rollout' rolling must have 2 tasks or more, got 1: there is no host for the new task while the old one "
            "runs; use recreate or surge"
        )
    return problems


def scaling_problems(scaling: ServiceScaling | None) -> list[str]:
    """Check bounds, target and schedules."""
    if scaling is None:
        return []
    return [*_bounds(scaling), *_target(scaling), *_schedules(scaling.schedules)]


def volume_problems(volume_mib_s: int) -> list[str]:
    """Check the root volume's throughput: what gp3 gives with 4 IOPS for each MiB/s."""
    low, high = _VOLUME_MIB_S
    if unresolved(volume_mib_s) or low <= volume_mib_s <= high:
        return []
    return [f"'volume_mib_s' must be {low} to {high}, got {volume_mib_s}; use 500"]


def timeout_problems(request_seconds: int) -> list[str]:
    """Check the longest request: a load balancer's target group waits for an hour at most."""
    low, high = _TIMEOUT_SECONDS
    if unresolved(request_seconds) or low <= request_seconds <= high:
        return []
    return [f"'request_timeout' must be {low} to {high} seconds, got {request_seconds}; use 600"]


def subnet_problems(keyword: str, zones: Sequence[str], least: int) -> list[str]:
    """Check that there are subnets in enough zones."""
    if len(zones) < least:
        return [f"{keyword!r} must be {least} or more subnets, got {len(zones)}"]
    known = [zone for zone in zones if not unresolved(zone)]
    if len(known) == len(zones) and len(set(known)) < least:
        return [f"{keyword!r} must be in {least} zones or more, got {', '.join(sorted(set(known)))}"]
    return []


def environment_problems(environment: Mapping[str, str]) -> list[str]:
    """Check that no secret is written as text: it would stand in the template and in the console."""
    return [
        f"'environment' must not hold {name}: it would stand in the template; "
        f"use {'hub_token' if name == 'HF_TOKEN' else 'DoorAuthentication.api_key'}"
        for name in MANAGED_VARIABLES
        if name in environment
    ]


def _bounds(scaling: ServiceScaling) -> Iterator[str]:
    low, high = scaling.min_tasks, scaling.max_tasks
    if unresolved(low, high):
        return
    if low < 1:
        metric = (
            "the load balancer counts no request per task"
            if scaling.metric is ScalingMetric.ALB_REQUESTS
            else "no engine reports a queue"
        )
        yield (
            f"'min_tasks' must be 1 or more with metric {scaling.metric}, got {low}: without a task {metric}, so "
            f"nothing "
            f"would start one; use 1, and 'schedules' for the hours without any"
        )
    if high < max(1, low):
        yield f"'max_tasks' must be {max(1, low)} or more, got {high}"


def _target(scaling: ServiceScaling) -> Iterator[str]:
    if scaling.target is not None and not unresolved(scaling.target) and scaling.target <= 0:
        yield f"'target' must be more than 0, got {scaling.target:g}"
    if not unresolved(scaling.cooldown_seconds) and scaling.cooldown_seconds < 0:
        yield f"'cooldown_seconds' must be 0 or more, got {scaling.cooldown_seconds}"


def _schedules(schedules: Sequence[ScalingSchedule]) -> Iterator[str]:
    names = [schedule.name for schedule in schedules]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"'schedules' must have different names, got {name!r} {names.count(name)} times"
    for schedule in schedules:
        if not 0 <= schedule.min_tasks <= schedule.max_tasks:
            yield (
                f"schedule {schedule.name!r}: 'min_tasks' must be 0 to 'max_tasks' {schedule.max_tasks}, "
                f"got {schedule.min_tasks}"
            )
        elif schedule.min_tasks == 0 < schedule.max_tasks:
            yield (
                f"schedule {schedule.name!r}: 'min_tasks' must be 1 or more, or 'max_tasks' 0 as well, got 0 and "
                f"{schedule.max_tasks}: from zero tasks no metric starts one"
            )
        if not unresolved(schedule.schedule) and not _WHEN.fullmatch(schedule.schedule):
            yield (
                f"schedule {schedule.name!r}: 'schedule' must be as 'cron(0 20 ? * MON-FRI *)' or "
                f"'at(2026-12-24T18:00:00)', "
                f"got {schedule.schedule!r}"
            )
    if any(schedule.max_tasks == 0 for schedule in schedules) and not any(each.min_tasks > 0 for each in schedules):
        yield "'schedules' must bring tasks back after a schedule to zero, got none with 'min_tasks' 1 or more"
