"""ParallelCluster: the head node, nodes that Slurm asks for, their custom actions, and a job that has whole nodes."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from cdk_trainyard.rehearsal import job
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.agent import Bundle
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.egress_proxy import EgressProxy
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.machines import Machines
from cdk_trainyard.rehearsal.model import Group, Node
from cdk_trainyard.rehearsal.parallelcluster import neuron
from cdk_trainyard.rehearsal.parallelcluster.agent import POWER, SHARED, ParallelClusterAgent
from cdk_trainyard.rehearsal.parallelcluster.clusters import (
    HEAD,
    Config,
    Described,
    ParallelClusters,
    actions,
    flag,
    mount_path,
)
from cdk_trainyard.rehearsal.report import NEVER_PROVEN
from cdk_trainyard.rehearsal.roles import InstanceRoles
from cdk_trainyard.rehearsal.scenario import Scenario, slowest_steps

_IDLE_SECONDS = 600
_BOOTSTRAP = "trainyard/bootstrap.sh"
_EVENTS = ("OnNodeStart", "OnNodeConfigured")


class ParallelClusterScenario(Scenario[ParallelClusterAgent]):
    """A cluster of ParallelCluster with Slurm."""

    not_proven = (
        "ParallelCluster's own images, cookbooks and daemons: done here in the order and with the files that they have",
        "the operating system: Debian with the os-release of the cluster's system, and Debian's apt, dnf and rpm",
        "Neuron's packages: stubs with the pinned versions; kernel headers and modprobe are stand-ins",
        "Neuron's key: a test key signed the stubs, and its fingerprint is in the bucket's copy of neuron_node.sh",
        "EBS over NFS: one directory for all nodes",
        *NEVER_PROVEN,
    )

    @classmethod
    def is_there(cls, control_plane: ControlPlane) -> bool:
        """Return whether there is a cluster."""
        return bool(ParallelClusters(control_plane).names())

    def _make_machines(self) -> Machines[ParallelClusterAgent]:
        stage = self.stage
        self._clusters = ParallelClusters(stage.control_plane)
        with self.report.step("scripts in the bucket") as step:
            self.described: Described = self._clusters.read()
            sites = self._prepare_scripts()
            what = ", ".join(f"{len(found)} on {where}" for where, found in self._actions()) or "none"
            step.note(f"cluster {self.described.name}, custom actions: {what}")
        egress_proxy = EgressProxy(
            endpoint=stage.control_plane.endpoint, region=stage.control_plane.region, sites=sites
        )
        stage.stack.enter_context(egress_proxy)
        # the head node, and one for each pool of login nodes, take places of their own
        most_static = self.most - 1 - len(self.described.pools)
        wanted = sum(resource.static for resource in self.described.resources)
        if wanted > most_static:
            self.report.say(f"{wanted} nodes always run: {most_static} of them do here (--max-nodes)")
        agent = ParallelClusterAgent(
            self.described, self._clusters.cluster(self.described), most_static=max(0, most_static)
        )
        machines = Machines(
            agent,
            image=stage.image,
            job_environment=stage.job_environment,
            egress_proxy=egress_proxy,
            role_of=InstanceRoles(stage.control_plane),
        )
        agent.fill_shared(machines.shared_folder)
        return machines

    def provision(self) -> None:
        """Boot the head node, then login nodes and those that always run; run the custom actions of each."""
        started = time.monotonic()
        with self.report.step("head node: boot, custom actions, slurmctld"):
            self._start([self.described.head])
        first = [self._clusters.launch(self.described, group, 1) for group in self._groups("login")]
        if first:
            with self.report.step("login nodes"):
                self._start(first)
        static = self._static()
        if static:
            with self.report.step("nodes that always run"):
                self._wait_until_idle(self._power_up(static))
        with self.report.step("Slurm answers on the head node") as step:
            states = wait_for("an answer of slurmctld", lambda: self.states() or None, seconds=_IDLE_SECONDS)
            step.note(f"{len(states)} nodes in its configuration, {time.monotonic() - started:.1f} s after power-on")

    def train(self) -> None:
        """Submit a job to a queue that has room; Slurm asks for its nodes, which boot, run their actions and train."""
        queue = next((name for name in self._queues() if self._room(name) >= job.NODES), None)
        if queue is None:
            self.report.skip("training job", f"it needs {job.NODES} compute nodes of one queue (--max-nodes)")
            return
        options = [f"--partition={queue}", f"--nodes={job.NODES}"]
        with self.report.step(
            f"job of {job.NODES} tasks on {job.NODES} nodes of {queue}: Slurm asks for nodes"
        ) as step:
            number = self.machines.slurm.submit(
                "/", *options, "--ntasks-per-node=1", "--output=/dev/null", "--wrap=srun hostname", environment={}
            )
            names = self._requested(queue)
            step.note(" ".join(names) or "those that run are enough")
        with self.report.step("the nodes it needs: boot, custom actions, slurmd") as step:
            self._power_up(names)
            step.note("; ".join(slowest_steps(self.logs())))
        with self.report.step("it ran, on whole nodes where the queue says so") as step:
            step.note(self._check_job(number, queue))
        self._train(queue)

    def _train(self, queue: str) -> None:
        place = self._place()
        if place is None:
            self.report.skip("training job", "it needs a shared directory on the nodes")
            return
        with self.report.step("training job") as step:
            steps = self.stage.options.train_steps
            run = job.submit(self.machines, place, "run", steps=steps, options=[f"--partition={queue}"])
            self.report.say(f"job {run.number} submitted")
            run.finish()
            step.note(f"weights {run.weights[:12]}")

    # ------------------------------------------------------------ scripts
    def _actions(self) -> Iterator[tuple[str, Sequence[Config]]]:
        """Yield every section of the configuration that has custom actions, and the actions."""
        described = self.described
        sections: list[tuple[str, Config]] = [(HEAD, described.config[HEAD])]
        sections += [(f"queue {queue['Name']}", queue) for queue in described.queues]
        sections += [(f"login pool {pool['Name']}", pool) for pool in described.pools]
        for where, section in sections:
            found = [action for event in _EVENTS for action in actions(section, event)]
            if found:
                yield where, found

    def _prepare_scripts(self) -> dict[str, Path]:
        """Put the user's own scripts into the bucket, and the test key; return the repositories' sites."""
        control_plane, sites = self.stage.control_plane, {}
        for source in self._folders():
            uploaded = control_plane.bundle(source)
            files = dict(self.own_scripts(uploaded, [_BOOTSTRAP]))
            if neuron.SCRIPT in files:
                made = self._make_repositories(files)
                files[neuron.SCRIPT] = neuron.with_key(files[neuron.SCRIPT], made.fingerprint)
                sites = dict(made.sites)
                self.report.say(f"the bucket's {neuron.SCRIPT} trusts the test key {made.fingerprint}")
            if files != uploaded:
                control_plane.replace_bundle(source, files)
        return sites

    def _make_repositories(self, bundle: Bundle) -> neuron.Repositories:
        """Make stubs of Neuron's repositories, which are there until the rehearsal ends."""
        place = Path(self.stage.stack.enter_context(tempfile.TemporaryDirectory(prefix="neuron-")))
        system = str(self.described.config["Image"]["Os"])
        if system not in neuron.KINDS:
            self.report.say(f"nodes have no package manager of {system}: installing Neuron's packages will fail")
        return neuron.make_repositories(self.stage.image, bundle, system, place)

    def _folders(self) -> list[str]:
        """Return the folders of scripts that the stack uploaded beside the fixed bootstrap of the head node."""
        buckets = {
            urlsplit(action["Script"]).netloc
            for _, found in self._actions()
            for action in found
            if action["Script"].startswith("s3://")
        }
        pages = self.stage.control_plane.client("s3").get_paginator("list_objects_v2")
        keys = [
            (bucket, row["Key"])
            for bucket in sorted(buckets)
            for page in pages.paginate(Bucket=bucket)
            for row in page.get("Contents", [])
        ]
        return [
            f"s3://{bucket}/{key.removesuffix(f'/{_BOOTSTRAP}')}" for bucket, key in keys if key.endswith(_BOOTSTRAP)
        ]

    def _put_log(self, node: Node, lines: Sequence[str]) -> None:
        self._clusters.put_log(self.described, node, lines)

    # ------------------------------------------------------------ nodes
    def _groups(self, role: str) -> list[Group]:
        return [group for group in self.machines.cluster.groups if group.role == role]

    def _start(self, nodes: Sequence[Node]) -> None:
        """Boot nodes and let ParallelCluster configure them."""
        known = {node.name for node in self.machines.cluster.nodes}
        fresh = [node for node in nodes if node.name not in known]
        self.machines.change(self.machines.cluster.with_nodes([*self.machines.cluster.nodes, *fresh]))
        self.machines.boot(nodes)
        self.provision_nodes(nodes)

    def _power_up(self, names: Sequence[str]) -> list[Node]:
        """Launch the instances that Slurm asks for, as ParallelCluster's slurm_resume does, and start them.

        Raises:
            RehearsalError: They are more than may be booted.
        """
        room = self.most - len(self.machines.by_name)
        if len(names) > room:
            raise RehearsalError(f"Slurm asks for {len(names)} nodes, and {room} more may boot (--max-nodes)")
        groups = {group.name: group for group in self.machines.cluster.groups}
        nodes = []
        for name in names:
            group, _, number = name.rpartition("-")
            nodes.append(self._clusters.launch(self.described, groups[group], int(number)))
        self._start(nodes)
        return nodes

    def _static(self) -> list[str]:
        """Return the names of the nodes that always run: ParallelCluster's daemon starts them, Slurm does not ask."""
        return [
            f"{name}-{number}"
            for resource in self.machines.agent.resources
            for name, count in resource.groups[:1]
            for number in range(1, count + 1)
        ]

    def _wait_until_idle(self, nodes: Sequence[Node]) -> None:
        """Wait for nodes; what Slurm set down while it booted is resumed, as ParallelCluster's daemon does."""
        slurm, wanted = self.machines.slurm, {node.host for node in nodes}

        def idle() -> bool:
            states = {host: state for host, state in slurm.states().items() if host in wanted}
            for host in [host for host, state in states.items() if state.startswith("down")]:
                slurm.resume(host)
            return states == dict.fromkeys(wanted, "idle")

        try:
            wait_for("idle nodes", idle, seconds=_IDLE_SECONDS, every=0.3)
        except RehearsalError as error:
            raise RehearsalError(f"{error}; Slurm says: {slurm.states()}") from error

    def _queues(self) -> list[str]:
        """Return the queues that may have enough nodes for a job."""
        most: dict[str, int] = {}
        for resource in self.described.resources:
            most[resource.queue] = most.get(resource.queue, 0) + resource.most
        return [queue for queue, nodes in most.items() if nodes >= job.NODES]

    def _running(self, queue: str) -> int:
        """Return how many nodes of a queue run."""
        cluster = self.machines.cluster
        return len([node for node in cluster.with_role("compute") if cluster.group_of(node).partition == queue])

    def _room(self, queue: str) -> int:
        """Return how many nodes of a queue run, or may still boot."""
        return self._running(queue) + self.most - len(self.machines.by_name)

    def _requested(self, queue: str) -> list[str]:
        """Return the nodes that Slurm wants to run for a job; nothing when those that run are enough."""
        prefix = "resume."
        folder = self.machines.shared_folder(POWER)

        def asked() -> list[str] | None:
            names = sorted(path.name.removeprefix(prefix) for path in folder.glob(f"{prefix}*"))
            return names if len(names) + self._running(queue) >= job.NODES else None

        names = wait_for("Slurm to ask for nodes", asked, seconds=_IDLE_SECONDS)
        for name in names:
            (folder / f"{prefix}{name}").unlink()
        return names

    # ------------------------------------------------------------ the job
    def _place(self) -> job.Place | None:
        """Return a directory of a shared file system: Lustre, if there is one, else a volume that is not /home."""
        storage = self.described.storage
        lustre = next((one for one in storage if one["StorageType"] == "FsxLustre"), None)
        if lustre and self.machines.cluster.file_systems:
            return job.Place.on(self.machines, self.machines.cluster.file_systems[0], mount_path(lustre))
        volume = next((one for one in storage if mount_path(one) != "/home"), None)
        if volume is None:
            return None
        here = self.machines.shared_folder(SHARED) / volume["Name"] / "ubuntu"
        return job.Place(here=here, there=f"{mount_path(volume)}/ubuntu")

    def _check_job(self, number: str, queue: str) -> str:
        """Wait for a job that asked for a core of each node; tell what it was given.

        Raises:
            RehearsalError: It failed, or the queue promises whole nodes and it was given less.
        """
        slurm = self.machines.slurm
        state = wait_for(f"the end of job {number}", lambda: slurm.is_over(number), seconds=_IDLE_SECONDS, every=0.3)
        given = slurm.job(number)
        cores = sum(self._cores(name) for name in slurm.names(given.get("NodeList", "")))
        told = f"{given['NumNodes']} nodes, {given['NumCPUs']} of {cores} CPUs"
        promised = flag(self.described.queue(queue).get("JobExclusiveAllocation"))
        if state != "COMPLETED" or (promised and int(given["NumCPUs"]) != cores):
            raise RehearsalError(f"job {number} is {state}, on {told}")
        return told

    def _cores(self, host: str) -> int:
        shown = self.machines.slurm.controller.run("sinfo", "--noheader", f"--nodes={host}", "--format=%c").out
        return int(shown)
