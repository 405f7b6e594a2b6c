"""The table of alarms, and of what is recorded for dashboards: each row with its source. No CDK.

``data/alarms.json`` is what everything is made of: the rules in the template, the table in the documentation, and the
unit tests by promtool.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Final

from cdk_trainyard.data_files import load
from cdk_trainyard.monitoring.promql import windows

_SINCE: Final = "time() - "


@dataclass(frozen=True, kw_only=True, slots=True)
class Alarm:
    """One alarm.

    Attributes:
        name: Its name: ``alertname`` of what it rings with.
        severity: ``critical``: somebody is needed now; ``warning``: in working hours.
        needs: Whose metrics it asks: ``agent``, ``slurm``, ``node``, ``efa``, ``neuron`` or ``gpu``.
        beside: Whose metrics it asks, too: without them it never rings. Default - nobody's.
        expr: PromQL, with ``$cluster`` where the cluster is chosen and ``$threshold`` where a number is compared.
        minutes: How long that must hold.
        threshold: The number. None: there is none to choose.
        bounds: The least and the greatest number that makes sense.
        unit: What the number counts.
        quiet_in_updates: Whether it rings of nodes that are away, and so is quiet while they are updated.
        summary: What it says, in a line; a template of Prometheus.
        means: What is the matter then.
        do: What to do.
        command: The command of ``trainyard`` that shows where.
        source: Where threshold and minutes come from.
        date: The day that was read.
    """

    name: str
    severity: str
    needs: str
    expr: str
    minutes: int
    threshold: float | None
    summary: str
    means: str
    do: str
    command: str
    source: str
    date: str
    bounds: tuple[float, float] = (0, 0)
    unit: str = ""
    beside: str = ""
    quiet_in_updates: bool = False

    @property
    def asked(self) -> Sequence[str]:
        """Whose metrics there must be for it to ring."""
        return (self.needs, self.beside) if self.beside else (self.needs,)

    def query(self, cluster: str, threshold: float | None) -> str:
        """Return the PromQL for a cluster.

        Args:
            cluster: The cluster's name.
            threshold: The number that is compared with. None: the alarm's own.
        """
        number = self.threshold if threshold is None else threshold
        return _written(self.expr, cluster, "" if number is None else f"{number:g}")

    def remembered(self, threshold: float | None) -> float | None:
        """Return the minutes for which a single event is seen; None where what it asks must last.

        An alarm that waits longer than its query looks back at, or as long, is one of what lasts.

        Args:
            threshold: The number that is compared with. None: the alarm's own.
        """
        seconds = [*windows(self.expr).values()]
        if self.expr.startswith(_SINCE) and self.expr.endswith("< $threshold"):
            seconds.append((self.threshold if threshold is None else threshold) or 0)
        minutes = min(seconds, default=0) / 60
        return None if self.minutes >= minutes else minutes


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A recording rule: a series of a cluster that dashboards ask often.

    Attributes:
        name: The name of the series.
        needs: Whose metrics it asks.
        expr: PromQL, with ``$cluster`` where the cluster is chosen.
    """

    name: str
    needs: str
    expr: str

    def query(self, cluster: str) -> str:
        """Return the PromQL for a cluster.

        Args:
            cluster: The cluster's name.
        """
        return _written(self.expr, cluster, "")


@cache
def alarms() -> Sequence[Alarm]:
    """Return every alarm, in the order of the table."""
    rows = load("monitoring", "alarms")["alarms"]
    return tuple(Alarm(**row | {"bounds": tuple(row.get("bounds", (0, 0)))}) for row in rows)


@cache
def records() -> Sequence[Record]:
    """Return every recording rule."""
    return tuple(Record(**row) for row in load("monitoring", "alarms")["records"])


@cache
def alarm_names() -> Sequence[str]:
    """Return the names of all alarms."""
    return tuple(alarm.name for alarm in alarms())


def _written(expr: str, cluster: str, threshold: str) -> str:
    return Template(expr).substitute(cluster=f'cluster="{cluster}"', threshold=threshold)
