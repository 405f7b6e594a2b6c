"""How a new version takes the place of the old one, on hosts that hold one task each."""

from dataclasses import dataclass

from cdk_trainyard.serving.spec_service import Rollout, ServiceScaling, ServingHosts


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthyPercent:
    """What ECS keeps during a deployment, in percent of the desired tasks."""

    minimum: int
    maximum: int


def healthy_percent(rollout: Rollout, tasks: int) -> HealthyPercent:
    """Return the percentages of ``rollout``.

    Args:
        rollout: The way.
        tasks: The least number of tasks: ECS rounds what must stay up, and nothing would be left to be replaced.
    """
    match rollout:
        case Rollout.RECREATE:
            return HealthyPercent(minimum=0, maximum=100)
        case Rollout.ROLLING:
            return HealthyPercent(minimum=100 * max(0, tasks - 1) // max(1, tasks), maximum=100)
        case Rollout.SURGE:
            return HealthyPercent(minimum=100, maximum=200)


def hosts_needed(rollout: Rollout, tasks: int) -> int:
    """Return how many hosts a deployment of that many tasks needs."""
    return 2 * tasks if rollout is Rollout.SURGE else tasks


def least_tasks(hosts: ServingHosts, scaling: ServiceScaling | None) -> int:
    """Return the smallest number of tasks, but for none, that a deployment may find."""
    if scaling is None:
        return hosts.tasks
    bounds = [scaling.min_tasks, *(each.min_tasks for each in scaling.schedules if each.max_tasks)]
    return min(hosts.tasks, *bounds)


def most_tasks(hosts: ServingHosts, scaling: ServiceScaling | None) -> int:
    """Return the largest number of tasks that there may be."""
    if scaling is None:
        return hosts.tasks
    return max(hosts.tasks, scaling.max_tasks, *(each.max_tasks for each in scaling.schedules))


def most_hosts(hosts: ServingHosts, scaling: ServiceScaling | None) -> int:
    """Return the largest number of hosts: what was said, or what tasks and rollout need.

    A group whose largest size is zero is nothing that ECS can scale.
    """
    needed = max(1, hosts_needed(hosts.rollout, most_tasks(hosts, scaling)))
    return needed if hosts.max_hosts is None else hosts.max_hosts
