"""What every rehearsal has: options, a stage on which nodes boot, and what can be done to them by hand."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Generic, TypeVar

from cdk_trainyard.rehearsal.agent import PROVISIONING_LOG, Agent, Bundle, ScriptRun
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.machines import Machines
from cdk_trainyard.rehearsal.model import Cluster, Node
from cdk_trainyard.rehearsal.report import Report

_SHOWN_LINES = 25
AgentT = TypeVar("AgentT", bound=Agent)


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What a rehearsal is asked for.

    Attributes:
        file: The deployment file.
        most_nodes: How many nodes boot at most. Default - as many as the scenario is made for.
        scripts: A folder in the place of the scripts that the stack uploaded, or None.
        auto_resume: Whether srun offers ``--auto-resume``, from a stand-in of HyperPod's plugin.
        train_steps: Steps of the job.
        cut_at: Step after which a node loses its power.
    """

    file: Path
    most_nodes: int | None = None
    scripts: Path | None = None
    auto_resume: bool = False
    train_steps: int = 60
    cut_at: int = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """What is there before the first node boots.

    Attributes:
        options: What the rehearsal is asked for.
        report: What was done.
        control_plane: The local AWS, with what the deployment made.
        image: The node image.
        job_environment: The Python environment of the job.
        stack: Closed when the rehearsal ends.
    """

    options: Options
    report: Report
    control_plane: ControlPlane
    image: Path
    job_environment: Path
    stack: ExitStack


class Scenario(ABC, Generic[AgentT]):
    """The rehearsal of one orchestrator's nodes.

    Attributes:
        most_nodes: How many nodes boot unless it is said how many.
        not_proven: What the rehearsal does not show, in the words of its report.
        stage: What was there before the first node.
        report: What was done.
        machines: The nodes.
    """

    most_nodes: ClassVar[int] = 8
    not_proven: ClassVar[Sequence[str]]

    def __init__(self, stage: Stage) -> None:
        """Read what the deployment made, and make the network of its nodes; none is booted yet."""
        self.stage = stage
        self.report = stage.report
        self.machines: Machines[AgentT] = stage.stack.enter_context(self._make_machines())

    @classmethod
    @abstractmethod
    def is_there(cls, control_plane: ControlPlane) -> bool:
        """Return whether the deployment made something that this scenario rehearses."""

    @abstractmethod
    def _make_machines(self) -> Machines[AgentT]:
        """Return the nodes that the deployment made."""

    @abstractmethod
    def provision(self) -> None:
        """Boot the nodes, run their scripts, and wait until they can work."""

    @abstractmethod
    def train(self) -> None:
        """Run the job on the nodes."""

    # ------------------------------------------------------------ by hand
    def scale(self, group: str, count: int) -> str:
        """Change the size of a group as a user does, and let new nodes join; return what was done."""
        raise RehearsalError(f"{group} cannot be brought to {count} nodes: only groups of HyperPod can be scaled here")

    def replace(self, name: str) -> str:
        """Replace a node and let the new one join; return what was done."""
        node = self.machines.machine(name).node
        fresh = self.machines.replace(node, self._launched_for(node))
        self.provision_nodes([fresh])
        return f"{fresh.name} is now {fresh.instance_id}"

    def _put_log(self, node: Node, lines: Sequence[str]) -> None:
        """Write what a node's scripts have logged where its orchestrator's agent does."""
        del node, lines  # unless an orchestrator says otherwise, the scripts do that

    def _launched_for(self, node: Node) -> str:
        """Return the id of the instance that the control plane launches for another; empty: it is not asked."""
        del node
        return ""

    def log(self, name: str) -> str:
        """Return what the scripts of a node wrote to their log."""
        path = self.machines.machine(name).root / PROVISIONING_LOG.lstrip("/")
        return path.read_text(errors="replace") if path.exists() else ""

    def states(self) -> Mapping[str, str]:
        """Return what the scheduler says of nodes, by host name."""
        return self.machines.slurm.states()

    def nodes(self) -> list[dict[str, str]]:
        """Return every node: ``name``, ``host``, ``instance_id``, ``power`` (``up``, ``down``), ``state`` in Slurm."""
        states, machines = self.states(), self.machines.by_name
        return [
            {
                "name": node.name,
                "host": node.host,
                "instance_id": node.instance_id,
                "power": "up" if node.name in machines and machines[node.name].alive else "down",
                "state": states.get(node.host, ""),
            }
            for node in self.machines.cluster.nodes
        ]

    # ------------------------------------------------------------ for scenarios
    @property
    def most(self) -> int:
        """How many nodes may boot."""
        return self.stage.options.most_nodes or self.most_nodes

    def provision_nodes(self, nodes: Sequence[Node]) -> None:
        """Run the scripts of nodes that are up, and tell of each how it ended.

        Raises:
            RehearsalError: A node's scripts failed; the end of its log has been shown.
        """

        def ended(run: ScriptRun) -> None:
            self.report.say(f"{run.node.name}: {'done' if run.code == 0 else f'FAILED with code {run.code}'}")

        failed = [run for run in self.machines.provision(nodes, done=ended) if run.code]
        for node in nodes:
            self._put_log(node, self.log(node.name).splitlines())
        if failed and (complaints := self.machines.complaints()):
            self.report.say(f"the nodes' network says:\n{complaints}")
        for run in failed:
            log = self.log(run.node.name) or run.output
            self.report.say(f"the end of {run.node.name}'s log:")
            self.report.say("\n".join(log.splitlines()[-_SHOWN_LINES:]))
        if failed:
            raise RehearsalError(f"the scripts failed on {', '.join(run.node.name for run in failed)}")

    def capped(self, cluster: Cluster) -> Cluster:
        """Return the cluster with as many nodes as are to be booted, and say when nodes are left out."""
        most = self.most
        if len(cluster.nodes) > most:
            self.report.say(f"the cluster has {len(cluster.nodes)} nodes: {most} are booted (--max-nodes)")
        return cluster.capped(most)

    def own_scripts(self, uploaded: Bundle, kept: Sequence[str] = ()) -> Bundle:
        """Return the user's own folder in the place of a bundle, where one was given.

        Args:
            uploaded: What the stack uploaded.
            kept: Files that stay as they were uploaded: what the construct has rendered.
        """
        folder = self.stage.options.scripts
        if folder is None:
            return uploaded
        return {**folder_bundle(folder), **{name: uploaded[name] for name in kept if name in uploaded}}

    def logs(self) -> dict[str, str]:
        """Return the log of every node."""
        return {name: self.log(name) for name in self.machines.by_name}


AnyScenario = Scenario[Any]
"""A scenario of whatever orchestrator."""


def folder_bundle(folder: Path) -> dict[str, bytes]:
    """Return a folder of one's own as the nodes would download it."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    if not files:
        raise RehearsalError(f"{folder}: no scripts there")
    return {str(PurePosixPath(path.relative_to(folder))): path.read_bytes() for path in files}


def slowest_steps(logs: Mapping[str, str]) -> list[str]:
    """Return, for every step that the provisioning logs name, the longest time any node took for it.

    Read from lines such as ``2026-01-31T10:00:00+0000 [lustre] done in 2 s``.
    """
    longest: dict[str, int] = {}
    for log in logs.values():
        for line in log.splitlines():
            _, bracket, rest = line.partition(" [")
            name, _, said = rest.partition("] ")
            if bracket and said.startswith("done in ") and said.endswith(" s"):
                seconds = said.removeprefix("done in ").removesuffix(" s")
                longest[name] = max(longest.get(name, 0), int(seconds))
    return [f"{name} {seconds} s" for name, seconds in longest.items() if seconds]
