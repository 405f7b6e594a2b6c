"""What may surprise about alarms without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from cdk_trainyard.monitoring.alarms import alarms
from cdk_trainyard.monitoring.promql import asked_of_cluster, clusters_named, has_always_a_value
from cdk_trainyard.monitoring.spec import AlarmOverride, AlarmSeverity, MetricsSource, OwnAlarm
from cdk_trainyard.problems import Warned, warned

_OF_NODES: Final[Mapping[str, tuple[MetricsSource, str, str]]] = {
    "slurm_": (MetricsSource.SLURM, "@cdk-trainyard/monitoring:no-slurm", "nothing here gives metrics of Slurm"),
    "DCGM_": (MetricsSource.GPU, "@cdk-trainyard/monitoring:no-gpu", "nothing here gives metrics of GPUs"),
    "lustre_": (MetricsSource.LUSTRE, "@cdk-trainyard/monitoring:no-lustre", "nothing here gives metrics of Lustre"),
    "node_amazonefa": (MetricsSource.EFA, "@cdk-trainyard/monitoring:no-efa", "nothing here gives metrics of EFA"),
    "neuron": (MetricsSource.NEURON, "@cdk-trainyard/monitoring:no-neuron", "nothing here gives metrics of Neuron"),
}
"""How metrics begin that nodes of a cluster alone have, whose they are, and what is said where there are none
(lifecycle_scripts/lib: slurm_metrics.py, lustre_metrics.py, efa_metrics.py and neuron_metrics.py; NVIDIA, DCGM
Exporter, ``default-counters.csv``)."""
_OF_ENGINES: Final[Mapping[str, tuple[MetricsSource, str, str]]] = {
    "vllm:": (MetricsSource.VLLM, "@cdk-trainyard/monitoring:no-vllm", "what serves here is not vLLM"),
    "tgi_": (MetricsSource.TGI, "@cdk-trainyard/monitoring:no-tgi", "what serves here is not TGI"),
}
"""The same of engines, where something is served."""
_FREE, _HALF = "percent free", 50
"""The unit of alarms that ring at less than their threshold, and what of it most likely is meant the other way."""


def override_warnings(overrides: Sequence[AlarmOverride]) -> Iterator[Warned]:
    """Yield alarms of the table that ring when little is used, or at the hundredth part of what may be meant.

    Args:
        overrides: What is other than in the table, in which nothing is wrong.
    """
    units = {alarm.name: alarm.unit for alarm in alarms()}
    for each in overrides:
        unit = units[each.name]
        if each.threshold is None:
            continue
        if unit == _FREE and each.threshold > _HALF:
            text = f"the alarm {each.name} rings where less than {each.threshold:g} percent are free"
            text += f"; for {each.threshold:g} percent that are used, write {100 - each.threshold:g}"
            yield from warned("monitoring", "rings-early", [text])
        elif unit.startswith("percent") and 0 < each.threshold < 1:
            text = f"'threshold' {each.threshold:g} of the alarm {each.name} counts {unit}, and is less than one"
            text += f"; for {100 * each.threshold:g} percent, write {100 * each.threshold:g}"
            yield from warned("monitoring", "part-of-percent", [text])


def of_nodes(alarm: OwnAlarm) -> str | None:
    """Return a metric that an alarm asks for and that nodes of a cluster alone have, or None.

    Args:
        alarm: The alarm.
    """
    return next((name for name in asked_of_cluster(alarm.expr) if name.startswith(tuple(_OF_NODES))), None)


def untold_warnings(own: Sequence[OwnAlarm], *, told: bool) -> Iterator[Warned]:
    """Yield, once, that nobody hears of alarms that somebody is needed for at once.

    Args:
        own: The alarms beside the table.
        told: Whether somebody is told of alarms.
    """
    if not told and any(alarm.severity is AlarmSeverity.CRITICAL for alarm in own):
        text = "nobody is told of alarms, and some of 'own_alarms' are critical"
        text += "; a file names in 'alerts' who is, and Python gives 'topic'"
        yield from warned("monitoring", "nobody-told", [text])


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
    known = {**_OF_NODES, **(_OF_ENGINES if MetricsSource.ENGINE in sources else {})}
    for alarm in own:
        asked = (
            (metric, begins) for metric in asked_of_cluster(alarm.expr) for begins in known if metric.startswith(begins)
        )
        metric, begins = next(asked, ("", ""))
        if begins and known[begins][0] not in sources:
            _, slug, none = known[begins]
            text = f"the alarm {alarm.name} asks for {metric}, and {none}"
            text += ": it never rings, unless something of yours writes them; leave it out"
            yield Warned((), slug, text)
        if has_always_a_value(alarm.expr):
            text = f"the alarm {alarm.name} rings as long as there is such a metric, whatever its value is"
            yield from warned("monitoring", "rings-always", [f"{text}; compare it with a number, without bool"])
        named = clusters_named(alarm.expr)
        if mistaken := next(filter(is_mistaken, named or ()), None):
            text = f"the alarm {alarm.name} asks for cluster={mistaken}, and the label of this cluster's metrics is"
            yield from warned("monitoring", "other-cluster", [f"{text} another; write {{$cluster}} in its place"])
        elif shared and named == []:
            text = f"the alarm {alarm.name} asks for the metrics of every cluster of the workspace, and rings of all"
            text += "; write {$cluster} behind its metrics for those of this one"
            yield from warned("monitoring", "every-cluster", [text])
