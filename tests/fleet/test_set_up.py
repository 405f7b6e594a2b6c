"""A node of a fleet, set up from nothing; however often, and wherever, it was stopped before."""

import fcntl
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from cdk_trainyard.fleet.scripts import fleet_bundle
from cdk_trainyard.lifecycle import scripts_folder
from tests.fleet.fake_member import INSTANCE, answer, instance, make_member
from tests.lifecycle_scripts.fake_node import FakeNode, astray, some_or_all

pytestmark = pytest.mark.programs

STEPS = [
    "node",
    "limits",
    "efa",
    "devices",
    "scratch",
    "lustre_client",
    "lustre",
    "folders",
    "environment",
    "ssh",
    "exporters",
    "metrics_agent",
    "members",
]
OWN = scripts_folder() / "fleet"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> FakeNode:
    """A worker that was set up without a fault."""
    node = make_member(tmp_path_factory.mktemp("worker") / "node")
    node.environment["STUB_DISKS"] = "4"
    done = node.run("boot.sh")
    assert done.returncode == 0, done.stdout
    return node


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    """A worker that has booted."""
    return make_member(tmp_path / "node")


def entry_of(node: FakeNode, steps: Sequence[str]) -> str:
    """Return the script of some steps, or the whole one."""
    return node.write_entry("some_steps.sh", ["node", *steps]) if steps else "boot.sh"


# ---------------------------------------------------------------- the folder
def test_every_step_is_run_and_is_complete() -> None:
    found = re.search(r'^provision "\$\{here\}" (.*)$', (OWN / "setup.sh").read_text(), re.MULTILINE)
    assert found
    assert found[1].split() == STEPS
    bundle = fleet_bundle()
    for name in STEPS:
        file = bundle.find(f"steps/{name}.sh") or bundle.find(f"lib/steps/{name}.sh")
        assert file is not None
        for part in ("done", "run", "verify"):
            assert f"\nstep_{name}_{part}() {{\n".encode() in file.data
    assert {path.stem for path in (OWN / "steps").glob("*.sh")} < set(STEPS)


@pytest.mark.parametrize("path", sorted((OWN / "steps").glob("*.sh")), ids=lambda path: path.stem)
def test_a_step_keeps_to_its_own_names_and_waits_for_no_fixed_time(path: Path) -> None:
    functions = re.findall(r"^(\w+)\(\)", path.read_text(), re.MULTILINE)
    assert [name for name in functions if not name.startswith((f"{path.stem}_", f"step_{path.stem}_"))] == []
    code = re.sub(r"(?m)(^|\s)#.*$", "", path.read_text())
    assert re.findall(r"set -[a-z]*x|\b(?:apt|apt-get|curl|wget|pip)\b|sleep \d", code) == []


def test_of_what_images_are_built_with_only_the_lustre_client_is_downloaded() -> None:
    assert [name for name in fleet_bundle().names if name.startswith("image/")] == [
        "image/kernel.sh",
        "image/lustre.sh",
    ]
    assert {"boot.sh", "setup.sh", "members.sh", "node.py", "lib/steps.sh"} < set(fleet_bundle().names)


# ---------------------------------------------------------------- a set-up without a fault
def test_the_steps_run_in_this_order(undisturbed: FakeNode) -> None:
    named = [line.partition("[")[2].partition("]")[0] for line in undisturbed.log.splitlines()]
    assert list(dict.fromkeys(named)) == ["start", *STEPS, "end"]
    assert f"fleet bert, role worker, {INSTANCE}, trn1.32xlarge, 10.1.0.7" in undisturbed.log


def test_the_group_is_told_and_the_members_too(undisturbed: FakeNode) -> None:
    assert (undisturbed.root / "state/answer").read_text() == "CONTINUE"
    (tagged,) = [call for call in undisturbed.calls if call.startswith("aws ec2 create-tags")]
    assert tagged == f"aws ec2 create-tags --resources {INSTANCE} --tags Key=trainyard:ready,Value=yes"
    (told,) = [call for call in undisturbed.calls if call.startswith("aws autoscaling")]
    assert "--auto-scaling-group-name the-group" in told
    assert "--lifecycle-hook-name set-up" in told


def test_the_log_is_shipped(undisturbed: FakeNode) -> None:
    shipped = json.loads((undisturbed.root / "state/shipped.json").read_text())
    assert [event["message"] for event in shipped] == undisturbed.log.splitlines()


def test_the_hostfile_names_the_ready_workers_in_order_and_hosts_everybody(undisturbed: FakeNode) -> None:
    directory = undisturbed.root / "opt/trainyard"
    assert (directory / "hostfile").read_text() == "10.1.0.9 slots=32\n10.1.0.10 slots=32\n"
    assert (directory / "hosts").read_text() == "10.1.0.9\n10.1.0.10\n10.1.0.5\n"


def test_members_trust_hosts_that_the_fleet_has_signed_and_nobody_else(undisturbed: FakeNode) -> None:
    config = (undisturbed.root / "etc/ssh/ssh_config.d/10-trainyard.conf").read_text()
    assert config.startswith("Host 10.1.0.9 10.1.0.10 10.1.0.5\n  User ubuntu\n")
    assert "StrictHostKeyChecking yes" in config
    assert "ServerAliveInterval 15\n  ServerAliveCountMax 4" in config
    known = (undisturbed.root / "etc/trainyard/ssh/known_hosts").read_text()
    assert known == "@cert-authority * ssh-ed25519 AAAAfleet\n"
    certificate = (undisturbed.root / "etc/ssh/ssh_host_ed25519_key-cert.pub").read_text()
    assert certificate == "certificate of 10.1.0.7,ip-10-1-0-7\n"


def test_only_its_owner_reads_the_key_and_passwords_are_off(undisturbed: FakeNode) -> None:
    key = undisturbed.root / "etc/trainyard/ssh/id_ed25519"
    assert key.stat().st_mode & 0o777 == 0o600
    assert "chown -- ubuntu: /etc/trainyard/ssh/id_ed25519" in undisturbed.calls
    assert "PasswordAuthentication no" in (undisturbed.root / "etc/ssh/sshd_config.d/10-trainyard.conf").read_text()
    assert "the-private-key" not in undisturbed.log
    assert not any("the-private-key" in call for call in undisturbed.calls)


def test_processes_may_pin_memory_and_huge_pages_are_there(undisturbed: FakeNode) -> None:
    root = undisturbed.root
    assert "* hard memlock unlimited" in (root / "etc/security/limits.d/trainyard.conf").read_text()
    assert "DefaultLimitMEMLOCK=infinity" in (root / "etc/systemd/system.conf.d/trainyard.conf").read_text()
    assert (root / "etc/sysctl.d/90-trainyard.conf").read_text() == "vm.nr_hugepages = 5128\n"


def test_the_verbs_module_is_loaded_now_and_after_a_reboot(undisturbed: FakeNode) -> None:
    assert "modprobe ib_uverbs" in undisturbed.calls
    assert (undisturbed.root / "etc/modules-load.d/trainyard.conf").read_text() == "ib_uverbs\n"


def test_disks_of_the_instance_store_become_one_and_the_root_disk_stays(undisturbed: FakeNode) -> None:
    (made,) = [call for call in undisturbed.calls if call.startswith("mdadm --create")]
    assert made.endswith("--level=0 --raid-devices=4 /dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1 /dev/nvme4n1")
    assert "mkfs.xfs -q -f -L scratch /dev/md/trainyard" in undisturbed.calls


def test_lustre_is_mounted_and_has_the_folders_of_jobs(undisturbed: FakeNode) -> None:
    assert "a1b2c3d4 /fsx lustre" in (undisturbed.root / "etc/fstab").read_text()
    assert "mount -- /fsx" in undisturbed.calls
    assert {path.name for path in (undisturbed.root / "fsx").iterdir()} == {"data", "checkpoints", "logs", "jobs"}


@pytest.mark.parametrize(
    ("release", "installed"),
    [
        ("ID=ubuntu\nVERSION_CODENAME=noble\n", "install -qy lustre-client-modules-6.8.0-1021-aws"),
        ('ID="amzn"\nVERSION_ID="2023"\n', "dnf install -qy lustre-client"),
    ],
    ids=["Ubuntu", "Amazon Linux"],
)
@some_or_all("lustre_client", "lustre")
def test_a_client_of_lustre_that_the_image_lacks_is_installed_before_the_mount(
    node: FakeNode, release: str, installed: str, steps: tuple[str, ...]
) -> None:
    node.write("etc/os-release", release)
    entry = entry_of(node, steps)
    done = node.run(entry, STUB_LUSTRE="absent")
    assert done.returncode == 0, done.stdout
    (at,) = [number for number, call in enumerate(node.calls) if installed in call]
    assert at < node.calls.index("mount -- /fsx")
    assert ("apt-mark hold linux-aws" in node.calls[:at]) is ("ubuntu" in release)  # before anything can bring another
    assert node.run(entry, STUB_LUSTRE="absent").returncode == 0
    assert sum(installed in call for call in node.calls) == 1


def test_an_image_that_updates_itself_is_waited_for(node: FakeNode) -> None:
    node.write("var/lib/apt/lists/lock", "")
    with (node.root / "var/lib/apt/lists/lock").open("r+") as lists:
        fcntl.lockf(lists, fcntl.LOCK_EX)
        done = node.run(entry_of(node, ["lustre_client"]), STUB_LUSTRE="absent", TRAINYARD_DEADLINE="1")
    assert done.returncode != 0
    assert "waited in vain for the package manager's locks" in done.stdout
    assert not any(call.startswith("apt-get") for call in node.calls)


def test_a_client_that_is_there_is_left_alone(undisturbed: FakeNode) -> None:
    assert not any(call.startswith(("apt", "dnf", "curl")) for call in undisturbed.calls)


def test_a_node_without_a_file_system_needs_no_client(tmp_path: Path) -> None:
    node = make_member(tmp_path, "c5.4xlarge", lustre=None)
    assert node.run("boot.sh", STUB_LUSTRE="absent").returncode == 0
    assert not any(call.startswith(("apt", "dnf", "modinfo")) for call in node.calls)


@some_or_all("environment")
def test_the_environment_is_that_of_the_accelerators(
    undisturbed: FakeNode, tmp_path: Path, steps: tuple[str, ...]
) -> None:
    text = (undisturbed.root / "etc/profile.d/trainyard.sh").read_text()
    assert "FI_PROVIDER=efa" in text
    assert "/opt/aws/neuron/bin" in text
    assert "NCCL" not in text
    gpu = make_member(tmp_path / "gpu", "p5.48xlarge")
    assert gpu.run(entry_of(gpu, steps)).returncode == 0
    text = (gpu.root / "etc/profile.d/trainyard.sh").read_text()
    assert "NCCL_SOCKET_IFNAME" in text
    assert "neuron" not in text


def test_the_list_of_members_is_renewed_every_minute(undisturbed: FakeNode) -> None:
    units = undisturbed.root / "etc/systemd/system"
    assert f"ExecStart={undisturbed.bundle}/members.sh" in (units / "trainyard-members.service").read_text()
    assert "OnUnitActiveSec=60" in (units / "trainyard-members.timer").read_text()
    assert "systemctl enable --now trainyard-members.timer" in undisturbed.calls


def test_a_second_run_changes_nothing(undisturbed: FakeNode) -> None:
    changes, state = undisturbed.changes, undisturbed.snapshot()
    done = undisturbed.run("setup.sh")
    assert done.returncode == 0
    assert undisturbed.changes == changes
    assert undisturbed.snapshot() == state
    assert done.stdout.count("nothing to do") == len(STEPS) - 1


@pytest.mark.slow
def test_a_node_that_was_killed_anywhere_converges(tmp_path: Path) -> None:
    """After each change the power is cut; the next run ends where an undisturbed one does."""
    assert astray(make_member(tmp_path), "setup.sh", at_least=9) == []


# ---------------------------------------------------------------- other nodes
@some_or_all("scratch")
def test_a_deep_learning_ami_has_put_the_disks_together_already(node: FakeNode, steps: tuple[str, ...]) -> None:
    assert node.run(entry_of(node, steps), STUB_DISKS="8", STUB_DLAMI="1").returncode == 0
    assert (node.root / "scratch").readlink() == Path("/opt/dlami/nvme")
    assert not any(call.startswith(("mdadm", "mkfs")) for call in node.calls)


@some_or_all("scratch")
def test_one_disk_needs_no_raid(node: FakeNode, steps: tuple[str, ...]) -> None:
    assert node.run(entry_of(node, steps), STUB_DISKS="1").returncode == 0
    assert "mkfs.xfs -q -f -L scratch /dev/nvme1n1" in node.calls
    assert not any(call.startswith("mdadm") for call in node.calls)


@pytest.mark.parametrize("disks", ["1", "2"])
@some_or_all("scratch")
def test_what_is_on_the_instance_store_survives_a_reboot(tmp_path: Path, disks: str, steps: tuple[str, ...]) -> None:
    node = make_member(tmp_path)
    entry = entry_of(node, steps)
    assert node.run(entry, STUB_DISKS=disks).returncode == 0
    for path in ("state/mounted-scratch", "dev/md/trainyard"):
        (node.root / path).unlink(missing_ok=True)
    made = [call for call in node.calls if call.startswith(("mdadm --create", "mkfs"))]
    assert node.run(entry, STUB_DISKS=disks).returncode == 0
    assert (node.root / "state/mounted-scratch").exists()
    assert [call for call in node.calls if call.startswith(("mdadm --create", "mkfs"))] == made


@some_or_all("scratch")
def test_a_volume_that_was_mounted_and_no_more_is_opened_to_everybody(tmp_path: Path, steps: tuple[str, ...]) -> None:
    """A kill between mount and chmod: what is on the volume by then stays, too."""
    whole, node = make_member(tmp_path / "whole"), make_member(tmp_path / "node")
    assert whole.run(entry_of(whole, steps), STUB_DISKS="1").returncode == 0
    cut = str(whole.changes.index("mount -o") + 1)
    assert node.run(entry_of(node, steps), STUB_DISKS="1", STUB_KILL_AFTER=cut).returncode == -9
    assert node.run(entry_of(node, steps), STUB_DISKS="1").returncode == 0
    assert (node.root / "scratch").stat().st_mode & 0o7777 == 0o1777
    assert sum(call.startswith("mkfs") for call in node.calls) == 1


@pytest.mark.slow
def test_a_node_without_efa_accelerators_and_shared_storage_is_set_up_too(tmp_path: Path) -> None:
    node = make_member(tmp_path, "c5.4xlarge", lustre=None)
    done = node.run("boot.sh")
    assert done.returncode == 0, done.stdout
    assert not any(call.startswith(("modprobe", "sysctl", "mount ")) for call in node.calls)
    assert "FI_PROVIDER" not in (node.root / "etc/profile.d/trainyard.sh").read_text()


@pytest.mark.slow
def test_a_master_has_no_group_to_answer(tmp_path: Path) -> None:
    node = make_member(tmp_path, "c5n.18xlarge", role="master", hook=None, failures=None)
    assert node.run("boot.sh").returncode == 0
    assert not any(call.startswith("aws autoscaling") for call in node.calls)
    assert (node.root / "state/ready").exists()


@some_or_all("ssh")
def test_amazon_linux_calls_the_ssh_server_otherwise(node: FakeNode, steps: tuple[str, ...]) -> None:
    assert node.run(entry_of(node, steps), STUB_UNIT="sshd").returncode == 0
    assert "systemctl try-reload-or-restart sshd" in node.calls


def test_a_lost_node_leaves_the_hostfile_and_its_successor_joins(undisturbed: FakeNode) -> None:
    before = (undisturbed.root / "state/instances.json").read_text()
    later = [instance("10.1.0.10"), instance("10.1.0.77"), instance("10.1.0.5", "c5n.18xlarge", "master")]
    undisturbed.write("state/instances.json", json.dumps(answer(later)))
    assert undisturbed.run("members.sh").returncode == 0
    hostfile = undisturbed.root / "opt/trainyard/hostfile"
    assert hostfile.read_text() == "10.1.0.10 slots=32\n10.1.0.77 slots=32\n"
    config = undisturbed.root / "etc/ssh/ssh_config.d/10-trainyard.conf"
    assert config.read_text().startswith("Host 10.1.0.10 10.1.0.77 10.1.0.5\n")
    undisturbed.write("state/instances.json", before)
    assert undisturbed.run("members.sh").returncode == 0


def test_an_unchanged_list_is_not_written_again(undisturbed: FakeNode) -> None:
    hostfile = undisturbed.root / "opt/trainyard/hostfile"
    before = hostfile.stat().st_ino
    assert undisturbed.run("members.sh").returncode == 0
    assert hostfile.stat().st_ino == before


def test_a_failed_question_keeps_the_list(undisturbed: FakeNode) -> None:
    hostfile = undisturbed.root / "opt/trainyard/hostfile"
    before = hostfile.read_text()
    assert undisturbed.run("members.sh", STUB_FAIL="aws ec2").returncode != 0
    assert hostfile.read_text() == before


# ---------------------------------------------------------------- faults
def given_back(node: FakeNode, **environment: str) -> str:
    done = node.run("boot.sh", **environment)
    assert done.returncode not in {0, -9}
    assert (node.root / "state/answer").read_text() == "ABANDON"
    assert not (node.root / "state/ready").exists()
    assert (node.root / "state/shipped.json").exists()
    return node.log


def test_a_node_that_lacks_an_efa_interface_is_given_back_before_it_does_anything(node: FakeNode) -> None:
    log = given_back(node, STUB_EFA="7")
    assert "trn1.32xlarge has 8 EFA interfaces, found 7" in log
    assert "[efa] FAILED in step 'efa'" in log
    assert not any(call.startswith("mount ") or "/ec2/keypair/" in call for call in node.calls)


def test_a_node_that_lacks_a_neuron_device_is_given_back(node: FakeNode) -> None:
    (node.root / "dev/neuron3").unlink()
    assert "neuron_devices: trn1.32xlarge has 16, found 15" in given_back(node)


def test_a_node_that_lacks_a_gpu_is_given_back(tmp_path: Path) -> None:
    node = make_member(tmp_path, "p5.48xlarge")
    (node.root / "proc/driver/nvidia/gpus/0").unlink()
    assert "gpus: p5.48xlarge has 8, found 7" in given_back(node)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failing", "step", "cause"),
    [
        ("mount", "lustre", "the security group lacks its rules to itself"),
        ("aws ssm", "ssh", "the role may not read the parameter of the key"),
        ("runuser", "ssh", "sshd does not read the files"),
        ("aws ec2", "members", "the role may not ask EC2"),
        ("mdadm", "scratch", "the image has no mdadm"),
        ("install", "folders", "root squash"),
    ],
)
def test_a_failure_names_step_and_cause(node: FakeNode, failing: str, step: str, cause: str) -> None:
    done = node.run("setup.sh", STUB_FAIL=failing, STUB_DISKS="2" if failing == "mdadm" else "0")
    assert done.returncode not in {0, -9}
    assert f"FAILED in step '{step}'" in done.stdout
    assert cause in done.stdout


@pytest.mark.slow
def test_a_log_that_cannot_be_shipped_does_not_cost_the_node(node: FakeNode) -> None:
    assert node.run("boot.sh", STUB_FAIL="aws logs").returncode == 0
    assert (node.root / "state/answer").read_text() == "CONTINUE"


@pytest.mark.parametrize("script", ["setup.sh", "boot.sh"])
def test_settings_of_another_version_end_the_run_at_once(tmp_path: Path, script: str) -> None:
    node = make_member(tmp_path, version=2)
    done = node.run(script, TRAINYARD_DEADLINE="600")
    assert done.returncode == 65
    assert "must be an object of version 1" in done.stdout


def test_metadata_that_never_come_fail_the_first_step(node: FakeNode) -> None:
    done = node.run("setup.sh", TRAINYARD_METADATA=(node.directory / "nowhere").as_uri())
    assert done.returncode != 0
    assert "waited in vain for the metadata of this instance" in done.stdout
