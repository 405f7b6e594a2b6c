"""The Neuron installer: exact versions, one key, the image's own driver left alone, and no harm in running it again."""

import re
from pathlib import Path

import pytest

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.versions import pinned_packages, pinned_release
from tests.parallelcluster.fake_node import ClusterNode, make_node

pytestmark = pytest.mark.programs

DRIVER, RUNTIME = "aws-neuronx-dkms", "aws-neuronx-runtime-lib"
PINS = pinned_release("parallelcluster")
STEPS = ["neuron_repository", "neuron_driver", "neuron_runtime", "neuron_python"]


@pytest.fixture
def node(tmp_path: Path) -> ClusterNode:
    return make_node(tmp_path / "node")


def succeeds(node: ClusterNode, *arguments: str, **environment: str) -> str:
    done = node.run("neuron.sh", *arguments, **environment)
    assert done.returncode == 0, done.stdout
    return done.stdout


def fails(node: ClusterNode, *arguments: str, **environment: str) -> str:
    done = node.run("neuron.sh", *arguments, **environment)
    assert done.returncode == 1, done.stdout
    return done.stdout


def test_the_steps_run_in_this_order(node: ClusterNode) -> None:
    named = [line.partition("[")[2].partition("]")[0] for line in succeeds(node).splitlines()]
    assert list(dict.fromkeys(named)) == ["start", *STEPS, "end"]


def test_the_systems_are_those_that_the_rules_know() -> None:
    text = (scripts_folder() / "parallelcluster" / "neuron_node.sh").read_text()
    taken = re.findall(r"^    ((?:[a-z]+-[0-9.]+(?: \| )?)+)\) echo (apt|dnf) ;;$", text, re.MULTILINE)
    systems = {
        manager: tuple(name.replace("amzn", "alinux").replace("-", "").replace(".", "") for name in names.split(" | "))
        for names, manager in taken
    }
    assert sorted((*systems["apt"], *systems["dnf"])) == sorted(limits.NEURON_SYSTEMS)


@pytest.mark.parametrize(("system", "codename"), [("ubuntu-22.04", "jammy"), ("ubuntu-24.04", "noble")])
def test_ubuntu_gets_exactly_the_versions_of_one_release(tmp_path: Path, system: str, codename: str) -> None:
    node = make_node(tmp_path / "node", system=system)
    succeeds(node)
    assert node.read("etc/apt/sources.list.d/neuron.list") == (
        f"deb [signed-by=/etc/apt/keyrings/neuron.asc] https://apt.repos.neuron.amazonaws.com {codename} main\n"
    )
    assert node.called("apt-get", "install", f"aws-neuronx-dkms={PINS.driver}*")
    assert node.called(
        f"aws-neuronx-collectives={PINS.collectives}* aws-neuronx-runtime-lib={PINS.runtime}* "
        f"aws-neuronx-tools={PINS.tools}*"
    )
    assert node.read("etc/profile.d/neuron.sh") == "export PATH=/opt/aws/neuron/bin:${PATH}\n"


def test_amazon_linux_gets_the_same(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", system="amzn-2023")
    succeeds(node)
    repository = node.read("etc/yum.repos.d/neuron.repo")
    assert "gpgcheck=1\ngpgkey=file:///etc/pki/rpm-gpg/neuron.asc\n" in repository
    assert node.called("rpm --import /etc/pki/rpm-gpg/neuron.asc")
    assert node.called("dnf", "neuron.skip_if_unavailable=False makecache")  # dnf may be told to go on without it
    assert node.called("dnf", f"aws-neuronx-dkms-{PINS.driver}*")
    assert node.called("dnf", "kernel-devel-uname-r = 6.8.0-test")
    assert node.called(f"aws-neuronx-tools-{PINS.tools}*")


def test_fails_on_another_system(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", system="rhel-9")
    assert "Neuron is published for Amazon Linux 2023, Ubuntu 22.04 and Ubuntu 24.04, this is rhel-9.4" in fails(node)
    assert not node.called("install")


def test_fails_with_another_key_and_installs_nothing(node: ClusterNode) -> None:
    said = fails(node, STUB_KEY="0000000000000000000000000000000000000000")
    assert "is 0000000000000000000000000000000000000000, and must be 00FA2C1079260870A76D2C285749CAD8646D9185" in said
    assert "nothing was installed" in said
    assert not (node.root / "etc/apt/keyrings/neuron.asc").exists()
    assert not (node.root / "etc/apt/keyrings/neuron.asc.new").exists()
    assert not node.called("apt-get")


def test_fails_without_a_key(node: ClusterNode) -> None:
    assert "the key of Neuron's repository is none" in fails(node, STUB_KEY="")


def test_fails_when_the_key_cannot_be_fetched(node: ClusterNode) -> None:
    said = fails(node, STUB_FAIL="curl:99")
    assert "waited in vain for Neuron's key" in said
    assert "likely cause: the subnet has no way to *.repos.neuron.amazonaws.com (NAT, proxy)" in said


def test_fails_when_the_repository_is_down(node: ClusterNode) -> None:
    said = fails(node, STUB_FAIL="apt-get:99")
    assert "waited in vain for Neuron's repository" in said
    assert node.called("apt-get", "APT::Update::Error-Mode=any", "update")  # apt-get itself would only warn


def test_what_fails_for_a_while_is_tried_again(node: ClusterNode) -> None:
    succeeds(node, STUB_FAIL="curl:2", TRAINYARD_DEADLINE="600")


def test_a_driver_of_the_image_stays(node: ClusterNode) -> None:
    node.package(DRIVER, "2.30.2.0")
    node.write("dev/neuron0", "")
    assert "the driver that is there stays: 2.30.2.0" in succeeds(node)
    assert not node.called("install", DRIVER)
    assert not node.called("modprobe")
    assert node.called("install", RUNTIME)


def test_a_node_without_a_device_gets_no_driver(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode", device=None)
    assert "there is no Neuron device on this node" in succeeds(node)
    assert not node.called(DRIVER)


def test_another_device_of_amazon_is_none_of_neuron(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", device="0xefa2")
    assert "there is no Neuron device on this node" in succeeds(node)


def test_a_second_run_asks_and_changes_nothing(node: ClusterNode) -> None:
    succeeds(node)
    node.write("state/calls", "")
    said = succeeds(node)
    assert said.count("nothing to do") == len(STEPS)
    assert {call.split()[0] for call in node.calls} <= {"dpkg-query", "hostname"}


def test_an_older_runtime_of_the_image_becomes_the_pinned_one(node: ClusterNode) -> None:
    node.package(DRIVER, "2.30.2.0")
    for name in ("aws-neuronx-collectives", RUNTIME, "aws-neuronx-tools"):
        node.package(name, "2.1.0.0-aa")
    succeeds(node)
    assert node.read(f"state/packages/{RUNTIME}") == f"{PINS.runtime}-1a2b3c4"


def test_an_installed_version_with_the_suffix_of_a_build_is_that_version(node: ClusterNode) -> None:
    succeeds(node)
    node.package(RUNTIME, f"{PINS.runtime}1-aa")  # another version with the same beginning
    node.write("state/calls", "")
    succeeds(node)
    assert node.called("install", RUNTIME)


@pytest.mark.parametrize("cut", range(1, 4))
@pytest.mark.slow
def test_a_power_cut_anywhere_is_made_good_by_the_next_run(tmp_path: Path, cut: int) -> None:
    undisturbed, node = make_node(tmp_path / "undisturbed"), make_node(tmp_path / "node")
    succeeds(undisturbed)
    node.run("neuron.sh", STUB_KILL_AFTER=str(cut))
    succeeds(node)
    for path in ("etc/apt/sources.list.d/neuron.list", "etc/profile.d/neuron.sh", f"state/packages/{RUNTIME}"):
        assert node.read(path) == undisturbed.read(path)
    assert (node.root / "dev/neuron0").exists()


def test_a_driver_that_is_there_and_not_loaded_is_loaded(node: ClusterNode) -> None:
    node.package(DRIVER, "2.30.2.0")
    succeeds(node)
    assert node.called("modprobe neuron")
    assert not node.called("install", DRIVER)


def test_an_installation_that_was_cut_off_is_finished_first(node: ClusterNode) -> None:
    node.package(DRIVER, f"{PINS.driver}-1a2b3c4")  # dpkg knows its version, and no module of it can be loaded
    node.write("state/unfinished", "")
    node.program("sleep", 'rm -f "${TRAINYARD_ROOT}/state/locked"')
    node.write("state/locked", "")
    said = succeeds(node)
    assert "[neuron_driver] another program has dpkg's lock" in said
    calls = node.calls
    first = next(number for number, call in enumerate(calls) if " install " in call)
    assert calls.index("dpkg --configure -a") < first < calls.index("modprobe neuron")
    assert node.called("install", f"{DRIVER}={PINS.driver}*")


def test_what_apt_left_half_done_on_the_head_node_is_finished_before_python(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode", device=None)
    fails(node, "--venv", "/apps/neuron", STUB_FAIL="python:1")
    node.write("state/unfinished", "")
    succeeds(node, "--venv", "/apps/neuron")


@pytest.mark.parametrize("package", ["python3-venv", RUNTIME, "linux-headers-"])
def test_package_lists_that_are_old_are_fetched_again(tmp_path: Path, package: str) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode")
    said = succeeds(node, "--venv", "/apps/neuron", STUB_OLD_LISTS=package)
    assert said.count("once more, with the package lists of today") == 1
    assert node.called("venv --clear /apps/neuron")


def test_package_lists_that_cannot_be_had_are_named(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode", device=None)
    environment = {"STUB_OLD_LISTS": "python3-venv", "STUB_NO_LISTS": "1", "TRAINYARD_DEADLINE": "1"}
    done = node.run("neuron.sh", "--venv", "/apps/neuron", **environment)
    assert done.returncode == 100  # apt's own
    assert "waited in vain for the package lists: E: Failed to fetch http://archive.example/InRelease" in done.stdout
    assert "likely cause: the head node has no way to Ubuntu's archive, or its package lists are old" in done.stdout


def test_an_image_that_can_make_environments_needs_no_package_for_it(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode", device=None)
    node.write("state/venv", "")
    succeeds(node, "--venv", "/apps/neuron")
    assert not node.called("python3-venv")


def test_the_head_node_makes_the_python_environment(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode", device=None)
    succeeds(node, "--venv", "/apps/neuron")
    assert node.called("python3 -m venv --clear /apps/neuron")
    assert node.called(
        f"--extra-index-url https://pip.repos.neuron.amazonaws.com {' '.join(pinned_packages('parallelcluster'))}"
    )
    node.write("state/calls", "")
    succeeds(node, "--venv", "/apps/neuron")
    assert not node.called("venv")


def test_compute_nodes_use_the_environment_and_make_none(node: ClusterNode) -> None:
    succeeds(node, "--venv", "/apps/neuron")
    assert not node.called("venv")


@pytest.mark.parametrize("node_type", ["HeadNode", "ComputeFleet"])
def test_fails_to_make_it_on_amazon_linux_before_anything_is_installed(tmp_path: Path, node_type: str) -> None:
    node = make_node(tmp_path / "node", system="amzn-2023", node_type=node_type)
    said = fails(node, "--venv", "/apps/neuron")
    assert (
        "PyTorch for Neuron needs glibc 2.35, and Amazon Linux 2023 has 2.34; use Ubuntu, or leave --venv out" in said
    )
    assert not node.called("install")


def test_fails_with_a_python_that_the_packages_are_not_for_before_anything_is_installed(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", system="ubuntu-22.04", node_type="HeadNode", device=None)
    said = fails(node, "--venv", "/apps/neuron", STUB_PYTHON="3.10")
    packages = " ".join(pinned_packages("parallelcluster"))
    assert f"ERROR: this node has Python 3.10, and {packages} are for Python 3.11, 3.12, 3.13: use Ubuntu 24.04" in said
    assert not node.called("install")


def test_compute_nodes_may_have_any_python(node: ClusterNode) -> None:
    succeeds(node, "--venv", "/apps/neuron", STUB_PYTHON="3.10")


@pytest.mark.parametrize("driver", ["2.26.10.0", "2.9.4.0-aa"])
def test_fails_with_a_driver_that_the_runtime_does_not_work_with(node: ClusterNode, driver: str) -> None:
    """Numbers, not text; and the image's driver is left alone, so what is said names both."""
    node.package(DRIVER, driver)
    node.write("dev/neuron0", "")
    said = fails(node)
    assert f"this node has Neuron driver {driver}, and {RUNTIME} {PINS.runtime} needs 2.27 or later" in said
    assert not node.called("install", RUNTIME)


def test_an_environment_that_was_half_made_is_made_again(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode", device=None)
    fails(node, "--venv", "/apps/neuron", STUB_FAIL="python:1")
    assert not (node.root / "apps/neuron/neuron-packages").exists()
    succeeds(node, "--venv", "/apps/neuron")
    assert (node.root / "apps/neuron/neuron-packages").exists()


def test_a_directory_with_something_else_is_never_emptied(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", node_type="HeadNode", device=None)
    node.write("fsx/data/shard-0", "a year of work")
    said = fails(node, "--venv", "/fsx")
    assert "ERROR: /fsx holds something else than a Python environment (it has no pyvenv.cfg)" in said
    assert "as /fsx/neuron" in said
    assert not node.called("venv")
    assert node.read("fsx/data/shard-0") == "a year of work"
    (node.root / "fsx/neuron").mkdir()
    succeeds(node, "--venv", "/fsx/neuron")


@pytest.mark.parametrize("arguments", [("--vnev", "/apps"), ("/apps",)])
def test_fails_with_other_arguments(node: ClusterNode, arguments: tuple[str, ...]) -> None:
    assert "usage:" in fails(node, *arguments)
