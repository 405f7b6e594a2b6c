"""One node: a real machine from a script's point of view, started and ended like one.

systemd is process 1; the node has its own processes, host name, mounts, control groups, address, and a root of its own
over the shared image. Killing its process 1 is a power cut: every process of it is gone at once, its disk stays.
"""

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cdk_trainyard.rehearsal import _process
from cdk_trainyard.rehearsal._process import Finished, wait_for
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.model import Node
from cdk_trainyard.rehearsal.namespaces import STATE, Namespaces
from cdk_trainyard.rehearsal.switch import Switch

_BOOT_SECONDS = 600
_STOP_SECONDS = 300
_NODE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DISK_SIZE = "4g"  # of what the node writes; the memory is taken as it fills
_UP = {"running", "degraded"}  # a unit that failed is for the test to find, not a reason not to be up


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeFile:
    """A file that is on a node before it starts.

    Attributes:
        text: Its content.
        mode: Its permissions.
        owner: Its owner and group, a name of the image.
    """

    text: str | bytes
    mode: int = 0o644
    owner: str = "root"


class Machine:
    """A node that can be booted, cut off, crashed, stopped and wiped.

    Attributes:
        node: Which one it is.
    """

    def __init__(
        self, node: Node, *, namespaces: Namespaces, switch: Switch, image: Path, binds: Mapping[str, str] | None = None
    ) -> None:
        """Describe a machine; nothing is started.

        Args:
            node: Which one it is.
            namespaces: Those that it runs in.
            switch: What its cable is plugged into.
            image: The tree under its root.
            binds: Directories of the namespaces that it shares: place on the node, by place in the namespaces. A place
                on the node with ``:ro`` cannot be written.
        """
        self.node = node
        self._namespaces = namespaces
        self._switch = switch
        self._image = image
        self._binds = dict(binds or {})
        self._directory = STATE / "nodes" / node.name
        self._process: subprocess.Popen[str] | None = None
        self._leader = 0

    @property
    def root(self) -> Path:
        """The node's root directory, as a path that this process can open; there while the node's disk is."""
        return self._namespaces.path(self._directory / "root")

    @property
    def alive(self) -> bool:
        """Whether its process 1 runs."""
        return bool(self._leader) and _process.alive(self._leader)

    @property
    def leader(self) -> int:
        """Its process 1, by its id on the host.

        Raises:
            RehearsalError: It is not running.
        """
        if not self.alive:
            raise RehearsalError(f"node {self.node.name} is not running")
        return self._leader

    def boot(self, files: Mapping[str, NodeFile]) -> None:
        """Start the node; ``wait_until_up`` tells when it is there.

        Args:
            files: What is on its disk when it starts for the first time. A node that crashed or was stopped starts
                with the disk it had.
        """
        if self.alive:
            raise RehearsalError(f"node {self.node.name} is running")
        if self._attach_disk():
            for name, file in files.items():
                self.write(name, file)
        space = self._switch.plug(self.node)
        words = [
            "env", "SYSTEMD_NSPAWN_TMPFS_TMP=0",  # scripts are downloaded to /tmp: on EC2 that is the disk
            "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--settings=no", "--boot",
            "--console=passive", "--resolv-conf=off", "--timezone=off", "--link-journal=no",
            f"--machine={self.node.host}", f"--hostname={self.node.host}",
            f"--directory={self._directory}/root", f"--network-namespace-path={space}",
            *(_bind(outside, inside) for outside, inside in self._binds.items()),
        ]  # fmt: skip
        with self._namespaces.path(self._directory / "console.log").open("a") as console:
            self._process = self._namespaces.start(words, output=console, control_group=self.node.name)

    def wait_until_up(self) -> None:
        """Wait until systemd has started what it starts.

        Raises:
            RehearsalError: The node did not come up; the message holds what systemd waits for, and the end of its
                console.
        """
        try:
            self._leader = wait_for(
                f"process 1 of {self.node.name}", self._find_leader, seconds=_BOOT_SECONDS, every=0.02
            )
            wait_for(f"node {self.node.name} to boot", self._is_up, seconds=_BOOT_SECONDS, every=0.05)
        except RehearsalError as error:
            said = f"{self._unfinished()}\n{self.console()}"
            raise RehearsalError(f"node {self.node.name} did not come up: {error}\n{said}") from error

    def console(self) -> str:
        """Return the end of what the node wrote to its console."""
        path = self._namespaces.path(self._directory / "console.log")
        return path.read_text(errors="replace")[-2000:] if path.exists() else ""

    def run(self, *words: str, check: bool = True, timeout: float | None = 300) -> Finished:
        """Run a program on the node, as root."""
        shown = f"{self.node.name}: {' '.join(words)}"
        return _process.run([*self.enter(), *words], check=check, timeout=timeout, shown=shown)

    def enter(self) -> list[str]:
        """Return the words that stand before a program to run it on the node."""
        spaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
        clean = [
            "env",
            "--chdir=/root",
            "--ignore-environment",
            f"PATH={_NODE_PATH}",
            "HOME=/root",
            "LANG=C.UTF-8",
            "TERM=xterm",
        ]
        return ["nsenter", f"--target={self.leader}", *spaces, "--", *clean]

    def write(self, name: str, file: NodeFile) -> None:
        """Put a file on the node's disk, by its absolute path without links; the node may be running or not."""
        path = self.root
        for part in PurePosixPath(name).parts[1:-1]:
            path /= part
            if path.is_symlink():  # an absolute one would lead to this machine's own files
                raise RehearsalError(f"{name} must be written without the link {part}")
            path.mkdir(exist_ok=True)
        path /= PurePosixPath(name).name
        path.unlink(missing_ok=True)
        path.write_bytes(file.text.encode() if isinstance(file.text, str) else file.text)
        path.chmod(file.mode)
        user, group = _ids_of(self._image, file.owner)
        os.chown(path, user, group)

    def crash(self) -> None:
        """Cut the node's power."""
        _process.end(self.leader, signal.SIGKILL)
        self._wait_for_end()

    def stop(self) -> None:
        """Shut the node down."""
        if self.alive and self._process:
            # nspawn answers TERM with an orderly shutdown; the words before it are parents that wait
            _process.end(_process.parent_of(self._leader) or self._process.pid, signal.SIGTERM)
            self._wait_for_end()

    def set_disk_full(self, *, full: bool) -> None:
        """Leave no space on the node's root file system, or give the space back."""
        status = os.statvfs(self._namespaces.path(self._directory / "disk"))
        used = (status.f_blocks - status.f_bfree) * status.f_frsize
        size = str(used) if full else _DISK_SIZE
        self._namespaces.run("mount", "-o", f"remount,size={size}", f"{self._directory}/disk")

    def wipe(self) -> None:
        """Throw the node's disk away, as with an instance that is replaced."""
        if self.alive:
            self.crash()
        for mount in ("root", "disk"):
            self._namespaces.run("umount", "--recursive", f"{self._directory}/{mount}", check=False)
        self._namespaces.run("rm", "--recursive", "--force", str(self._directory))

    def remove(self) -> None:
        """Wipe the node and take its cable away."""
        self.wipe()
        self._switch.unplug(self.node)

    def _attach_disk(self) -> bool:
        """Give the node a disk unless it has one; return whether it is new."""
        if self._namespaces.path(self._directory / "root" / "etc").is_dir():
            return False
        disk = self._directory / "disk"
        for name in ("disk", "root"):
            self._namespaces.path(self._directory / name).mkdir(parents=True)
        self._namespaces.run("mount", "-t", "tmpfs", "disk", "-o", f"mode=755,size={_DISK_SIZE}", str(disk))
        for name in ("upper", "work"):
            self._namespaces.path(disk / name).mkdir()
        layers = f"lowerdir={self._image},upperdir={disk}/upper,workdir={disk}/work"
        self._namespaces.run("mount", "-t", "overlay", "overlay", "-o", layers, f"{self._directory}/root")
        return True

    def _find_leader(self) -> int | None:
        """Return nspawn's one child that is a systemd: the node's process 1."""
        if self._process is None or self._process.poll() is not None:
            raise RehearsalError("it ended while it booted")
        waiting = [self._process.pid]
        while waiting:
            process = waiting.pop()
            if _process.name_of(process) == "systemd":
                return process
            waiting += _process.children(process)
        return None

    def _is_up(self) -> bool:
        if not self.alive:
            raise RehearsalError("it ended while it booted")
        state = self.run("systemctl", "is-system-running", "--wait", check=False, timeout=_BOOT_SECONDS).out.strip()
        return state in _UP

    def _unfinished(self) -> str:
        """Return what systemd has yet to start, or why it does not answer."""
        try:
            done = self.run("systemctl", "list-jobs", "--no-pager", check=False, timeout=60)
        except RehearsalError as error:
            return str(error)
        return f"process 1 is {self._leader} here; {done.out}{done.err}"

    def _wait_for_end(self) -> None:
        process = self._process
        if process is None:
            return
        wait_for(f"the end of {self.node.name}", lambda: process.poll() is not None, seconds=_STOP_SECONDS, every=0.02)
        self._leader = 0


def _bind(outside: str, inside: str) -> str:
    place, _, mode = inside.partition(":")
    return f"--bind{'-ro' if mode == 'ro' else ''}={outside}:{place}"


def _ids_of(image: Path, owner: str) -> tuple[int, int]:
    """Return the numbers that the image gives a user and their group."""
    for line in (image / "etc" / "passwd").read_text().splitlines():
        fields = line.split(":")
        if fields[0] == owner:
            return int(fields[2]), int(fields[3])
    raise RehearsalError(f"the node image has no user {owner}")
