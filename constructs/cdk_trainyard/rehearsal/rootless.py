"""Slurm without root: two slurmd of one machine, as the calling user, on loopback. For job scripts, and nothing else.

There are no nodes: no systemd, no lifecycle scripts, no mounts, one host name. What is rehearsed is the job: its
arguments, its rendezvous, its snapshot, and that it goes on after one of its processes was killed.

Debian's ``slurmctld``, ``slurmd``, ``slurm-client`` and ``munge`` must be installed.
"""

import getpass
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.rehearsal import _process
from cdk_trainyard.rehearsal._closing import Closing
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.job import NAME, PROCESSES_PER_NODE, Training
from cdk_trainyard.rehearsal.requirements import missing_packages

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
"""The Debian package of every program that is started."""

_NODES = 2
_UP_SECONDS = 300
_JOB_SECONDS = 1200
_EVERY = 0.5
_EPHEMERAL = 32768  # from here on Linux takes ports for connections
_STEPS, _CUT_AT = 40, 10

_CONF = """\
ClusterName=rootless
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.sock,cred_expire=15
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=3
JobRequeue=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=2
JobCompType=jobcomp/none
"""


def missing() -> list[str]:
    """Return the Debian packages of the programs that are not here, sorted."""
    return missing_packages(PROGRAMS)


def configuration(folder: Path, *, host: str, user: str, port: int) -> str:
    """Return ``slurm.conf`` of a cluster whose files are all in ``folder``."""
    lines = [_CONF.format(folder=folder, host=host, user=user, port=port).rstrip("\n")]
    for number in range(1, _NODES + 1):
        place = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port + number}"
        lines.append(f"NodeName=n{number} {place} CPUs=4 RealMemory=4000 State=UNKNOWN")
    lines.append(f"PartitionName=dev Nodes=n[1-{_NODES}] Default=YES MaxTime=INFINITE State=UP")
    return "\n".join(lines) + "\n"


class Slurm(Closing):
    """A Slurm cluster of one user. Use it in a ``with`` block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._daemons: list[subprocess.Popen[str]] = []
        path = _process.own_environment()["PATH"]
        self._environment = {"PATH": path, "SLURM_CONF": str(folder / "slurm.conf"), "HOME": str(folder)}

    def __enter__(self) -> Self:
        """Start the daemons, and wait until both nodes are idle."""
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End the daemons, the last started first."""
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def run(self, *words: str, environment: Mapping[str, str] | None = None) -> str:
        """Run one of Slurm's commands, and return what it writes."""
        return _process.run(words, environment={**self._environment, **(environment or {})}).out

    def state(self, job: str) -> str:
        """Return the state of a job."""
        fields = dict(word.partition("=")[::2] for word in self.run("scontrol", "-o", "show", "job", job).split())
        return fields["JobState"]

    def _start(self) -> None:
        # munged refuses directories that others may write, and a key that others may read
        for name, mode in (("munge", 0o700), ("run", 0o755), ("state", 0o700)):
            (self._folder / name).mkdir(mode=mode)
        key = self._folder / "munge" / "key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        conf = configuration(self._folder, host=host, user=getpass.getuser(), port=_free_ports(_NODES + 1))
        (self._folder / "slurm.conf").write_text(conf)
        (self._folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        munge = self._folder / "munge"
        self._daemon(
            "munged", "--foreground", f"--socket={self._folder}/run/munge.sock", f"--key-file={key}",
            f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", f"--log-file={munge}/log",
        )  # fmt: skip
        wait_for("munged", (self._folder / "run" / "munge.sock").exists, seconds=_UP_SECONDS)
        self._daemon("slurmctld", "-D")
        for number in range(1, _NODES + 1):
            (self._folder / f"spool-n{number}").mkdir()
            self._daemon("slurmd", "-D", "-N", f"n{number}")
        wait_for("two idle nodes", self._idle, seconds=_UP_SECONDS)

    def _daemon(self, *words: str) -> None:
        with (self._folder / f"{words[0]}.out").open("a") as output:
            self._daemons.append(_process.start(words, output=output, environment=self._environment))

    def _idle(self) -> bool:
        try:
            return set(self.run("sinfo", "--noheader", "--Node", "--format=%t").split()) == {"idle"}
        except RehearsalError:
            return False


def rehearse(python: Path, say: Callable[[str], None]) -> None:
    """Run the job, run it again with one of its processes killed, and compare what they learned.

    Args:
        python: A Python that has torch.
        say: Told how it goes on.

    Raises:
        RehearsalError: It did not pass.
    """
    with tempfile.TemporaryDirectory(prefix="rootless-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(scripts_folder() / "jobs" / NAME, folder / "job")
        with Slurm(folder) as slurm:
            say("two nodes are idle")
            calm = _Run(slurm, folder, python, "undisturbed")
            calm.finish()
            say(f"undisturbed: weights {calm.weights[:12]}")
            killed = _Run(slurm, folder, python, "killed")
            killed.wait_for_step(_CUT_AT)
            killed.kill_one_process()
            say("killed one training process")
            killed.finish()
            say(f"killed: started again at step {killed.starts[-1]}, weights {killed.weights[:12]}")
        if len(killed.starts) != 2:  # noqa: PLR2004  once, and once more
            raise RehearsalError(f"the job must have started twice, got starts at steps {killed.starts}")
        if killed.weights != calm.weights:
            raise RehearsalError(f"weights differ: {calm.weights[:12]} and {killed.weights[:12]}")


class _Run(Training):
    """One run of the job."""

    def __init__(self, slurm: Slurm, folder: Path, python: Path, name: str) -> None:
        super().__init__(folder / name)
        self._slurm = slurm
        self._directory = folder / name
        environment = {
            "PYTHON": str(python), "PROCESSES_PER_NODE": str(PROCESSES_PER_NODE),
            "TRAIN_DIRECTORY": str(self._directory),
            "RENDEZVOUS_HOST": "127.0.0.1", "RENDEZVOUS_PORT": str(_free_ports(1)), "GLOO_SOCKET_IFNAME": "lo",
        }  # fmt: skip
        words = ["env", f"--chdir={folder / 'job'}", "sbatch", "--parsable", "job.sbatch", "--steps", str(_STEPS)]
        self._number = slurm.run(*words, environment=environment).strip()
        self._output = folder / "job" / f"{NAME}-{self._number}.out"

    def wait_for_step(self, step: int) -> None:
        wait_for(f"step {step}", lambda: self.has_reached(step), seconds=_JOB_SECONDS, every=_EVERY)

    def finish(self) -> None:
        what, over = f"the end of job {self._number}", {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"}
        wait_for(what, lambda: self._slurm.state(self._number) in over, seconds=_JOB_SECONDS, every=_EVERY)
        if (state := self._slurm.state(self._number)) != "COMPLETED":
            raise RehearsalError(f"job {self._number} is {state}; it said:\n{self._output.read_text()[-2000:]}")

    def kill_one_process(self) -> None:
        """Kill one of the processes that train into this run's directory."""
        wanted = str(self._directory).encode()
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if wanted in words and b"torch.distributed.run" not in words:
                _process.end(int(path.parent.name), signal.SIGKILL)
                return
        raise RehearsalError("the job has no process to kill")


def _free_ports(count: int) -> int:
    """Return the first of ``count`` ports in a row that nobody uses now."""
    for first in range(20000 + secrets.randbelow(12000), _EPHEMERAL - count, count):
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise RehearsalError("no free ports")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
