"""ParallelCluster's nodes: custom actions as they are called, the Neuron installer against stubs of its repository."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import Machine, Machines, RehearsalError
from cdk_trainyard.rehearsal.nodes import NodeFile
from cdk_trainyard.rehearsal.parallelcluster import neuron
from cdk_trainyard.rehearsal.parallelcluster.agent import ParallelClusterAgent
from cdk_trainyard.rehearsal.parallelcluster.clusters import HEAD
from cdk_trainyard.rehearsal.parallelcluster.neuron import Repositories, make_repositories
from cdk_trainyard.versions import pinned_release
from tests.rehearsal.pcluster_parts import (
    FOLDER,
    QUEUE,
    actions,
    booted,
    bundle,
    config_with_neuron,
    install,
    node,
    text,
    upload,
)

pytestmark = pytest.mark.nodes

PINS = pinned_release("parallelcluster")
NOTE = '#!/bin/bash\nprintf "%s\\n" "${0##*/}" "$@" >>/root/ran\n'


@pytest.fixture(scope="module")
def repositories(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Repositories:
    return make_repositories(image, bundle(), "ubuntu2204", tmp_path_factory.mktemp("repositories"))


def test_a_stub_is_made_of_every_pin(repositories: Repositories) -> None:
    debs = sorted(path.stem for path in repositories.packages.glob("pool/*.deb"))
    assert debs == [
        *(f"aws-neuronx-collectives_{PINS.collectives}", "aws-neuronx-collectives_99.0"),
        *(f"aws-neuronx-dkms_{PINS.driver}", "aws-neuronx-dkms_99.0"),
        *(f"aws-neuronx-runtime-lib_{PINS.runtime}", "aws-neuronx-runtime-lib_99.0"),
        *(f"aws-neuronx-tools_{PINS.tools}", "aws-neuronx-tools_99.0"),
    ]
    assert sorted(path.name for path in repositories.directory.glob("pip/*")) == ["neuronx-cc", "torch-neuronx"]


def test_fails_where_nothing_is_pinned(image: Path, tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="nothing is pinned"):
        make_repositories(image, {neuron.SCRIPT: b"NEURON_DRIVER=()\n"}, "ubuntu2204", tmp_path)


@pytest.fixture(scope="module")
def machines(aws: LocalAws, image: Path, repositories: Repositories) -> Iterator[Machines[ParallelClusterAgent]]:
    """A head node and a Trainium node, up; nothing has run on them."""
    upload(aws, repositories, **{"note.sh": NOTE, "fail.sh": "#!/bin/sh\nexit 7\n"})
    head = {
        "CustomActions": {
            "OnNodeStart": actions(("note.sh", ["first", "with space"]), ("note.sh", ["second"])),
            "OnNodeConfigured": actions(("note.sh", ["third"]), ("fail.sh", []), ("note.sh", ["never"])),
        },
    }
    config = config_with_neuron("ubuntu2204", head)
    with booted(aws, image, node(HEAD, 1, 10), node(QUEUE, 1, 11), config=config, sites=repositories.sites) as made:
        yield made


@pytest.fixture
def head(machines: Machines[ParallelClusterAgent]) -> Machine:
    return machines.machine(f"{HEAD}-1")


@pytest.fixture
def worker(machines: Machines[ParallelClusterAgent]) -> Machine:
    return machines.machine(f"{QUEUE}-1")


def forget(machine: Machine) -> None:
    """Take away what the installer has installed."""
    left = "/dev/neuron* /etc/apt/keyrings/neuron.asc /etc/apt/sources.list.d/neuron.list"
    machine.run("sh", "-c", f"apt-get purge --yes 'aws-neuronx-*' >/dev/null 2>&1; rm -rf {left}")


# ---------------------------------------------------------------- custom actions
def test_actions_run_in_order_with_their_arguments(machines: Machines[ParallelClusterAgent], head: Machine) -> None:
    assert machines.agent.run_actions(head, "-preinstall").code == 0
    words = [line for line in text(head, "/root/ran").splitlines() if not line.startswith("tmp")]
    assert words == ["first", "with space", "second"]


def test_the_first_action_that_fails_ends_it(machines: Machines[ParallelClusterAgent], head: Machine) -> None:
    ended = machines.agent.run_actions(head, "-postinstall")
    assert ended.code == 1
    assert f"Failed to execute OnNodeConfigured script 2 {FOLDER}/fail.sh, return code: 7." in ended.output
    assert "never" not in text(head, "/root/ran")


def test_a_script_that_cannot_be_fetched_is_named(machines: Machines[ParallelClusterAgent], head: Machine) -> None:
    """As ParallelCluster does, before any other runs."""
    path = "/opt/parallelcluster/shared/cluster-config.yaml"
    kept = text(head, path)
    head.write(path, NodeFile(text=kept.replace("fail.sh", "none.sh").replace("third", "before")))
    ended = machines.agent.run_actions(head, "-postinstall")
    head.write(path, NodeFile(text=kept))
    assert f"Failed to download OnNodeConfigured script 2 {FOLDER}/none.sh" in ended.output
    assert "before" not in text(head, "/root/ran")


# ---------------------------------------------------------------- the Neuron installer
def test_the_installer_brings_driver_and_runtime(machines: Machines[ParallelClusterAgent], worker: Machine) -> None:
    assert not (worker.root / "dev/neuron0").exists()
    ended = machines.agent.run_actions(worker, "-postinstall")
    assert ended.code == 0, ended.output
    listed = worker.run("dpkg-query", "--show", "--showformat=${Package}=${Version} ", "aws-neuronx-*").out.split()
    assert listed == [
        f"aws-neuronx-collectives={PINS.collectives}-rehearsal",
        f"aws-neuronx-dkms={PINS.driver}-rehearsal",
        f"aws-neuronx-runtime-lib={PINS.runtime}-rehearsal",
        f"aws-neuronx-tools={PINS.tools}-rehearsal",
    ]
    assert worker.run("sh", "-c", "ls /dev/neuron* | wc -l").out.strip() == "16"
    assert "deb [signed-by=/etc/apt/keyrings/neuron.asc] https://apt.repos.neuron.amazonaws.com jammy main" in text(
        worker, "/etc/apt/sources.list.d/neuron.list"
    )


def test_the_second_run_changes_nothing(worker: Machine) -> None:
    before = worker.run("stat", "--format=%y", "/etc/apt/keyrings/neuron.asc", "/var/lib/dpkg/status").out
    ended = install(worker)
    assert ended.code == 0, ended.output
    assert ended.output.count("nothing to do") == 4
    assert worker.run("stat", "--format=%y", "/etc/apt/keyrings/neuron.asc", "/var/lib/dpkg/status").out == before


@pytest.fixture
def bare(worker: Machine, repositories: Repositories) -> Iterator[Machine]:
    """A node without anything of Neuron's; afterwards the repository is as it was, and the installer succeeds."""
    forget(worker)
    kept = {path: path.read_bytes() for path in (repositories.key, *repositories.packages.glob("dists/*/InRelease"))}
    yield worker
    for path, data in kept.items():
        path.write_bytes(data)
    ended = install(worker)
    assert ended.code == 0, ended.output


def test_a_missing_key_is_named(bare: Machine, repositories: Repositories) -> None:
    repositories.key.unlink()
    ended = install(bare)
    assert ended.code != 0
    assert "waited in vain for Neuron's key" in ended.output
    assert "the subnet has no way to *.repos.neuron.amazonaws.com" in ended.output
    assert bare.run("dpkg-query", "--show", "aws-neuronx-*", check=False).code != 0


def test_another_key_is_refused_before_it_is_trusted(
    bare: Machine, repositories: Repositories, image: Path, tmp_path: Path
) -> None:
    other = make_repositories(image, bundle(), "ubuntu2204", tmp_path)
    repositories.key.write_bytes(other.key.read_bytes())
    ended = install(bare)
    assert ended.code != 0
    assert f"is {other.fingerprint}, and must be {repositories.fingerprint}; nothing was installed" in ended.output
    assert not (bare.root / "etc/apt/keyrings/neuron.asc").exists()


def test_a_repository_that_is_down_is_named(bare: Machine, repositories: Repositories) -> None:
    (release,) = repositories.packages.glob("dists/*/InRelease")
    release.unlink()
    ended = install(bare)
    assert ended.code != 0
    assert "waited in vain for Neuron's repository" in ended.output


def test_a_repository_that_was_tampered_with_is_refused(bare: Machine, repositories: Repositories) -> None:
    (release,) = repositories.packages.glob("dists/*/InRelease")
    release.write_text(release.read_text().replace("Origin: rehearsal", "Origin: somebody"))
    ended = install(bare)
    assert ended.code != 0
    assert bare.run("dpkg-query", "--show", "aws-neuronx-*", check=False).code != 0
