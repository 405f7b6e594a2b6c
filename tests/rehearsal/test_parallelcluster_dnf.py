"""The Neuron installer as on Amazon Linux 2023: real dnf and rpm, against stubs of Neuron's repository.

The node is Debian, says that it is Amazon Linux, and has Debian's dnf: there is nothing of Amazon's own repositories.
"""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import Machine, Machines, ScriptRun
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.agent import PROVISIONING_LOG, run_unit
from cdk_trainyard.rehearsal.nodes import NodeFile
from cdk_trainyard.rehearsal.parallelcluster.agent import ParallelClusterAgent
from cdk_trainyard.rehearsal.parallelcluster.neuron import Repositories, make_repositories
from cdk_trainyard.versions import pinned_release
from tests.rehearsal.clusters import PATIENCE_SECONDS
from tests.rehearsal.pcluster_parts import QUEUE, booted, bundle, config_with_neuron, install, node, text, upload

pytestmark = pytest.mark.nodes

SYSTEM = "alinux2023"
PINS = pinned_release("parallelcluster")
PINNED = [
    f"aws-neuronx-collectives-{PINS.collectives}_rehearsal-1.x86_64",
    f"aws-neuronx-dkms-{PINS.driver}_rehearsal-1.x86_64",
    f"aws-neuronx-runtime-lib-{PINS.runtime}_rehearsal-1.x86_64",
    f"aws-neuronx-tools-{PINS.tools}_rehearsal-1.x86_64",
]
KERNEL = "6.1.155-176.282.amzn2023.x86_64"
HEADERS = f"""Name: kernel-devel
Version: 6.1.155
Release: 176.282.amzn2023
Summary: stub of a rehearsal
License: none
AutoReqProv: no
Provides: kernel-devel-uname-r = {KERNEL}
%description
%install
install -d %{{buildroot}}/lib/modules/{KERNEL}/build
%files
/lib/modules/{KERNEL}/build
"""


@pytest.fixture(scope="module")
def repositories(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Repositories:
    return make_repositories(image, bundle(), SYSTEM, tmp_path_factory.mktemp("repositories"))


@pytest.fixture(scope="module")
def other(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Repositories:
    """The same packages, signed with another key."""
    return make_repositories(image, bundle(), SYSTEM, tmp_path_factory.mktemp("other"))


@pytest.fixture(scope="module")
def worker(aws: LocalAws, image: Path, repositories: Repositories) -> Iterator[Machine]:
    """A Trainium node on which ParallelCluster has run the installer."""
    upload(aws, repositories)
    config, name = config_with_neuron(SYSTEM), f"{QUEUE}-1"
    with booted(aws, image, node(QUEUE, 1, 11), config=config, sites=repositories.sites) as made:
        run_actions(made, name)
        yield made.machine(name)


def run_actions(machines: Machines[ParallelClusterAgent], name: str) -> None:
    ended = machines.agent.run_actions(machines.machine(name), "-postinstall")
    assert ended.code == 0, ended.output


def packages(machine: Machine) -> list[str]:
    """Every package of rpm on a node, and every key that it trusts."""
    return sorted(machine.run("rpm", "--query", "--all").out.split())


def key_of(repositories: Repositories) -> str:
    return f"gpg-pubkey-{repositories.fingerprint[-8:].lower()}-"


def test_a_stub_is_made_of_every_pin(repositories: Repositories) -> None:
    made = sorted(path.stem for path in repositories.packages.glob("x86_64/*.rpm"))
    assert [name for name in made if "-99.0_" not in name] == PINNED
    assert len(made) == 2 * len(PINNED)


def test_the_installer_brings_driver_and_runtime(worker: Machine, repositories: Repositories) -> None:
    *listed, key = packages(worker)
    assert listed == PINNED
    assert key.startswith(key_of(repositories))
    assert worker.run("sh", "-c", "ls /dev/neuron* | wc -l").out.strip() == "16"
    assert worker.run("/opt/aws/neuron/bin/aws-neuronx-tools").out == f"aws-neuronx-tools {PINS.tools} is a stub\n"
    assert "gpgcheck=1\ngpgkey=file:///etc/pki/rpm-gpg/neuron.asc\n" in text(worker, "/etc/yum.repos.d/neuron.repo")
    assert worker.run("dpkg-query", "--show", "aws-neuronx-*", check=False).code != 0  # not by the node's other manager


def test_the_second_run_changes_nothing(worker: Machine) -> None:
    watched = ["stat", "--format=%y", "/etc/pki/rpm-gpg/neuron.asc", "/var/lib/rpm/rpmdb.sqlite", "/var/cache/dnf"]
    before = worker.run(*watched).out
    ended = install(worker)
    assert ended.code == 0, ended.output
    assert ended.output.count("nothing to do") == 4
    assert worker.run(*watched).out == before


def test_a_later_version_becomes_the_pinned_one(worker: Machine) -> None:
    worker.run("dnf", "--assumeyes", "upgrade", "aws-neuronx-tools")
    assert "aws-neuronx-tools-99.0_rehearsal-1.x86_64" in packages(worker)
    ended = install(worker)
    assert ended.code == 0, ended.output
    assert packages(worker)[:-1] == PINNED


def test_pytorch_is_refused_before_anything_is_done(worker: Machine) -> None:
    ended = install(worker, "--venv", "/apps/neuron")
    assert ended.code == 1
    assert "PyTorch for Neuron needs glibc 2.35, and Amazon Linux 2023 has 2.34" in ended.output
    assert not (worker.root / "apps/neuron").exists()


HOLD = """
import fcntl, os, pathlib, time
fcntl.lockf(os.open("/var/lib/rpm/.rpm.lock", os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)
held = pathlib.Path("/run/held")
held.touch()
while held.exists():
    time.sleep(0.1)
"""


# ---------------------------------------------------------------- what goes wrong
@pytest.fixture
def bare(worker: Machine, repositories: Repositories, tmp_path: Path) -> Iterator[Machine]:
    """A node without anything of Neuron's; afterwards the repository is as it was, and the installer succeeds."""
    worker.run("sh", "-c", "rpm --erase $(rpm --query --all)")
    worker.run("sh", "-c", "rm -rf /dev/neuron* /etc/pki/rpm-gpg /etc/yum.repos.d /var/cache/dnf")
    kept = tmp_path / "kept"
    shutil.copytree(repositories.packages, kept)
    yield worker
    replace_content(repositories.packages, kept)
    ended = install(worker)
    assert ended.code == 0, ended.output
    assert set(PINNED) <= set(packages(worker))


def replace_content(directory: Path, other: Path) -> None:
    """Fill a directory that nodes are served from with another's content."""
    for path in directory.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(other, directory, dirs_exist_ok=True)


def run_beside_another(machine: Machine, start: Callable[[], ScriptRun]) -> ScriptRun:
    """A run while another program has rpm's lock, as the update of the SSM agent at the first boot.

    The other one lets go when the log says that it is waited for.
    """
    log, held = machine.root / PROVISIONING_LOG.lstrip("/"), ["test", "-e", "/run/held"]
    log.write_text("")
    machine.run("systemd-run", "--quiet", "--collect", "python3", "-c", HOLD)
    wait_for("the lock", lambda: machine.run(*held, check=False).code == 0, seconds=PATIENCE_SECONDS)
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(start)
        try:
            waits = "another program has rpm's lock"
            wait_for("the run to wait", lambda: waits in log.read_text() or ending.done(), seconds=PATIENCE_SECONDS)
        finally:
            machine.run("rm", "/run/held")
        assert waits in log.read_text()
        return ending.result()


def test_the_key_waits_for_another_program(bare: Machine) -> None:
    ended = run_beside_another(bare, lambda: install(bare))
    assert ended.code == 0, ended.output
    assert "[neuron_repository] another program has rpm's lock" in ended.output


def test_packages_wait_for_another_program(bare: Machine) -> None:
    """It comes between two steps: only one of them is run here."""
    assert install(bare).code == 0
    bare.run("rpm", "--erase", "aws-neuronx-tools")
    (folder,) = (bare.root / "opt/trainyard/scripts").iterdir()
    steps = (
        "here=$PWD; source lib/steps.sh; source neuron_node.sh\n"
        f"install_packages 900 aws-neuronx-tools {PINS.tools} >>{PROVISIONING_LOG}"
    )
    words, directory = ["bash", "-c", steps], f"/opt/trainyard/scripts/{folder.name}"
    ended = run_beside_another(bare, lambda: run_unit(bare, "step", words, directory=directory))
    assert ended.code == 0, ended.output


def test_a_missing_key_is_named(bare: Machine, repositories: Repositories) -> None:
    repositories.key.unlink()
    ended = install(bare)
    assert ended.code != 0
    assert "waited in vain for Neuron's key" in ended.output
    assert "the subnet has no way to *.repos.neuron.amazonaws.com" in ended.output
    assert packages(bare) == []


def test_another_key_is_refused_before_it_is_trusted(
    bare: Machine, repositories: Repositories, other: Repositories
) -> None:
    replace_content(repositories.packages, other.packages)
    ended = install(bare)
    assert ended.code != 0
    assert f"is {other.fingerprint}, and must be {repositories.fingerprint}; nothing was installed" in ended.output
    assert not (bare.root / "etc/pki/rpm-gpg/neuron.asc").exists()
    assert packages(bare) == []


@pytest.mark.parametrize("known", [False, True], ids=["never seen", "seen before"])
def test_a_repository_that_is_down_is_named(bare: Machine, repositories: Repositories, *, known: bool) -> None:
    """dnf itself would go on without it: Debian's is told to."""
    if known:  # then dnf has its lists
        assert install(bare).code == 0
        bare.run("rpm", "--erase", *PINNED)
    shutil.rmtree(repositories.packages / "repodata")
    ended = install(bare)
    assert ended.code != 0
    assert "waited in vain for Neuron's repository" in ended.output
    assert "the repository is down" in ended.output
    assert not set(PINNED) & set(packages(bare))


def altered(_node: Machine, content: Path, _other: Path) -> None:
    """Other bytes than when the lists were made."""
    (package,) = content.glob("x86_64/aws-neuronx-dkms-2*.rpm")
    data = bytearray(package.read_bytes())
    data[-10] ^= 1
    package.write_bytes(data)


def unsigned(node: Machine, content: Path, _other: Path) -> None:
    """Signed by nobody, in a repository whose lists agree with it."""
    place = node.root / "srv/unsigned"
    shutil.copytree(content, place)
    node.run("sh", "-c", "rpmsign --delsign /srv/unsigned/x86_64/*.rpm && createrepo_c --quiet /srv/unsigned")
    replace_content(content, place)
    shutil.rmtree(place)


def signed_by_another(_node: Machine, content: Path, other: Path) -> None:
    """Signed by somebody else, in a repository that has the right key and lists that agree."""
    key = next(content.glob("*.PUB")).read_bytes()
    replace_content(content, other)
    next(content.glob("*.PUB")).write_bytes(key)


@pytest.mark.parametrize(
    ("tamper", "said"),
    [(altered, "checksum"), (unsigned, "is not signed"), (signed_by_another, "GPG check FAILED")],
)
def test_a_package_that_was_tampered_with_is_refused(
    bare: Machine,
    repositories: Repositories,
    other: Repositories,
    tamper: Callable[[Machine, Path, Path], None],
    said: str,
) -> None:
    tamper(bare, repositories.packages, other.packages)
    ended = install(bare)
    assert ended.code != 0
    assert said in ended.output, ended.output
    assert [name for name in packages(bare) if not name.startswith(key_of(repositories))] == []
    assert not (bare.root / "dev/neuron0").exists()


# ---------------------------------------------------------------- the kernel's headers
def test_headers_are_installed_for_the_kernel_that_runs(bare: Machine) -> None:
    """The package is a stub, the kernel's name is Amazon's, and dnf finds the one by the other."""
    bare.write("/usr/local/bin/uname", NodeFile(text=f"#!/bin/sh\necho {KERNEL}\n", mode=0o755))
    bare.write("/root/kernel-devel.spec", NodeFile(text=HEADERS))
    bare.write(
        "/etc/yum.repos.d/amazonlinux.repo",
        NodeFile(text="[amazonlinux]\nname=Amazon Linux\nbaseurl=file:///srv/amazonlinux\ngpgcheck=0\n"),
    )
    options = "--define '_rpmdir /srv/amazonlinux' --define '__os_install_post %{nil}' --define 'debug_package %{nil}'"
    make = f"rpmbuild -bb --quiet --target x86_64 {options} /root/kernel-devel.spec && createrepo_c /srv/amazonlinux"
    bare.run("sh", "-c", make)
    ended = install(bare)
    assert ended.code == 0, ended.output
    assert "kernel-devel-6.1.155-176.282.amzn2023.x86_64" in packages(bare)
    bare.run("rm", "-r", "/usr/local/bin/uname", "/etc/yum.repos.d/amazonlinux.repo")
