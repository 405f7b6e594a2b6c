"""What may surprise about alarms without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Collection, Iterator, Sequence

from cdk_trainyard.monitoring.alarms import alarms
from cdk_trainyard.monitoring.promql import asked_of_cluster, clusters_named
from cdk_trainyard.monitoring.spec import AlarmOverride, MetricsSource, OwnAlarm
from cdk_trainyard.problems import Warned, warned

_OF_SLURM = "slurm_"
"""How all metrics of Slurm begin (lifecycle_scripts/lib/slurm_metrics.py)."""
_FREE, _HALF = "percent free", 50
"""The unit of alarms that ring at less than their threshold, and what of it most likely is meant the other way."""


def override_warnings(overrides: Sequence[AlarmOverride]) -> Iterator[Warned]:
    """Yield alarms of the table that ring when little is used.

    Args:
        overrides: What is other than in the table, in which nothing is wrong.
    """
    free = {alarm.name for alarm in alarms() if alarm.unit == _FREE}
    for each in overrides:
        if each.name in free and each.threshold is not None and each.threshold > _HALF:
            text = f"the alarm {each.name} rings where less than {each.threshold:g} percent are free"
            text += f"; for {each.threshold:g} percent that are used, write {100 - each.threshold:g}"
            yield from warned("monitoring", "rings-early", [text])


def of_slurm(alarm: OwnAlarm) -> str | None:
    """Return a metric of the cluster's Slurm that an alarm asks for, or None.

    Args:
        alarm: The alarm.
    """
    return next((name for name in asked_of_cluster(alarm.expr) if name.startswith(_OF_SLURM)), None)


def own_alarm_warnings(
    own: Sequence[OwnAlarm],
    sources: Collection[MetricsSource],
    *,
    shared: bool,
    is_mistaken: Callable[[str], bool],
) -> Iterator[Warned]:
    """Yield what may surprise about alarms beside the table.

    Args:
        own: The alarms, in which nothing is wrong.
        sources: Whose metrics there are.
        shared: Whether other clusters may write to the workspace.
        is_mistaken: Whether a name is taken for the label ``cluster`` of this cluster's metrics, and is another.
    """
    for alarm in own:
        metric = of_slurm(alarm)
        if metric and MetricsSource.SLURM not in sources:
            text = f"the alarm {alarm.name} asks for {metric}, and nothing here gives metrics of Slurm"
            text += ": it never rings, unless something of yours writes them; leave it out"
            yield from warned("monitoring", "no-slurm", [text])
        named = clusters_named(alarm.expr)
        if mistaken := next(filter(is_mistaken, named or ()), None):
            text = f"the alarm {alarm.name} asks for cluster={mistaken}, and the label of this cluster's metrics is"
            yield from warned("monitoring", "other-cluster", [f"{text} another; write {{$cluster}} in its place"])
        elif shared and named == []:
            text = f"the alarm {alarm.name} asks for the metrics of every cluster of the workspace, and rings of all"
            text += "; write {$cluster} behind its metrics for those of this one"
            yield from warned("monitoring", "every-cluster", [text])
