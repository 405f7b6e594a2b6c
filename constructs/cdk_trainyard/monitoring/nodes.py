"""What the nodes of a cluster run for its metrics: exporters of what they have, and the agent. No CDK."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.lifecycle.render import flat_settings, render_setup
from cdk_trainyard.lifecycle.rules_setup import exporter_option_problems, ports_of, with_options
from cdk_trainyard.lifecycle.spec import AGENT_PORT, SCRAPE_SECONDS, Exporters, MetricsAgent, NodeSetup
from cdk_trainyard.monitoring.spec import MetricsSource
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.processors import ARCHITECTURES
from cdk_trainyard.problems import Problem, within
from cdk_trainyard.tokens import unresolved

_ASKED: Final = ("exporters", "metrics_agent", "tools")
"""What the steps of metrics ask of a node's settings."""


def exporters_of(asked: Exporters | None, types: Collection[InstanceType], *, slurm: bool = True) -> Exporters:
    """Return the exporters of nodes: where nothing is said, those of Neuron devices where there are some.

    Args:
        asked: What was said.
        types: The types of the nodes.
        slurm: Whether they run Slurm.
    """
    if asked is not None:
        return replace(asked, slurm=asked.slurm and slurm)
    kinds = {device.kind for known in types for device in known.accelerators}
    return Exporters(slurm=slurm, neuron=AcceleratorKind.NEURON in kinds)


def scrape_problems(seconds: int | None) -> Iterator[Problem]:
    """Check that samples lie close enough.

    Args:
        seconds: How many lie between two samples of a series. None: metrics go nowhere.
    """
    if seconds is not None and not unresolved(seconds) and (wrong := SCRAPE_SECONDS.problem(seconds, NOWHERE)):
        yield wrong.at(("metrics", "scrape_seconds"))


def exporter_problems(asked: Exporters | None, types: Collection[InstanceType | None]) -> Iterator[Problem]:
    """Check that ports differ, the agent's too, and that the devices are there.

    Args:
        asked: What nodes are to run; their own form has been judged. None: nothing was said.
        types: The types of the nodes, None for each that is not known.
    """
    if asked is None or unresolved(asked):
        return
    at, known = ("metrics", "exporters"), [each for each in types if each]
    absent = []
    for name, kind, words in (
        ("neuron", AcceleratorKind.NEURON, "Neuron devices"),
        ("gpu", AcceleratorKind.GPU, "GPUs"),
    ):
        if len(known) < len(types) or not types or any(each.kind is kind for one in known for each in one.accelerators):
            continue
        absent.append(name)
        if getattr(asked, name) is True:
            names = ", ".join(dict.fromkeys(each.name for each in known))
            text = f"must be left out when no instance type has {words}, got {names}{with_options(name, asked)}"
            yield Problem((*at, name), text)
    yield from within(at, exporter_option_problems(asked, absent))
    yield from within(at, agent_port_problems(asked))


def agent_port_problems(asked: Exporters) -> Iterator[Problem]:
    """Check that the agent has its port.

    Args:
        asked: What nodes run.
    """
    for name, port in ports_of(asked):
        if port == AGENT_PORT and not unresolved(port):
            text = f"must be another port than {AGENT_PORT}, which the agent of the metrics has"
            yield Problem((name,), f"{text}, got {port}")


def elsewhere_problems(asked: Exporters | None, where: str) -> Iterator[Problem]:
    """Check that nothing is said of exporters where another option says it.

    Args:
        asked: What was said.
        where: What says it instead.
    """
    if asked is not None:
        yield Problem(("metrics", "exporters"), f"must be left out: {where}")


def sources_of(
    exporters: Exporters, types: Collection[InstanceType], *, lustre: bool, always_on: bool = True
) -> Sequence[MetricsSource]:
    """Return whose metrics the nodes of a cluster give.

    Args:
        exporters: What they run.
        types: The types of the nodes.
        lustre: Whether they mount FSx for Lustre.
        always_on: Whether some node is there as long as the cluster is. Default: true.
    """
    there = {
        MetricsSource.CONTROLLER: always_on,
        MetricsSource.SLURM: exporters.slurm,
        MetricsSource.NODE: True,
        MetricsSource.EFA: exporters.efa and any(known.max_efa_interfaces for known in types),
        MetricsSource.LUSTRE: exporters.lustre and lustre,
        MetricsSource.NEURON: exporters.neuron,
        MetricsSource.GPU: exporters.gpu,
    }
    return [source for source, asked in there.items() if asked]


def node_settings(
    exporters: Exporters, agent: MetricsAgent | None, types: Collection[InstanceType]
) -> dict[str, JsonValue]:
    """Return what nodes are told of their metrics, by the names that the steps ask it by: texts, and numbers.

    Args:
        exporters: What they run.
        agent: The agent of those that run one. None: another node does.
        types: Their types. None is known: they may have any processor.
    """
    setup = NodeSetup(exporters=exporters, metrics_agent=agent)
    architectures = {known.architecture for known in types} or set(ARCHITECTURES)
    rendered = render_setup(setup, architectures=sorted(architectures))
    return flat_settings({name: rendered[name] for name in _ASKED if name in rendered})
