"""The full rehearsal: deploy, boot, run the scripts, train, cut a node's power, replace it, compare the weights."""

import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cdk_trainyard.rehearsal import job
from cdk_trainyard.rehearsal.agent import PROVISIONING_LOG, Bundle, ScriptRun
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.deploy import deploy, synthesize
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.image import node_image
from cdk_trainyard.rehearsal.job_environment import job_environment
from cdk_trainyard.rehearsal.model import Cluster, Lustre, Node
from cdk_trainyard.rehearsal.report import Report
from cdk_trainyard.rehearsal.yard import Yard

_IDLE_SECONDS = 60
_RENDERED = ("settings.json", "provisioning_parameters.json", "shared_users.txt")
_SHOWN_LINES = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What a rehearsal is asked for.

    Attributes:
        file: The deployment file.
        most_nodes: How many nodes boot at most.
        scripts: A folder in the place of the scripts that the stack uploaded, or None.
        auto_resume: Whether srun offers ``--auto-resume``, from a stand-in of HyperPod's plugin.
        train_steps: Steps of the job.
        cut_at: Step after which a node loses its power.
    """

    file: Path
    most_nodes: int = 8
    scripts: Path | None = None
    auto_resume: bool = False
    train_steps: int = 60
    cut_at: int = 20


class Scenario:
    """A rehearsal from the deployment file to the table. Use it in a ``with`` block.

    Attributes:
        report: What was done.
        yard: The nodes; there after ``prepare``.
    """

    def __init__(self, options: Options, report: Report) -> None:
        self.report = report
        self._options = options
        self._stack = ExitStack()
        self._yard: Yard | None = None
        self._control_plane: ControlPlane | None = None

    def close(self) -> None:
        """End every node; nothing of them is left."""
        self._stack.close()

    @property
    def yard(self) -> Yard:
        """The nodes.

        Raises:
            RehearsalError: They are not there yet.
        """
        if self._yard is None:
            raise RehearsalError("the nodes are not there yet")
        return self._yard

    @property
    def has_nodes(self) -> bool:
        """Whether there are nodes to look at."""
        return self._yard is not None and bool(self._yard.machines)

    # ------------------------------------------------------------ steps
    def prepare(self) -> None:
        """Build what is built once, deploy, and make the network."""
        report = self.report
        with report.step("node image"):
            image = node_image(report.say)
        with report.step("the job's Python environment"):
            environment = job_environment(report.say)
        directory = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="rehearsal-")))
        with report.step("cdk synth"):
            assembly = synthesize(self._options.file, directory / "cdk.out")
        with report.step("cdk deploy") as step:
            deploy(assembly, report.say)
            self._control_plane = ControlPlane(assembly.region)
            cluster = self._control_plane.cluster()
            step.note(f"cluster {cluster.name}")
        with report.step("scripts from the bucket") as step:
            bundles = self._bundles(self._control_plane, cluster)
            files = sum(len(bundle) for bundle in bundles.values())
            step.note(f"{files} files of {len(bundles)} bundles" if bundles else "the groups name none")
        capped = self._capped(cluster)
        yard = Yard(
            capped, image=image, bundles=bundles, job_environment=environment, auto_resume=self._options.auto_resume
        )
        self._yard = self._stack.enter_context(yard)

    def provision(self) -> None:
        """Boot the nodes, run their scripts, and wait until Slurm has them."""
        started = time.monotonic()
        with self.report.step("boot") as step:
            self.yard.boot()
            step.note(f"{len(self.yard.machines)} nodes")
        with self.report.step("lifecycle scripts") as step:
            self._provision(list(self.yard.cluster.nodes))
            step.note("; ".join(slowest_steps(self._logs())))
        with self.report.step("every node idle in Slurm") as step:
            self.yard.slurm.wait_until("idle", self._compute_hosts(), seconds=_IDLE_SECONDS)
            step.note(f"{time.monotonic() - started:.1f} s after power-on")

    def train(self) -> None:
        """Run the job undisturbed, run it again with a power cut, and compare what they learned."""
        title = "training job"
        system = self._shared()
        if len(self._compute_hosts()) < job.NODES:
            self.report.skip(title, f"it needs {job.NODES} compute nodes")
        elif system is None:
            self.report.skip(title, "it needs a shared file system on the nodes")
        else:
            self._train(*system)

    def scale(self, group: str, count: int) -> str:
        """Change the size of a group as a user does, and let new nodes join; return what was done."""
        if self._control_plane is None:
            raise RehearsalError("nothing is deployed yet")
        yard = self.yard
        known = {node.name: node for node in yard.cluster.nodes}
        self._control_plane.scale(group, count)
        wanted = self._capped(self._control_plane.cluster())
        # the local AWS knows nothing of instances that were replaced here
        yard.change(wanted.with_nodes([known.get(node.name, node) for node in wanted.nodes]))
        new = [node for node in yard.cluster.nodes if node.name not in known]
        yard.boot(new)
        self._provision(new)
        yard.slurm.wait_until("idle", [node.host for node in new], seconds=_IDLE_SECONDS)
        return f"{len(known)} nodes became {len(yard.machines)}"

    def replace(self, name: str) -> str:
        """Replace a node and let the new one join; return what was done."""
        fresh = self.yard.replace(self.yard.machine(name).node)
        self._provision([fresh])
        return f"{fresh.name} is now {fresh.instance_id}"

    def log(self, name: str) -> str:
        """Return what the scripts of a node wrote to the one log that HyperPod ships."""
        path = self.yard.machine(name).root / PROVISIONING_LOG.lstrip("/")
        return path.read_text(errors="replace") if path.exists() else ""

    def nodes(self) -> str:
        """Return a line for every node."""
        states = self.yard.slurm.states()
        return "\n".join(
            f"{node.name}  {node.host}  {node.instance_id}  "
            f"{'up' if self.yard.machines[node.name].alive else 'down'}  {states.get(node.host, '')}".rstrip()
            for node in self.yard.cluster.nodes
        )

    # ------------------------------------------------------------ parts
    def _bundles(self, control_plane: ControlPlane, cluster: Cluster) -> Mapping[str, Bundle]:
        bundles = control_plane.bundles(cluster)
        if self._options.scripts is None:
            return bundles
        own = folder_bundle(self._options.scripts)
        return {
            source: own | {name: files[name] for name in _RENDERED if name in files}
            for source, files in bundles.items()
        }

    def _capped(self, cluster: Cluster) -> Cluster:
        most = self._options.most_nodes
        if len(cluster.nodes) > most:
            self.report.say(f"the cluster has {len(cluster.nodes)} nodes: {most} are booted (--max-nodes)")
        return cluster.capped(most)

    def _provision(self, nodes: list[Node]) -> None:
        def ended(run: ScriptRun) -> None:
            self.report.say(f"{run.node.name}: {'done' if run.code == 0 else f'FAILED with code {run.code}'}")

        failed = [run for run in self.yard.provision(nodes, done=ended) if run.code]
        for run in failed:
            log = self.log(run.node.name) or run.output
            self.report.say(f"the end of {run.node.name}'s log:")
            self.report.say("\n".join(log.splitlines()[-_SHOWN_LINES:]))
        if failed:
            raise RehearsalError(f"the lifecycle scripts failed on {', '.join(run.node.name for run in failed)}")

    def _train(self, system: Lustre, mount: str) -> None:
        with self.report.step("training job, undisturbed") as step:
            calm = self._start_job(system, mount, "undisturbed")
            calm.finish()
            step.note(f"weights {calm.weights[:12]}")
        victim = self.yard.cluster.with_role("compute")[job.NODES - 1]
        title = f"training job, power cut of {victim.name} after step {self._options.cut_at}"
        with self.report.step(title) as step:
            cut = self._start_job(system, mount, "interrupted")
            cut.wait_for_step(self._options.cut_at)
            self._cut_power(victim)
            cut.finish()
            step.note(f"went on at step {cut.starts[-1]}, {cut.attempts}, weights {cut.weights[:12]}")
        with self.report.step("both runs learned the same, to the bit") as step:
            if cut.weights != calm.weights:
                raise RehearsalError(f"weights differ: {calm.weights[:12]} and {cut.weights[:12]}")

    def _cut_power(self, victim: Node) -> None:
        machine = self.yard.machine(victim.name)
        machine.crash()
        # HyperPod's health agent marks the node; Slurm alone notices after SlurmdTimeout
        self.yard.slurm.mark(victim.host, "down", "rehearsal: power cut")
        self.report.say(f"{victim.name}: power cut")
        self.report.say(self.replace(victim.name))

    def _start_job(self, system: Lustre, mount: str, name: str) -> job.Job:
        # a job on HyperPod loses a node and goes on; with the stand-in of its plugin it must be told not to end
        options = ["--no-kill"] if self._options.auto_resume else []
        started = job.submit(self.yard, system, mount, name, steps=self._options.train_steps, options=options)
        self.report.say(f"job {started.number} submitted")
        return started

    def _shared(self) -> tuple[Lustre, str] | None:
        """Return the file system that compute nodes have mounted, and where."""
        machine = self.yard.machines[self.yard.cluster.with_role("compute")[0].name]
        for system in self.yard.cluster.file_systems:
            source = f"/yard/lustre/{system.dns_name.split('.')[0]}/{system.mount_name}"
            for line in machine.run("findmnt", "--noheadings", "--raw", "--output=TARGET,SOURCE").out.splitlines():
                target, _, device = line.partition(" ")
                if device.endswith(f"[{source}]") and not target.startswith("/run/"):
                    return system, target
        return None

    def _compute_hosts(self) -> list[str]:
        return [node.host for node in self.yard.cluster.with_role("compute")]

    def _logs(self) -> dict[str, str]:
        return {name: self.log(name) for name in self.yard.machines}


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
