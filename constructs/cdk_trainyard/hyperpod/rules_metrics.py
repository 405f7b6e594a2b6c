"""Whether the metrics of a cluster can be taken, and get to where they go: pure functions, silent about Tokens."""

from collections.abc import Iterator

from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.lifecycle.spec import Exporters
from cdk_trainyard.monitoring.nodes import agent_port_problems, elsewhere_problems, scrape_problems
from cdk_trainyard.problems import Problem, option, shown, within
from cdk_trainyard.tokens import unresolved


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
        none = all(group.lifecycle.script is None for group in cluster.groups)
        got = "none runs a script" if none else f"{', '.join(others)} run none of them"
        text = f"needs the project's own scripts on every group, which set exporters up; {got}"
        scripts = "'on_create' on_create.sh or 'on_init_complete' on_init_complete.sh of the project"
        yield Problem(at, f"{text}: give {option('lifecycle')} of the cluster, or of a group that has one, {scripts}")
    if cluster.has_multi_head:
        yield Problem(at, f"must be left out with {option('multi_head')}: each controller would write every sample")
    yield from scrape_problems(seconds)
    yield from elsewhere_problems(cluster.facts.exporters, "the cluster's 'node_setup' says what its nodes run")
    said = cluster.spec.node_setup
    asked = None if said is None or unresolved(said) else said.exporters
    if isinstance(asked, Exporters):
        yield from within(("node_setup", "exporters"), agent_port_problems(asked))
