"""The ``monitoring:`` section. No CDK."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Annotated, Any

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.lifecycle.spec import Exporters
from cdk_trainyard.monitoring.promql import clusters_named, too_short
from cdk_trainyard.monitoring.rules import grafana_problems, override_problems, own_alarm_problems
from cdk_trainyard.monitoring.spec import (
    AlarmOverride,
    ClusterMonitoringSpec,
    GrafanaWorkspaceSpec,
    MetricsWorkspaceSpec,
    OwnAlarm,
    OwnAlarmsSpec,
)
from cdk_trainyard.monitoring.warnings import of_nodes
from cdk_trainyard.network.rules import no_prometheus
from cdk_trainyard.options.arns import WORKSPACE
from cdk_trainyard.options.fields import ByName
from cdk_trainyard.problems import Problem, option, within
from cdk_trainyard.tokens import unresolved


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitoringSection(OwnAlarmsSpec, ClusterMonitoringSpec, MetricsWorkspaceSpec):
    """Metrics in Amazon Managed Service for Prometheus, and alarms on them that tell whom ``alerts`` names."""

    workspace_arn: Annotated[
        str | None,
        # AWS::APS::RuleGroupsNamespace: made by the workspace's id, in the account of its stack
        replace(WORKSPACE, any_account=False),
    ] = None
    """A workspace of yours instead; its own alert manager tells whom its owner says. Default - one is made, and kept
    when its stack goes."""
    alarms: Annotated[Sequence[AlarmOverride], ByName()] = ()
    """What is other than in the table of alarms, by the alarm's name. Default - nothing."""
    dashboards: bool = True
    """Whether CloudWatch has dashboards on metrics of the cluster, and of what serves, of which each costs by the
    month. Default: true."""
    grafana: GrafanaWorkspaceSpec | None = None
    """A workspace of Amazon Managed Grafana that looks at the metrics. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeMetrics:
    """What the nodes of a cluster give metrics of, as far as a file says it.

    Attributes:
        exporters: What they were said to run. None: nothing was said.
        types: Their types; none where one of them is not known.
        absent: What else there are no metrics of, each with the reason.
        updated: Whether some are updated on a schedule.
    """

    exporters: Exporters | None
    types: Sequence[InstanceType] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    updated: bool = False


def types_of(*parts: Any) -> Sequence[InstanceType]:
    """Return the types that parts of a section name; none when one of them is not known.

    Args:
        parts: The parts, of whatever form.
    """
    said = [(getattr(part, "instance_type", None), *getattr(part, "instance_types", ())) for part in parts]
    names = [name for name in chain.from_iterable(said) if name is not None]
    if unresolved(*parts, *names, *(getattr(part, "instance_types", None) for part in parts)):
        return []
    found = [InstanceType.find(name) for name in names]
    return [known for known in found if known] if None not in found else []


def scrape_seconds(monitoring: MonitoringSection | None) -> int | None:
    """Return how many seconds lie between two samples. None: metrics go nowhere.

    Args:
        monitoring: The section, of whatever form.
    """
    return None if monitoring is None or unresolved(monitoring) else monitoring.scrape_seconds


def exporters(monitoring: MonitoringSection | None) -> Exporters | None:
    """Return what nodes were said to run for their metrics. None: nothing was said.

    Args:
        monitoring: The section, of whatever form.
    """
    return None if monitoring is None or unresolved(monitoring) else monitoring.exporters


def of_tasks(monitoring: MonitoringSection) -> MonitoringSection:
    """Return what is said for the tasks of a service beside a cluster: of one's own alarms, those that may be of tasks.

    Args:
        monitoring: The section, in which nothing is wrong.
    """
    own = [alarm for alarm in monitoring.own_alarms if clusters_named(alarm.expr) is None and not of_nodes(alarm)]
    return replace(monitoring, own_alarms=own)


def monitoring_problems(
    monitoring: MonitoringSection, region: str | None, made: Sequence[str] | None = None
) -> Iterator[Problem]:
    """Check that a workspace that exists is left as it is, and that alarms make sense.

    Args:
        monitoring: The section.
        region: Where it will be. None: that is not known.
        made: The alarms of the table that the deployment has. Default - all.
    """
    if why := no_prometheus(region):
        yield Problem((), f"must be left out in {region}: {why}", of_key=True)
    if monitoring.workspace_arn is not None:
        for each in fields(MetricsWorkspaceSpec):
            if getattr(monitoring, each.name) != each.default:
                text = f"must be left out beside {option('workspace_arn')}: the workspace stays as it is"
                yield Problem((each.name,), text)
    if not unresolved(monitoring.alarms):
        yield from within(("alarms",), override_problems(monitoring.alarms, made))
    if not unresolved(monitoring.own_alarms):
        yield from within(("own_alarms",), own_alarm_problems(monitoring.own_alarms, changes="alarms"))
        yield from within(("own_alarms",), window_problems(monitoring.own_alarms, monitoring.scrape_seconds))
    if monitoring.grafana is not None and not unresolved(monitoring.grafana):
        yield from within(("grafana",), grafana_problems(monitoring.grafana, region))


def window_problems(own: Sequence[OwnAlarm], seconds: int) -> Iterator[Problem]:
    """Check that there are two samples in the windows of what asks for them: an alarm of none never rings.

    Args:
        own: The alarms.
        seconds: Seconds between two samples.
    """
    for alarm in own:
        if unresolved(alarm, seconds) or unresolved(alarm.name, alarm.expr):
            continue
        if (found := too_short(alarm.expr, seconds)) is not None:
            text = f"must have windows longer than {option('scrape_seconds', up=3)} {seconds}, got [{found[1]}]"
            text += f" of {found[0]}, which wants two samples; use [{4 * seconds}s]"
            yield Problem((alarm.name, "expr"), text)
