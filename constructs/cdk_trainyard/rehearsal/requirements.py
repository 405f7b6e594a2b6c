"""What a machine needs to boot nodes, and what of it is missing, said plainly."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from cdk_trainyard.rehearsal import _process
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.job_environment import NODE_PYTHON_VERSION, PYTHON, python_version
from cdk_trainyard.rehearsal.namespaces import Namespaces

PACKAGES = {
    "mmdebstrap": "mmdebstrap",
    "systemd-nspawn": "systemd-container",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
}
"""The Debian package of every program that a rehearsal starts on this machine."""


_INOTIFY = Path("/proc/sys/fs/inotify/max_user_instances")
_INOTIFY_INSTANCES = 8192


def raise_inotify_limit() -> None:
    """Raise the kernel's limit of inotify instances, of which each node's systemd takes about ten.

    By default there are 128 for all of root's programs: enough for a dozen nodes, and the next one never comes up. A
    machine that does not let it be raised boots as many as it can; what a node lacks is on its console.
    """
    if int(_INOTIFY.read_text(encoding="ascii")) < _INOTIFY_INSTANCES:
        with suppress(OSError):
            _INOTIFY.write_text(str(_INOTIFY_INSTANCES), encoding="ascii")


def missing() -> list[str]:
    """Return a sentence for everything that this machine lacks; nothing when nodes can boot here."""
    if sys.platform != "linux":
        return [f"nodes boot on Linux only, this is {sys.platform}"]
    if os.geteuid() != 0:
        return ["nodes boot for root only: they need namespaces, mounts and control groups; run it with sudo"]
    if _process.find("apt-get") is None:
        return ["the node image is built with apt, and this machine has none: rehearse on Debian 12"]
    lacking = missing_packages()
    if lacking:
        return [f"packages are missing: apt-get install --no-install-recommends {' '.join(lacking)}"]
    return [*_python_problems(), *_kernel_problems()]


def missing_packages(programs: Mapping[str, str] = PACKAGES) -> list[str]:
    """Return the Debian packages of those programs that are not here, sorted.

    Args:
        programs: The package of every program. Default - what nodes need.
    """
    return sorted({package for program, package in programs.items() if _process.find(program) is None})


def install(say: Callable[[str], None]) -> None:
    """Install what is missing, with this machine's own apt.

    Raises:
        RehearsalError: Not root, or apt failed.
    """
    packages = missing_packages()
    if not packages:
        return
    if os.geteuid() != 0 or _process.find("apt-get") is None:
        raise RehearsalError("; ".join(missing()))
    words = ["apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", *packages]
    say(f"installing {' '.join(packages)}")
    environment = _process.own_environment(DEBIAN_FRONTEND="noninteractive")
    if _process.run(words, check=False, environment=environment).code:
        say("the lists of packages may be old: apt-get update")
        _process.run(["apt-get", "update", "--quiet=2"], environment=environment)
        _process.run(words, environment=environment)


def _python_problems() -> list[str]:
    if not Path(PYTHON).exists():
        return [f"{PYTHON} is missing: apt-get install python3"]
    version = python_version()
    if version == NODE_PYTHON_VERSION:
        return []
    return [f"{PYTHON} must be Python {NODE_PYTHON_VERSION}, as on the nodes, got {version}: rehearse on Debian 12"]


def _kernel_problems() -> list[str]:
    """Try what nodes need, as a container without privileges refuses it."""
    try:
        with Namespaces() as namespaces:
            namespaces.run("mkdir", "/run/upper", "/run/work", "/run/root")
            layers = "lowerdir=/etc,upperdir=/run/upper,workdir=/run/work"
            namespaces.run("mount", "-t", "overlay", "overlay", "-o", layers, "/run/root")
            namespaces.run("ip", "link", "add", "subnet0", "type", "bridge")
    except (RehearsalError, OSError) as error:
        return [f"this machine gives no namespaces, overlays or bridges: {error}"]
    return []
