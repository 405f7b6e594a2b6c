"""What an update does to the resources of templates: decided here once, for the plan and for the review."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.report.updates.effects import Effect, PlanRow
from cdk_trainyard.report.updates.resources import plan_resources
from cdk_trainyard.report.updates.running import with_running
from cdk_trainyard.report.updates.subnets import with_kept_inside

__all__ = ["Effect", "PlanRow", "plan_templates"]


def plan_templates(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[PlanRow]:
    """Return what happens to every resource but ParallelClusters, which ParallelCluster itself judges.

    Args:
        old: Stack to its template, before.
        new: Stack to its template, after.
    """
    return [*with_kept_inside(with_running(plan_resources(old, new), old, new), old, new)]
