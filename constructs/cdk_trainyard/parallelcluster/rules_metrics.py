"""Whether the metrics of a cluster can be taken. Pure, and silent about Tokens."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.lifecycle.rules_setup import ports_of, slurm_port_problems
from cdk_trainyard.lifecycle.spec import AGENT_PORT, Exporters
from cdk_trainyard.monitoring.nodes import exporter_problems, scrape_problems
from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.resolve import all_types
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


def metrics_problems(spec: ParallelClusterSpec, context: ClusterContext) -> Iterator[Problem]:
    """Check that there is a place for the scripts, that they run on the system, and that samples lie close enough."""
    seconds, system = context.scrape_seconds, spec.operating_system
    if seconds is None:
        return
    if not context.scripts_bucket:
        yield Problem(("scripts_bucket",), "is missing: 'metrics' needs a bucket for the scripts that set exporters up")
    if not unresolved(system) and system in _OLD_PYTHON:
        text = f"must be left out with operating system {shown(str(system))}, whose Python is older than 3.8"
        yield Problem(("metrics",), f"{text}, which the programs of the metrics need")
    yield from scrape_problems(seconds)
    yield from exporter_problems(context.exporters, all_types(spec))
    if context.exporters is not None and not unresolved(context.exporters):
        yield from within(("metrics", "exporters"), slurm_port_problems(context.exporters))


def port_problems(spec: ParallelClusterSpec, context: ClusterContext) -> Iterator[Problem]:
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


def _ports(spec: ParallelClusterSpec, context: ClusterContext) -> Iterator[tuple[At, int, str]]:
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
