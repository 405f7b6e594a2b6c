"""HyperPod: boot, run the scripts, train, cut a node's power, replace it, compare the weights."""

import time
from collections.abc import Mapping, Sequence

from cdk_trainyard.rehearsal import job
from cdk_trainyard.rehearsal.agent import Bundle
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.hyperpod.agent import HyperPodAgent
from cdk_trainyard.rehearsal.hyperpod.clusters import HyperPodClusters
from cdk_trainyard.rehearsal.hyperpod.machines import HyperPodMachines
from cdk_trainyard.rehearsal.metrics import DeployedAlarms, Workspace, await_alarm, await_message, await_metrics
from cdk_trainyard.rehearsal.model import Cluster, Lustre, Node
from cdk_trainyard.rehearsal.report import NEVER_PROVEN
from cdk_trainyard.rehearsal.scenario import Scenario, slowest_steps

_DOWN = "NodeDown"
_IDLE_SECONDS = 600
_RENDERED = ("settings.json", "provisioning_parameters.json", "shared_users.txt")


class HyperPodScenario(Scenario[HyperPodAgent]):
    """A HyperPod cluster with Slurm."""

    not_proven = (
        "HyperPod's own agents, image, auto-resume plugin and node replacement: done here as AWS documents them",
        "the way out of the subnet, and CloudWatch: scripts and logs were handed over, by nobody on the nodes",
        *NEVER_PROVEN,
    )

    @classmethod
    def is_there(cls, control_plane: ControlPlane) -> bool:
        """Return whether there is a cluster."""
        return bool(HyperPodClusters(control_plane).names())

    def _make_machines(self) -> HyperPodMachines:
        stage, report = self.stage, self.report
        self._clusters = HyperPodClusters(stage.control_plane)
        with report.step("scripts from the bucket") as step:
            cluster = self._clusters.cluster()
            bundles = self._bundles(cluster)
            files = sum(len(bundle) for bundle in bundles.values())
            what = f"{files} files of {len(bundles)} bundles" if bundles else "the groups name none"
            step.note(f"cluster {cluster.name}, {what}")
        self._alarms = DeployedAlarms.of(stage.control_plane, bundles)
        return HyperPodMachines(
            self.capped(cluster),
            image=stage.image,
            bundles=bundles,
            job_environment=stage.job_environment,
            auto_resume=stage.options.auto_resume,
            role_of=self._clusters.role_of(cluster),
        )

    def provision(self) -> None:
        """Boot the nodes, run their scripts, and wait until Slurm has them."""
        started = time.monotonic()
        with self.report.step("boot") as step:
            self.machines.boot()
            step.note(f"{len(self.machines.by_name)} nodes")
        if self._alarms:
            self._workspace.open(self._alarms)
        with self.report.step("lifecycle scripts") as step:
            self.provision_nodes(self.machines.cluster.nodes)
            step.note("; ".join(slowest_steps(self.logs())))
        with self.report.step("every node idle in Slurm") as step:
            self.machines.slurm.wait_until("idle", self._compute_hosts(), seconds=_IDLE_SECONDS)
            step.note(f"{time.monotonic() - started:.1f} s after power-on")
        if self._alarms:
            with self.report.step("metrics of every node in the workspace") as step:
                hosts = [node.host for node in self.machines.cluster.nodes]
                step.note(f"{await_metrics(self._workspace, hosts)} series of {len(hosts)} nodes")

    def train(self) -> None:
        """Run the job undisturbed, run it again with a power cut, and compare what they learned; let an alarm ring."""
        if self._alarms and f'"{_DOWN}"' in "".join(self._alarms.rules.values()):
            self._ring()
        title = "training job"
        if len(self._compute_hosts()) < job.NODES:
            self.report.skip(title, f"it needs {job.NODES} compute nodes")
        elif not self.machines.cluster.file_systems:
            self.report.skip(title, "it needs a shared file system on the nodes")
        else:
            self._train(*self._shared())

    def scale(self, group: str, count: int) -> str:
        """Change the size of a group as a user does, and let new nodes join; return what was done."""
        machines = self.machines
        known = {node.name: node for node in machines.cluster.nodes}
        self._clusters.scale(group, count)
        wanted = self.capped(self._clusters.cluster())
        # the local AWS knows nothing of controllers that were replaced here
        machines.change(wanted.with_nodes([known.get(node.name, node) for node in wanted.nodes]))
        new = [node for node in machines.cluster.nodes if node.name not in known]
        machines.boot(new)
        self.provision_nodes(new)
        machines.slurm.wait_until("idle", [node.host for node in new], seconds=_IDLE_SECONDS)
        return f"{len(known)} nodes became {len(machines.by_name)}"

    # ------------------------------------------------------------ parts
    def _put_log(self, node: Node, lines: Sequence[str]) -> None:
        self._clusters.put_log(self.machines.cluster, node, lines)

    def _launched_for(self, node: Node) -> str:
        return self._clusters.replace(node)

    def _bundles(self, cluster: Cluster) -> Mapping[str, Bundle]:
        uploaded = self._clusters.bundles(cluster)
        return {source: self.own_scripts(files, _RENDERED) for source, files in uploaded.items()}

    @property
    def _workspace(self) -> Workspace:
        return Workspace(self.machines.slurm.controller)

    def _ring(self) -> None:
        """Cut a node's power, and see its alarm ring, once, and end when it is back."""
        workspace, victim = self._workspace, self.machines.cluster.with_role("compute")[-1]
        with self.report.step(f"power cut of {victim.name}: {_DOWN} rings, and ends") as step:
            self.machines.machine(victim.name).crash()
            await_alarm(workspace, _DOWN, victim.host, rings=True)
            if self._alarms and self._alarms.alert_manager:
                step.note(await_message(workspace, f"[FIRING] {_DOWN}"))
            self.machines.boot([victim])
            self.machines.slurm.wait_until("idle", [victim.host], seconds=_IDLE_SECONDS)
            await_alarm(workspace, _DOWN, victim.host, rings=False)

    def _train(self, system: Lustre, mount: str) -> None:
        with self.report.step("training job, undisturbed") as step:
            calm = self._start_job(system, mount, "undisturbed")
            calm.finish()
            step.note(f"weights {calm.weights[:12]}")
        victim = self.machines.cluster.with_role("compute")[job.NODES - 1]
        title = f"training job, power cut of {victim.name} after step {self.stage.options.cut_at}"
        with self.report.step(title) as step:
            cut = self._start_job(system, mount, "interrupted")
            cut.wait_for_step(self.stage.options.cut_at)
            self._cut_power(victim)
            cut.finish()
            step.note(f"went on at step {cut.starts[-1]}, {cut.attempts}, weights {cut.weights[:12]}")
        with self.report.step("both runs learned the same, to the bit") as step:
            if cut.weights != calm.weights:
                raise RehearsalError(f"weights differ: {calm.weights[:12]} and {cut.weights[:12]}")

    def _cut_power(self, victim: Node) -> None:
        machine = self.machines.machine(victim.name)
        machine.crash()
        # HyperPod's health agent marks the node; Slurm alone notices after SlurmdTimeout
        self.machines.slurm.mark(victim.host, "down", "rehearsal: power cut")
        self.report.say(f"{victim.name}: power cut")
        self.report.say(self.replace(victim.name))

    def _start_job(self, system: Lustre, mount: str, name: str) -> job.Job:
        # a job on HyperPod loses a node and goes on; with the stand-in of its plugin it must be told not to end
        options = ["--no-kill"] if self.stage.options.auto_resume else []
        place = job.Place.on(self.machines, system, mount)
        started = job.submit(self.machines, place, name, steps=self.stage.options.train_steps, options=options)
        self.report.say(f"job {started.number} submitted")
        return started

    def _shared(self) -> tuple[Lustre, str]:
        """Return the file system that compute nodes have mounted, and where."""
        machine = self.machines.by_name[self.machines.cluster.with_role("compute")[0].name]
        mounts = machine.run("findmnt", "--noheadings", "--raw", "--output=TARGET").out.splitlines()
        places = [mount for mount in mounts if not mount.startswith("/run/")]
        found = machine.run("stat", "--format=%d:%i", *places).out.splitlines()  # a bound directory is the same inode
        for system in self.machines.cluster.file_systems:
            root = self.machines.shared(system).stat()
            for place, inode in zip(places, found, strict=True):
                if inode == f"{root.st_dev}:{root.st_ino}":
                    return system, place
        raise RehearsalError(f"{machine.node.name} has mounted none of the deployment's file systems")

    def _compute_hosts(self) -> list[str]:
        return [node.host for node in self.machines.cluster.with_role("compute")]
