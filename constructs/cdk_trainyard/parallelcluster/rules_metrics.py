"""Whether the metrics of a cluster can be taken. Pure, and silent about Tokens."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.lifecycle.rules_setup import slurm_port_problems
from cdk_trainyard.monitoring.nodes import exporter_problems, scrape_problems
from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.resolve import all_types
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import Problem, shown, within
from cdk_trainyard.tokens import unresolved

_OLD_PYTHON: Final = ("rhel8", "rocky8")
"""Systems whose own Python is 3.6 (RHEL 8, Configuring basic system settings, Python), while programs need 3.8."""


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
