"""The machine image of rehearsal nodes: a Debian tree with real systemd and real Slurm, built once and shared.

Every node is an overlay over the same read-only tree, so a node costs no time and no space to make. The tree is built
by mmdebstrap from the archive that this machine's own apt uses.
"""

import shlex
from collections.abc import Callable
from pathlib import Path

from cdk_trainyard.rehearsal._process import run, watch
from cdk_trainyard.rehearsal.cache import built, key_of
from cdk_trainyard.rehearsal.errors import RehearsalError

SUITE = "bookworm"
"""The Debian of the image: the one whose Python (3.11) the job's environment is made for."""

_DATA = Path(__file__).parent / "data" / "image"
_BUILD_ONLY = ("gcc", "libc6-dev", "libslurm-dev")  # configure.sh builds a plugin with them and removes them
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*")
_TARGET = "$(REPO_URI)|$(RELEASE)|$(CODENAME)|$(COMPONENT)|$(ORIGIN)|$(SIGNED_BY)"
_PASSED_ON = (
    "Acquire::http",
    "Acquire::https",
    "Acquire::Retries",
    "Acquire::Check-Valid-Until",
    "Acquire::Check-Date",
)


def node_image(say: Callable[[str], None]) -> Path:
    """Return the directory of the image, and build it when this machine has none of this content.

    Args:
        say: Told how the build goes on, a line at a time.

    Raises:
        RehearsalError: The machine's apt has no Debian archive of ``SUITE``, or the build failed.
    """
    return built("node-image", image_key(), lambda target: _build(target, say), say=say)


def image_key() -> str:
    """Return the key of the image that this version of the package builds."""
    files = sorted(path for path in _DATA.iterdir() if path.is_file())
    return key_of([SUITE, *_LEFT_OUT, *(part for path in files for part in (path.name, path.read_bytes()))])


def packages() -> list[str]:
    """Return the names of the packages in the image, beside Debian's minimal set."""
    lines = (_DATA / "packages.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def archive_sources(targets: str) -> list[str]:
    """Return lines for a ``sources.list`` from what apt says of its index files.

    Args:
        targets: Output of ``apt-get indextargets`` in the format ``_TARGET``.

    Raises:
        RehearsalError: None of them is the Debian archive of ``SUITE``.
    """
    sources = set()
    for line in targets.splitlines():
        address, release, codename, component, origin, key = line.split("|")
        # the codename, because a machine may follow "stable"; updates and security have a suffix
        if origin == "Debian" and codename.split("-")[0] == SUITE:
            signed = f"[signed-by={key}] " if key.startswith("/") else ""
            sources.add(f"deb {signed}{address} {release} {component}")
    if not sources:
        raise RehearsalError(
            f"this machine's apt knows no Debian {SUITE} archive; run 'apt-get update', or rehearse on Debian {SUITE}"
        )
    return sorted(sources)


def apt_options(dump: str) -> list[str]:
    """Return the lines of ``apt-config dump`` that say how to reach an archive: proxies, retries, dates."""
    return [line for line in dump.splitlines() if line.split(" ")[0].startswith(_PASSED_ON) and '""' not in line]


def _build(target: Path, say: Callable[[str], None]) -> None:
    listed = run(["apt-get", "indextargets", "--format", _TARGET, "Created-By: Packages"]).out
    options = apt_options(run(["apt-config", "dump"]).out)
    words = [
        "nice", "--adjustment=10", "mmdebstrap", "--variant=minbase", "--mode=root", "--format=directory",
        f"--include={','.join((*packages(), *_BUILD_ONLY))}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT),
        *(f"--aptopt={option}" for option in options),
        f'--customize-hook=bash {shlex.quote(str(_DATA / "configure.sh"))} "$1"',
        SUITE, str(target), "-",
    ]  # fmt: skip
    say("building the node image: about a minute, once")

    def tell(line: str) -> None:
        if line.startswith("I: ") and "hook" not in line:
            say(f"image: {line[3:].strip().rstrip('.')}")

    watch(words, tell, named="mmdebstrap", text="\n".join(archive_sources(listed)) + "\n")
