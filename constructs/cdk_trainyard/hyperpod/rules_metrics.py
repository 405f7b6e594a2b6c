"""Whether the metrics of a cluster can be taken, and get to where they go: pure functions, silent about Tokens."""

from collections.abc import Iterator

from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.lifecycle.spec import AGENT_PORT, Exporters
from cdk_trainyard.monitoring.nodes import scrape_problems
from cdk_trainyard.problems import Problem, option, shown
from cdk_trainyard.tokens import unresolved

_PORTS = {"port": None, "neuron_port": "neuron", "gpu_port": "gpu"}
"""Ports of exporters, and the options that ask for them."""


def metrics_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that scripts of this project run where metrics are taken, once for each cluster.

    Args:
        cluster: The resolved cluster.
    """
    seconds, at = cluster.facts.scrape_seconds, ("metrics",)
    if seconds is None:
        return
    others = [shown(group.name) for group in cluster.groups if not group.lifecycle.is_own]
    if others:
        text = f"needs the project's own scripts on every group, which set exporters up; {', '.join(others)} run others"
        yield Problem(at, f"{text}: give {option('lifecycle')} an 'on_create' or 'on_init_complete' of them")
    if cluster.spec.multi_head is not None:
        yield Problem(at, f"must be left out with {option('multi_head')}: each controller would write every sample")
    yield from scrape_problems(seconds)
    yield from _port_problems(cluster)


def _port_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    said = cluster.spec.node_setup
    asked = None if said is None or unresolved(said) else said.exporters
    if not isinstance(asked, Exporters):
        return
    for name, needs in _PORTS.items():
        port = getattr(asked, name)
        if port == AGENT_PORT and not unresolved(port) and (needs is None or getattr(asked, needs) is True):
            text = f"must be another port than {AGENT_PORT}, which the agent of the metrics has on the controller"
            yield Problem(("node_setup", "exporters", name), f"{text}, got {port}")
