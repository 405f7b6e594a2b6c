"""What a file says of monitoring, and nothing of the deployment can take: alarms that are not made, updates of none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pkgutil import resolve_name
from typing import Final

from cdk_trainyard.deployment.monitoring import MonitoringSection, NodeMetrics
from cdk_trainyard.deployment.orchestrators import find
from cdk_trainyard.deployment.serving.alarms import never_ringing_problems
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.lifecycle.spec import Exporters
from cdk_trainyard.monitoring.alarms import alarms
from cdk_trainyard.monitoring.render import AGENT
from cdk_trainyard.monitoring.spec import OF_ENGINES, MetricsSource
from cdk_trainyard.monitoring.warnings import override_warnings, own_alarm_warnings, untold_warnings
from cdk_trainyard.problems import At, Problem, Warned, within
from cdk_trainyard.serving.engine_settings import source_of
from cdk_trainyard.tokens import unresolved

_BY_EXPORTER: Final = (
    MetricsSource.SLURM,
    MetricsSource.EFA,
    MetricsSource.LUSTRE,
    MetricsSource.NEURON,
    MetricsSource.GPU,
)
"""Sources that have a switch of their name in ``exporters``."""
_OF_DEVICES: Final[Mapping[MetricsSource, tuple[str, Callable[[InstanceType], object]]]] = {
    MetricsSource.EFA: ("EFA", lambda known: known.max_efa_interfaces),
    MetricsSource.NEURON: ("Neuron devices", lambda known: _has(known, AcceleratorKind.NEURON)),
    MetricsSource.GPU: ("GPUs", lambda known: _has(known, AcceleratorKind.GPU)),
}
"""Sources that instance types decide of: the devices, and whether a type has some."""
_OF_TASKS: Final = {*OF_ENGINES, MetricsSource.NODE}
_USUAL: Final = {field.name: field.default for field in fields(MonitoringSection)}


def unused_problems(deployment: DeploymentSpec, monitoring: MonitoringSection) -> Iterator[Problem]:
    """Check that what is said of alarms and updates is of something that the deployment has.

    Args:
        deployment: The deployment.
        monitoring: Its section.
    """
    if unresolved(deployment.cluster) or (absent := absent_sources(deployment)) is None:
        return
    yield from _alarm_problems(monitoring, absent)
    if deployment.serving is not None and not unresolved(deployment.serving, monitoring.alarms):
        yield from within(("alarms",), never_ringing_problems(monitoring.alarms, deployment.serving))
    minutes = monitoring.update_minutes
    if not unresolved(minutes) and minutes != _USUAL["update_minutes"] and not _is_updated(deployment):
        text = f"must be left out where no group of HyperPod has a 'scheduled_update', got {minutes}"
        yield Problem(("update_minutes",), text)


def alarm_warnings(deployment: DeploymentSpec) -> Iterator[Warned]:
    """Yield what may surprise about alarms.

    Args:
        deployment: The deployment, in which nothing is wrong.
    """
    section = deployment.monitoring
    if section is None or (absent := absent_sources(deployment)) is None:
        return
    labels = {getattr(deployment.cluster, name, None) for name in ("cluster_name", "fleet_name")}
    told = deployment.alerts is not None or section.workspace_arn is not None
    said: dict[At, Iterator[Warned]] = {(): untold_warnings(section.own_alarms, told=told)}
    said |= {("alarms", each.name): override_warnings([each]) for each in section.alarms}
    said |= {
        ("own_alarms", each.name): own_alarm_warnings(
            [each],
            [source for source in MetricsSource if source not in absent],
            shared=section.workspace_arn is not None,
            is_mistaken=lambda name: name == deployment.name and name not in labels,
        )
        for each in section.own_alarms
    }
    for at, found in said.items():
        yield from within(("monitoring", *at), found)


def absent_sources(deployment: DeploymentSpec) -> Mapping[str, str] | None:
    """Return whose metrics there are none of, as far as a file says it, each with the reason. None: nobody knows.

    Args:
        deployment: The deployment.
    """
    absent = dict(_without_engine(deployment.serving))
    if deployment.cluster is None:
        others = (AGENT, *(each for each in MetricsSource if each not in _OF_TASKS))
        return absent | dict.fromkeys(others, "there is no cluster")
    nodes = _nodes(deployment)
    if nodes is None:
        return None
    absent |= dict(chain(_switched_off(nodes.exporters), _without_devices(nodes.types)))
    if deployment.storage.lustre is None:
        absent[MetricsSource.LUSTRE] = "no FSx for Lustre is mounted"
    return {**absent, **nodes.absent}


def made_alarms(deployment: DeploymentSpec) -> Sequence[str] | None:
    """Return the alarms of the table for which there are metrics. None: nobody knows.

    Args:
        deployment: The deployment.
    """
    if unresolved(deployment.cluster) or (absent := absent_sources(deployment)) is None:
        return None
    return [alarm.name for alarm in alarms() if absent.keys().isdisjoint(alarm.asked)]


def _nodes(deployment: DeploymentSpec) -> NodeMetrics | None:
    row = find(deployment.orchestrator)
    return resolve_name(row.metrics)(deployment) if row and row.metrics else None


def _switched_off(said: Exporters | None) -> Iterator[tuple[str, str]]:
    if unresolved(said):
        return
    for source in _BY_EXPORTER:  # where nothing is said, devices decide of Neuron's
        if getattr(said or Exporters(neuron=True), source.value) is False:
            yield source, f"'{source.value}' of its exporters is false"


def _without_devices(types: Sequence[InstanceType]) -> Iterator[tuple[str, str]]:
    for source, (devices, has) in _OF_DEVICES.items():
        if types and not any(map(has, types)):
            yield source, f"no node has {devices}"


def _without_engine(section: ServingSection | None) -> Iterator[tuple[str, str]]:
    if section is None:
        yield from ((source, "nothing is served") for source in OF_ENGINES)
    elif not unresolved(section, section.engine) and not unresolved(section.engine.kind):
        kind = section.engine.kind
        own = source_of(kind)
        for source in OF_ENGINES:
            if source not in (own, MetricsSource.ENGINE):
                yield source, f"'kind' of 'engine' is {kind}, which has no such metric"


def _has(known: InstanceType, kind: AcceleratorKind) -> bool:
    return any(device.kind is kind for device in known.accelerators)


def _alarm_problems(monitoring: MonitoringSection, absent: Mapping[str, str]) -> Iterator[Problem]:
    if unresolved(monitoring.alarms):
        return
    asked = {alarm.name: alarm.asked for alarm in alarms()}
    for override in monitoring.alarms:
        if unresolved(override, override.name, override.enabled) or override.enabled is False:
            continue  # what is switched off may not be there
        missing = [source for source in asked.get(override.name, ()) if source in absent]
        if missing:  # of several, Slurm is the one that no switch may bring
            text = f"must be left out: the deployment does not make this alarm, as {absent[missing[-1]]}"
            yield Problem(("alarms", override.name), text, of_key=True)


def _is_updated(deployment: DeploymentSpec) -> bool:
    if deployment.cluster is None:
        return deployment.serving is None  # what is missing is said
    nodes = _nodes(deployment)
    return nodes is not None and nodes.updated
