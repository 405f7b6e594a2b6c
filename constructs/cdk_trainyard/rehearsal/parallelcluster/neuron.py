"""Stubs of Neuron's repositories: what the scripts pin, signed with a key of the rehearsal's own.

They show that key, source, pins, order, retries and refusals are right. What is in the packages is not rehearsed.
"""

import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdk_trainyard.rehearsal.agent import Bundle
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.namespaces import STATE, Namespaces
from cdk_trainyard.rehearsal.nodes import NodeFile

SCRIPT = "neuron_node.sh"
"""The file that names the key; the versions, it or what it reads."""

_HOSTS = {site: f"{site}.repos.neuron.amazonaws.com" for site in ("apt", "yum", "pip")}
_OTHER_PYTHON = "python.rehearsal.internal"
"""An index without any package, in the place of the public one."""

KEY_FILE = "GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB"

PIP_CONF = {
    "/etc/pip.conf": NodeFile(
        text=f"[global]\nindex-url = https://{_OTHER_PYTHON}/\ncert = /etc/ssl/certs/ca-certificates.crt\n"
    )
}
"""Points a node's pip to the index without any package."""

_KEY = re.compile(rb"^NEURON_KEY=([0-9A-F]{40})$", re.MULTILINE)
_SEPARATORS = re.compile(r"[-_.]+")
_DATA = Path(__file__).parents[1] / "data" / "neuron"
KINDS = {"ubuntu2204": "jammy", "ubuntu2404": "noble", "alinux2023": "dnf"}
"""The systems for which stubs can be made: the names under which apt knows them, or the other package manager."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repositories:
    """The stubs.

    Attributes:
        directory: Where they are.
        packages: The one with the packages of the nodes' package manager, and the key.
        fingerprint: Of the key that signed them.
    """

    directory: Path
    packages: Path
    fingerprint: str

    @property
    def sites(self) -> Mapping[str, Path]:
        """The names under which nodes find them."""
        return {host: self.directory / site for site, host in _HOSTS.items()} | {
            _OTHER_PYTHON: self.directory / "nothing"
        }

    @property
    def key(self) -> Path:
        """The key as nodes fetch it."""
        return self.packages / KEY_FILE


def make_repositories(image: Path, bundle: Bundle, system: str, directory: Path) -> Repositories:
    """Make stubs of everything that the scripts pin.

    Args:
        image: The node image, whose tools make them.
        bundle: The scripts, ``SCRIPT`` among them.
        system: The nodes' operating system, as ParallelCluster has it.
        directory: Where they are made.

    Raises:
        RehearsalError: The scripts pin nothing, or a tool failed.
    """
    for name in (*_HOSTS, "nothing"):
        (directory / name).mkdir(parents=True)
    for name, data in bundle.items():
        path = directory / "bundle" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    kind = KINDS.get(system, "none")
    _run_in_image(image, directory, ["/srv/bundle", "/srv", kind])
    for requirement in (directory / "python-packages").read_text().split():
        name, _, version = requirement.partition("==")
        _make_wheel(directory / "pip", name, version)
    return Repositories(
        directory=directory,
        packages=directory / ("yum" if kind == "dnf" else "apt"),
        fingerprint=(directory / "fingerprint").read_text().strip(),
    )


def with_key(script: bytes, fingerprint: str) -> bytes:
    """Return a script that trusts another key.

    Raises:
        RehearsalError: It names no key.
    """
    changed, count = _KEY.subn(f"NEURON_KEY={fingerprint}".encode(), script)
    if count != 1:
        raise RehearsalError(f"{SCRIPT} must name one key, got {count}")
    return changed


def _run_in_image(image: Path, directory: Path, words: Sequence[str]) -> None:
    """Run the script that makes them in a copy of the image that vanishes with its namespaces."""
    copy = STATE / "workshop"
    with Namespaces() as namespaces:
        for name in ("upper", "work", "root"):
            namespaces.path(copy / name).mkdir(parents=True)
        layers = f"lowerdir={image},upperdir={copy}/upper,workdir={copy}/work"
        namespaces.run("mount", "-t", "overlay", "overlay", "-o", layers, f"{copy}/root")
        for source, place in ((directory, "srv"), ("/dev", "dev"), ("/proc", "proc")):
            namespaces.run("mount", "--rbind", str(source), f"{copy}/root/{place}")
        program = namespaces.path(copy / "root" / "root" / "repositories.sh")
        program.write_bytes((_DATA / "repositories.sh").read_bytes())
        namespaces.run("chroot", f"{copy}/root", "bash", "/root/repositories.sh", *words)


def _make_wheel(index: Path, name: str, version: str) -> None:
    """Make a package without content, and the page that an index has of it."""
    distribution = _SEPARATORS.sub("_", name)
    info = f"{distribution}-{version}.dist-info"
    file = f"{distribution}-{version}-py3-none-any.whl"
    contents = {
        f"{distribution}/__init__.py": f'"""Stub of {name} {version}."""\n',
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: rehearsal\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*contents, f"{info}/RECORD"))
    page = index / _SEPARATORS.sub("-", name).lower()
    page.mkdir()
    with zipfile.ZipFile(page / file, "w") as wheel:
        for path, text in {**contents, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)
    (page / "index.html").write_text(f'<!DOCTYPE html><a href="{file}">{file}</a>\n')
