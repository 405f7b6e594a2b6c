"""Whether the metrics of a cluster can be taken. Pure, and silent about Tokens."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.lifecycle.rules_setup import ports_of, slurm_port_problems
from cdk_trainyard.lifecycle.spec import AGENT_PORT, Exporters
from cdk_trainyard.monitoring.nodes import exporter_problems, exporters_of, scrape_problems
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.resolve import computes, find_type, type_names, types_of
from cdk_trainyard.parallelcluster.slurm_lines import texts
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, shown, within
from cdk_trainyard.tokens import Unknown, unresolved

_OLD_PYTHON: Final = ("rhel8", "rocky8")
"""Systems whose own Python is 3.6 (RHEL 8, Configuring basic system settings, Python), while programs need 3.8."""

_OF_METRICS: Final = "a program of the metrics"
_NFS: Final = 2049
"""Of the head node's NFS server, which shares ``/home`` (nfs(5))."""
_DCV: Final = 8443
"""Of a remote desktop that is given none (user guide of ParallelCluster, "Dcv")."""
_SSHD: Final = {22: "sshd"}
_SLURMDBD: Final = 6819
"""slurmdbd.conf(5), ``DbdPort``."""
_DEVICES: Final = {"neuron_port": AcceleratorKind.NEURON, "gpu_port": AcceleratorKind.GPU}
"""What an exporter is for that not every node has."""


def _types(spec: ParallelClusterSpec) -> list[InstanceType | None]:
    """Return the types of head node and queues, None for each that is not known."""
    kinds = [queue.compute for queue in spec.queues]
    every = [*chain.from_iterable(kinds)]
    if unresolved(spec.queues, *kinds, *(compute.instance_types for compute in every)):
        return [None]
    names = chain.from_iterable(map(type_names, every))
    return [find_type(name) for name in (spec.head_node.instance_type, *names)]


def no_metrics(system: object) -> str:
    """Return the operating system on which no metrics are collected, with the reason; nothing of others.

    Args:
        system: The operating system.
    """
    if unresolved(system) or system not in _OLD_PYTHON:
        return ""
    why = "whose Python is older than 3.8, which the programs of the metrics need"
    return f"operating system {shown(str(system))}, {why}"


def metrics_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[Problem]:
    """Check that there is a place for the scripts, that they run on the system, and that samples lie close enough."""
    seconds, system = context.scrape_seconds, spec.operating_system
    if seconds is None:
        return
    if not context.scripts_bucket:
        yield Problem(("scripts_bucket",), "is missing: 'metrics' needs a bucket for the scripts that set exporters up")
    if why := no_metrics(system):
        yield Problem(("metrics",), f"must be left out with {why}")
    yield from scrape_problems(seconds)
    yield from exporter_problems(context.exporters, _types(spec))
    if context.exporters is not None and not unresolved(context.exporters):
        yield from within(("metrics", "exporters"), slurm_port_problems(context.exporters))


def port_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[Problem]:
    """Whatever listens on the head node has a port of its own: NFS, the remote desktop, exporters and their agent."""
    taken: dict[int, str] = {_NFS: "the head node's NFS server"}
    if context.scrape_seconds is not None:
        taken[AGENT_PORT] = _OF_METRICS  # of exporters there is a rule
    for at, port, what in _ports(spec, context):
        if unresolved(port):
            continue
        if taken.get(port, what) != what:  # what two exporters share is said of their options
            yield Problem(at, f"must be another port than that of {taken[port]}, got {port}")
        taken.setdefault(port, what)


def _ports(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[tuple[At, int, str]]:
    asked = Exporters() if context.exporters is None else context.exporters
    said = context.exporters is not None
    exporters = list(ports_of(asked)) if context.scrape_seconds is not None and not unresolved(asked) else []
    metrics = [(("metrics", "exporters", name), port, _OF_METRICS) for name, port in exporters]
    dcv = None if isinstance(spec.head_node, Unknown) else spec.head_node.dcv
    desktop: list[tuple[At, int, str]] = []
    if dcv is not None and not isinstance(dcv, Unknown):
        at = ("head_node", "dcv", "port")
        desktop = [(at, _DCV if dcv.port is None else dcv.port, "the remote desktop")]
    yield from (*desktop, *metrics) if said else (*metrics, *desktop)


def daemon_port_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[Problem]:
    """Slurm's daemons, where a file moves them, listen where no other program of their nodes does."""
    head = None if isinstance(spec.head_node, Unknown) else find_type(spec.head_node.instance_type)
    taken = {**_SSHD, _NFS: "the head node's NFS server", **_exporters_on([head] if head else [], context)}
    taken |= {port: what for _, port, what in _ports(spec, context) if what != _OF_METRICS}
    taken |= {} if context.scrape_seconds is None else {AGENT_PORT: "the agent of the metrics"}
    taken |= {} if spec.slurm.accounting is None else {_SLURMDBD: "slurmdbd"}
    for at, value in texts(spec, "slurmctldport"):
        yield from _taken_problems(at, value, taken)
    nodes: list[InstanceType] = []
    for at, _, compute in computes(spec):
        nodes += types_of(compute)
        for name, value in {} if unresolved(compute.slurm) else (compute.slurm or {}).items():
            if name.lower() == "port":
                yield from _taken_problems((*at, "slurm", name), value, _on_nodes(types_of(compute), context))
    for at, value in texts(spec, "slurmdport"):
        yield from _taken_problems(at, value, _on_nodes(nodes, context))


def _on_nodes(types: Sequence[InstanceType], context: ParallelClusterFacts) -> Mapping[int, str]:
    return {**_SSHD, **_exporters_on(types, context)}


def _exporters_on(types: Sequence[InstanceType], context: ParallelClusterFacts) -> Mapping[int, str]:
    """Return the ports of the exporters of nodes."""
    if context.scrape_seconds is None or unresolved(context.exporters):
        return {}
    kinds = {None, *(device.kind for known in types for device in known.accelerators)}
    asked = ports_of(exporters_of(context.exporters, types))
    return {port: _OF_METRICS for name, port in asked if _DEVICES.get(name) in kinds and not unresolved(port)}


def _taken_problems(at: At, value: Any, taken: Mapping[int, str]) -> Iterator[Problem]:
    found = None if unresolved(value) else re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", str(value).strip('"'))
    if found is not None:
        ports = range(int(found[1]), int(found[2] or found[1]) + 1)
        for port in sorted({*ports} & {*taken}):
            yield Problem(at, f"must be another port than {port} of {taken[port]}, got {value}")
