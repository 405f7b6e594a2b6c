"""From a deployment file to the scenario of what it deploys."""

import os
import tempfile
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from cdk_trainyard.rehearsal.asked import archive_hosts, unknown_hosts
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.deploy import deploy, synthesize
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.fleet.scenario import FleetScenario
from cdk_trainyard.rehearsal.hyperpod.scenario import HyperPodScenario
from cdk_trainyard.rehearsal.image import node_image
from cdk_trainyard.rehearsal.job_environment import job_environment
from cdk_trainyard.rehearsal.parallelcluster.scenario import ParallelClusterScenario
from cdk_trainyard.rehearsal.report import Report
from cdk_trainyard.rehearsal.scenario import AnyScenario, Options, Stage
from cdk_trainyard.rehearsal.session_plugin import put

SCENARIOS: tuple[type[AnyScenario], ...] = (HyperPodScenario, ParallelClusterScenario, FleetScenario)
"""Every orchestrator that can be rehearsed."""


class Rehearsal:
    """A rehearsal from the deployment file to the table.

    Attributes:
        report: What was done.
    """

    def __init__(self, options: Options, report: Report) -> None:
        self.report = report
        self._options = options
        self._stack = ExitStack()
        self._scenario: AnyScenario | None = None

    def close(self) -> None:
        """End every node; nothing of them is left."""
        self._stack.close()

    @property
    def scenario(self) -> AnyScenario:
        """The nodes, and what can be done to them.

        Raises:
            RehearsalError: They are not there yet.
        """
        if self._scenario is None:
            raise RehearsalError("the nodes are not there yet")
        return self._scenario

    @cached_property
    def plugin(self) -> Path:
        """The stand-in of the session-manager-plugin that enters its nodes."""
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="rehearsal-plugin-"))
        return put(Path(folder), os.getpid())

    @property
    def has_nodes(self) -> bool:
        """Whether there are nodes to look at."""
        return self._scenario is not None and bool(self._scenario.machines.by_name)

    def run(self, *, job: bool) -> None:
        """Do everything; without ``job``, until the nodes can work.

        Raises:
            RehearsalError: A step failed.
        """
        control_plane = self._prepare()
        try:
            self.scenario.provision()
            if job:
                self.scenario.train()
        finally:
            check_calls(control_plane, self.report)
            check_asked(self.scenario, self.report)

    def _prepare(self) -> ControlPlane:
        """Build what is built once, deploy, and make the network of the nodes."""
        report = self.report
        with report.step("node image"):
            image = node_image(report.say)
        with report.step("the job's Python environment"):
            environment = job_environment(report.say)
        directory = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="rehearsal-")))
        with report.step("cdk synth"):
            assembly = synthesize(self._options.file, directory / "cdk.out")
        with report.step("cdk deploy"):
            deploy(assembly, report.say)
            control_plane = ControlPlane(assembly.region)
            kind = scenario_of(control_plane)
        report.not_proven = kind.not_proven
        self._scenario = kind(
            Stage(
                options=self._options,
                report=report,
                control_plane=control_plane,
                image=image,
                job_environment=environment,
                stack=self._stack,
            )
        )
        return control_plane


def check_calls(control_plane: ControlPlane, report: Report) -> None:
    """Note, as a failed step, the calls of nodes, functions, tasks and builds that IAM refused their roles."""
    with report.step("no role was refused a call") as step:
        calls = control_plane.calls()
        refused = list(dict.fromkeys(call["errorMessage"] for call in calls if "errorCode" in call))
        step.note("; ".join(refused) or f"{len(calls)} calls of roles")
        step.outcome = "failed" if refused else "passed"


def check_asked(scenario: AnyScenario, report: Report) -> None:
    """Note, as a failed step, the hosts that nodes asked for and the table of fetches lacks: a download needs a row."""
    with report.step("what nodes asked for is in the table of fetches") as step:
        report.asked = scenario.machines.asked()
        unknown = unknown_hosts(report.asked, scenario.machines.cluster.region, archive_hosts(scenario.stage.image))
        lacking = [f"no row of reach/data knows {host}, asked by {', '.join(nodes)}" for host, nodes in unknown.items()]
        hosts = ", ".join(sorted({one.host for one in report.asked}))
        step.note("; ".join(lacking) or hosts or "nothing beyond their subnet")
        step.outcome = "failed" if lacking else "passed"


def scenario_of(control_plane: ControlPlane) -> type[AnyScenario]:
    """Return the scenario of what a deployment made.

    Raises:
        RehearsalError: It made nothing whose nodes can be rehearsed, or several such things.
    """
    found = [kind for kind in SCENARIOS if kind.is_there(control_plane)]
    if len(found) != 1:
        raise RehearsalError(
            "a deployment to rehearse must create one HyperPod cluster, one ParallelCluster or one fleet, "
            f"got {len(found)} of them"
        )
    return found[0]
