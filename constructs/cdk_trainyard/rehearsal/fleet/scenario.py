"""A fleet: set-up by user data, hostfiles, every SSH pair, a job over SSH that loses a node and goes on."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.rehearsal import job
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.egress_proxy import EgressProxy
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.fleet.agent import FleetAgent
from cdk_trainyard.rehearsal.fleet.fleets import Fleets
from cdk_trainyard.rehearsal.machines import JOB_ENVIRONMENT, Machines
from cdk_trainyard.rehearsal.model import Node
from cdk_trainyard.rehearsal.nodes import Machine
from cdk_trainyard.rehearsal.report import NEVER_PROVEN
from cdk_trainyard.rehearsal.roles import InstanceRoles
from cdk_trainyard.rehearsal.scenario import Scenario, slowest_steps

_JOB_SECONDS = 1200
_ANSWER = "CompleteLifecycleAction"
_HOSTFILE = "/opt/trainyard/hostfile"
_SHOWN_LINES = 25


class FleetScenario(Scenario[FleetAgent]):
    """A fleet of plain EC2 instances with EFA, and its master if it has one."""

    most_nodes = 3
    not_proven = (
        "the machine image: nodes are Debian; drivers, EFA's and Lustre's software are not in it, nor installed",
        "huge pages and instance store: a number that can be set, and no disk",
        "Auto Scaling: it launches at once and waits for no hook; a loss was reported to it",
        "a silent loss: what dies here closes its connections",
        *NEVER_PROVEN,
    )

    @classmethod
    def is_there(cls, control_plane: ControlPlane) -> bool:
        """Return whether there is a fleet."""
        return bool(Fleets(control_plane).names())

    def _make_machines(self) -> Machines[FleetAgent]:
        control_plane = self.stage.control_plane
        self._fleets = Fleets(control_plane)
        for time in self._fleets.start_blocks():
            self.report.say(f"the capacity block starts, as if it were {time}")
        with self.report.step("fleet in EC2") as step:
            fleet = self._fleets.cluster()
            counts = {group.name: len(fleet.with_role(group.role)) for group in fleet.groups}
            step.note(", ".join(f"{count} x {name}" for name, count in counts.items()))
            self._put_own_scripts(fleet.nodes[0])
        egress_proxy = EgressProxy(endpoint=control_plane.endpoint, region=control_plane.region)
        self.stage.stack.enter_context(egress_proxy)
        agent = FleetAgent(self.capped(fleet), user_data=self._fleets.user_data)
        return Machines(
            agent,
            image=self.stage.image,
            job_environment=self.stage.job_environment,
            egress_proxy=egress_proxy,
            role_of=InstanceRoles(control_plane),
        )

    # ------------------------------------------------------------ steps
    def provision(self) -> None:
        """Boot the members, run their user data, and see that each knows and reaches all others."""
        with self.report.step("boot") as step:
            self.machines.boot()
            step.note(f"{len(self.machines.by_name)} nodes")
        with self.report.step("user data") as step:
            self.provision_nodes(self.machines.cluster.nodes)
            self._check_answers(self.machines.cluster.nodes)
            step.note("; ".join(slowest_steps(self.logs())))
        self._check_members()

    def train(self) -> None:
        """Launch the job from the master, or the first worker; cut another worker's power in the middle of it."""
        title = "training job"
        workers = self.machines.cluster.with_role("worker")
        if len(workers) < job.NODES:
            self.report.skip(title, f"it needs {job.NODES} workers")
            return
        if not self.machines.cluster.file_systems:
            self.report.skip(title, "it needs a shared file system")
            return
        calm = self._run_job("undisturbed", lose=None)
        cut = self._run_job("interrupted", lose=workers[job.NODES - 1])
        with self.report.step("both runs learned the same, to the bit"):
            if calm != cut:
                raise RehearsalError(f"weights differ: {calm[:12]} and {cut[:12]}")

    def replace(self, name: str) -> str:
        """Cut a node's power, let Auto Scaling launch another, and set that up; return what was done."""
        old = self.machines.machine(name).node
        if self.machines.machine(name).alive:
            self.machines.machine(name).crash()
        launched = self._fleets.lose(old)
        booted = [node.instance_id for node in self.machines.cluster.nodes] + [launched]
        whole = self._fleets.cluster(known=self.machines.cluster)
        self.machines.change(whole.with_nodes([node for node in whole.nodes if node.instance_id in booted]))
        (fresh,) = [node for node in self.machines.cluster.nodes if node.instance_id == launched]
        self.machines.boot([fresh])
        self.provision_nodes([fresh])
        self._check_answers([fresh])
        self._renew_members()
        return f"{old.name} ({old.instance_id}) is lost, {fresh.name} ({fresh.instance_id}) has taken its place"

    def states(self) -> dict[str, str]:
        """Return which members have said that they are ready, by host name."""
        ready = self._fleets.ready()
        return {node.host: "ready" for node in self.machines.cluster.nodes if node.instance_id in ready}

    # ------------------------------------------------------------ members
    def _check_answers(self, nodes: Sequence[Node]) -> None:
        """See that each node has said to everybody that it is ready.

        Raises:
            RehearsalError: One has not tagged itself, or has not answered its Auto Scaling group.
        """
        ready = self._fleets.ready()
        answers = [call for call in self.stage.control_plane.calls() if call["eventName"] == _ANSWER]
        told = {call["requestParameters"]["instanceId"]: call["requestParameters"] for call in answers}
        for node in nodes:
            wanted = self._fleets.hook_of(node)
            call = told.get(node.instance_id, {})
            given = (call.get("autoScalingGroupName"), call.get("lifecycleHookName"))
            if node.instance_id not in ready:
                raise RehearsalError(f"{node.name} has not said that it is ready")
            if wanted and (given != wanted or call.get("lifecycleActionResult") != "CONTINUE"):
                raise RehearsalError(
                    f"{node.name} must answer {' '.join(wanted)} with CONTINUE, got {call or 'nothing'}"
                )

    def _check_members(self) -> None:
        with self.report.step("hostfile on every node") as step:
            self._renew_members()
            workers = self.machines.cluster.with_role("worker")
            wanted = sorted(str(node.address) for node in workers)
            for machine in self.machines.by_name.values():
                found = sorted(line.split()[0] for line in machine.run("cat", _HOSTFILE).out.splitlines())
                if found != wanted:
                    raise RehearsalError(f"the hostfile of {machine.node.name} has {found}, and must have {wanted}")
            step.note(f"{len(wanted)} workers on {len(self.machines.by_name)} nodes")
        with self.report.step("every member logs in to every member") as step:
            pairs = list(product(self.machines.by_name.values(), repeat=2))
            for source, target in pairs:
                self._log_in(source, target)
            step.note(f"{len(pairs)} of {len(pairs)} pairs")

    def _renew_members(self) -> None:
        """Start the unit that a timer starts every minute, on every node."""
        for machine in self.machines.by_name.values():
            if machine.alive:
                machine.run("systemctl", "start", "trainyard-members.service")

    @staticmethod
    def _log_in(source: Machine, target: Machine) -> None:
        log_in = ["ssh", "-o", "BatchMode=yes", str(target.node.address), "hostname"]
        done = source.run("runuser", "--user", "ubuntu", "--", *log_in, check=False)
        if done.out.strip() != target.node.host:
            raise RehearsalError(f"{source.node.name} cannot log in to {target.node.name}: {done.err.strip()}")

    # ------------------------------------------------------------ the job
    def _run_job(self, name: str, *, lose: Node | None) -> str:
        """Run the job; return the hash of what it has learned."""
        run = FleetJob(self.machines, name, steps=self.stage.options.train_steps)
        cut_at = self.stage.options.cut_at
        title = f"training job, power cut of {lose.name} after step {cut_at}" if lose else "training job, undisturbed"
        with self.report.step(title) as step:
            run.launch()
            if lose:
                run.wait_for_step(cut_at)
                self.machines.machine(lose.name).crash()
                self.report.say(f"{lose.name}: power cut")
                self.report.say(self.replace(lose.name))
            run.finish()
            step.note(f"started at steps {', '.join(map(str, run.starts))}, weights {run.weights[:12]}")
        return run.weights

    def _put_own_scripts(self, node: Node) -> None:
        """Put the user's own scripts in the place of those that the user data fetches."""
        if self.stage.options.scripts is None:
            return
        words = self._fleets.user_data(node).split()
        source = next(word for word in words if word.startswith("s3://"))
        files = self.own_scripts(self.stage.control_plane.bundle(source))
        self.stage.control_plane.replace_bundle(source, files)


class FleetJob(job.Training):
    """A job of the master, else of the first worker, followed by what it writes to the shared file system."""

    def __init__(self, machines: Machines[Any], name: str, *, steps: int) -> None:
        launcher = [*machines.cluster.with_role("master"), *machines.cluster.with_role("worker")][0]
        self._machines = machines
        self._name = name
        self._steps = steps
        self._launcher = machines.machine(launcher.name)
        self._shared = machines.shared(machines.cluster.file_systems[0])
        self._unit = f"job-{name}"
        super().__init__(self._shared / "checkpoints" / name)

    def launch(self) -> None:
        """Put the job on the file system and start it, as its user does after logging in."""
        for folder in ("fleet-ddp", job.NAME):
            self._machines.share(scripts_folder() / "jobs" / folder, self._shared / "jobs" / folder)
        settings = {
            "NODES": job.NODES,
            "PROCESSES_PER_NODE": job.PROCESSES_PER_NODE,
            "PYTHON": f"{JOB_ENVIRONMENT}/bin/python",
        }
        jobs = f"{self._mount()}/jobs"
        words = ["bash", f"{jobs}/fleet-ddp/launch.sh", self._name, f"{jobs}/{job.NAME}/train.py"]
        variables = " ".join(f"{name}={value}" for name, value in settings.items())
        line = f"{variables} exec {' '.join(words)} --steps {self._steps}"
        self._launcher.run(
            "systemd-run", "--quiet", f"--unit={self._unit}", "--uid=ubuntu", "--remain-after-exit",
            "bash", "--login", "-c", line,
        )  # fmt: skip

    def wait_for_step(self, step: int) -> None:
        """Wait until a step is in the snapshot.

        Raises:
            RehearsalError: The job ended before, or takes too long.
        """

        def reached() -> bool:
            if self.has_reached(step):
                return True
            if self._state() != "running":
                raise RehearsalError(f"the job ended before step {step}; it said:\n{self.said()}")
            return False

        wait_for(f"step {step} of the job", reached, seconds=_JOB_SECONDS, every=0.5)

    def finish(self) -> None:
        """Wait until the job has ended well.

        Raises:
            RehearsalError: It ended otherwise, or takes too long; with the end of what it said.
        """
        try:
            wait_for("the end of the job", lambda: self._state() != "running", seconds=_JOB_SECONDS, every=1)
        except RehearsalError as error:
            raise RehearsalError(f"{error}; it said:\n{self.said()}") from error
        if self._state() != "exited":
            raise RehearsalError(f"the job failed; it said:\n{self.said()}")

    def said(self) -> str:
        """Return the end of what the launcher and its nodes wrote."""
        said = self._launcher.run("journalctl", "--quiet", f"--unit={self._unit}", "--output=cat", check=False).out
        logs = sorted((self._shared / "logs" / self._name).glob("attempt-*/*.log"))
        return "\n".join([*said.splitlines()[-_SHOWN_LINES:], *(_end_of(log) for log in logs[-job.NODES :])])

    def _mount(self) -> str:
        """Return where the members have the shared file system."""
        settings = json.loads(self._launcher.run("cat", "/etc/trainyard/settings.json").out)
        return str(settings["lustre"]["mount_path"])

    def _state(self) -> str:
        words = ["systemctl", "show", "--property=SubState", "--value", self._unit]
        return self._launcher.run(*words).out.strip()


def _end_of(log: Path) -> str:
    lines: Sequence[str] = log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
    return "\n".join([f"{log.parent.name}/{log.name}:", *lines])
