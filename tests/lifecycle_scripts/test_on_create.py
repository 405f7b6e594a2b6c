"""Mode C: a node configured from nothing, by role; however often, and wherever, it was stopped before."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lifecycle_scripts.fake_node import (
    SLURM_CONF,
    FakeNode,
    astray,
    change_settings,
    entry_of,
    make_node,
    resource_config,
    some_or_all,
)
from tests.lifecycle_scripts.test_folder import entry_steps

pytestmark = pytest.mark.programs

LUSTRE_LINE = (
    "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com@tcp:/a1b2c3d4 /fsx lustre "
    "noatime,flock,_netdev,x-systemd.automount,x-systemd.requires=network-online.target 0 0\n"
)
STEPS = entry_steps("on_create.sh")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FakeNode]:
    """A node of each role, configured without a fault."""
    nodes = {group: make_node(tmp_path_factory.mktemp(group) / "node", group) for group in ("controller", "worker")}
    for node in nodes.values():
        done = node.run("on_create.sh")
        assert done.returncode == 0, done.stdout
    return nodes


def test_the_steps_run_in_this_order_and_slurm_is_last(undisturbed: dict[str, FakeNode]) -> None:
    named = [line.partition("[")[2].partition("]")[0] for line in undisturbed["worker"].log.splitlines()]
    assert [name for name in dict.fromkeys(named) if name != "end"] == ["start", *STEPS]
    assert named[-1] == "end"


def test_the_first_lines_say_what_the_node_is(undisturbed: dict[str, FakeNode]) -> None:
    assert "cluster llama, group worker, role compute, ml.trn1.32xlarge, 10.1.0.7" in undisturbed["worker"].log


def test_lustre_is_mounted_now_and_after_a_reboot(undisturbed: dict[str, FakeNode]) -> None:
    node = undisturbed["worker"]
    assert (node.root / "etc/fstab").read_text() == "UUID=1 / ext4 defaults 0 1\n" + LUSTRE_LINE
    assert "mount -- /fsx" in node.calls


def test_users_have_the_numbers_and_homes_of_the_file(undisturbed: dict[str, FakeNode]) -> None:
    root = undisturbed["worker"].root
    assert (
        "ada:x:2001:2001::/fsx/ada:/bin/bash\nbob:x:2002:2002::/fsx/bob:/bin/bash\n"
        in (root / "etc/passwd").read_text()
    )
    assert "research:x:3001:ada\n" in (root / "etc/group").read_text()
    assert (root / "fsx/ada/.bashrc").read_text() == "# skel\n"
    assert (root / "fsx/ada").stat().st_mode & 0o777 == 0o750


def test_ubuntu_keeps_its_files_on_shared_storage(undisturbed: dict[str, FakeNode]) -> None:
    root = undisturbed["worker"].root
    assert "ubuntu:x:1000:1000::/fsx/ubuntu:/bin/bash" in (root / "etc/passwd").read_text()
    assert (root / "fsx/ubuntu/.bashrc").read_text() == "# ubuntu's\n"


def test_a_worker_runs_a_configless_slurmd_that_waits_for_the_controller(undisturbed: dict[str, FakeNode]) -> None:
    node = undisturbed["worker"]
    units = node.root / "etc/systemd/system"
    assert (units / "slurmd.service.d/trainyard.env").read_text() == 'SLURMD_OPTIONS="--conf-server=10.1.0.5"\n'
    drop_in = (units / "slurmd.service.d/trainyard.conf").read_text().splitlines()
    assert drop_in == [
        "[Unit]",
        "StartLimitIntervalSec=0",
        "[Service]",
        "EnvironmentFile=/etc/systemd/system/slurmd.service.d/trainyard.env",
        "Restart=on-failure",
        "RestartSec=10",
        "LimitMEMLOCK=infinity",
        "LimitNOFILE=131072",
    ]
    assert node.calls[-4:] == [
        "systemctl is-enabled --quiet slurmd",
        "systemctl is-active --quiet slurmd",
        "ss --no-header --listening --tcp --processes",
        "scontrol --oneliner show node ip-10-1-0-5",
    ]
    assert not (units / "slurmctld.service").exists()


def test_a_controller_runs_slurmctld_and_can_never_run_slurmd(undisturbed: dict[str, FakeNode]) -> None:
    node = undisturbed["controller"]
    assert "systemctl enable --now munge slurmctld" in node.calls
    assert not (node.root / "etc/systemd/system/slurmd.service").exists()
    assert (node.root / "etc/systemd/system/slurmd.service.not-on-a-controller").exists()
    assert (node.root / "opt/slurm/etc/slurm.conf").read_text() == SLURM_CONF
    assert "WARNING" not in node.log


@pytest.mark.slow
def test_a_login_node_takes_its_configuration_from_the_controller(tmp_path: Path) -> None:
    node = make_node(tmp_path, "login")
    assert node.run("on_create.sh").returncode == 0
    assert (node.root / "etc/systemd/system/slurmd.service.d/trainyard.env").exists()


@pytest.mark.parametrize("group", ["controller", "worker"])
def test_a_second_run_changes_nothing(undisturbed: dict[str, FakeNode], group: str) -> None:
    node = undisturbed[group]
    changes, state = node.changes, node.snapshot()
    assert node.run("on_create.sh").returncode == 0
    assert node.changes == changes
    assert node.snapshot() == state
    assert [step for step in STEPS[1:] if f"[{step}] " not in node.log.rpartition("starts on")[2]] == []
    assert node.log.rpartition("starts on")[2].count("nothing to do") == len(STEPS) - 1


@pytest.mark.slow
def test_a_node_that_was_killed_anywhere_converges(tmp_path: Path) -> None:
    """After what a run changes the power is cut; the next run ends where an undisturbed one does."""
    assert astray(make_node(tmp_path), "on_create.sh", at_least=10) == []


@pytest.mark.slow
def test_a_controller_that_was_killed_while_it_started_slurm_converges(
    undisturbed: dict[str, FakeNode], tmp_path: Path
) -> None:
    begun = undisturbed["controller"].changes.index("systemctl disable")
    assert astray(make_node(tmp_path, "controller"), "on_create.sh", after=begun) == []


# ---------------------------------------------------------------- faults
def failure(node: FakeNode, script: str = "on_create.sh", **environment: str) -> list[str]:
    done = node.run(script, **environment)
    assert done.returncode not in {0, -9}
    assert node.log == done.stdout  # every line is in the file that HyperPod ships
    return [line.partition(" ")[2] for line in done.stdout.splitlines()]


@some_or_all("lustre")
def test_a_mount_that_fails_at_first_is_tried_again(node: FakeNode, steps: tuple[str, ...]) -> None:
    assert node.run(entry_of(node, steps), STUB_FAIL="mount:2:110", TRAINYARD_DEADLINE="600").returncode == 0
    assert node.calls.count("mount -- /fsx") == 3


def test_a_mount_that_fails_for_good_names_step_command_code_and_cause(node: FakeNode) -> None:
    told = failure(node, STUB_FAIL="mount:99:32")
    assert told[-4] == f"[lustre] waited in vain for the mount of {node.root}/fsx: mount: told to fail"
    assert told[-3].startswith("[lustre] FAILED in step 'lustre' with exit code 1, in the command: wait_until 600")
    assert told[-2].startswith("[lustre] likely cause: the security group lacks its rules to itself")
    assert told[-1].endswith("on_create.sh again and it goes on from here")
    assert not any("slurm" in call for call in node.calls)


@some_or_all("lustre")
def test_what_hyperpod_has_mounted_is_there_after_a_reboot(node: FakeNode, steps: tuple[str, ...]) -> None:
    node.write("state/mounted", "")
    node.write("proc/mounts", f"old@tcp:/x {node.root}/fsx lustre rw,noatime,flock,lazystatfs 0 0\n")
    assert node.run(entry_of(node, steps)).returncode == 0
    assert (node.root / "etc/fstab").read_text() == "UUID=1 / ext4 defaults 0 1\n" + LUSTRE_LINE
    assert not any(call.startswith(("mount ", "umount")) for call in node.calls)
    assert "WARNING" not in node.log
    node.run(entry_of(node, steps))
    assert "[lustre] mount FSx for Lustre: nothing to do" in node.log


@pytest.mark.parametrize("options", ["rw,noatime", "rw,localflock", "rw,noflock,lazystatfs"])
@pytest.mark.parametrize("busy", [False, True])
def test_a_mount_without_flock_is_made_again_or_told(node: FakeNode, options: str, *, busy: bool) -> None:
    node.write("state/mounted", "")
    node.write("proc/mounts", f"x@tcp:/x /other lustre rw,flock 0 0\nx@tcp:/y {node.root}/fsx lustre {options} 0 0\n")
    if busy:
        node.write("state/busy", "")
    assert node.run(node.write_entry("lustre.sh", ["network", "lustre"])).returncode == 0
    assert ("mount -- /fsx" in node.calls) is not busy
    assert ("WARNING: /fsx is in use and without flock" in node.log) is busy


def test_no_name_service_fails_the_first_step(node: FakeNode) -> None:
    told = failure(node, STUB_NO_DNS="1")
    assert told[-4].startswith("[network] waited in vain for the name fs-0123456789abcdef0")
    assert "no DNS" in told[-2]


def test_a_program_that_fails_is_named_with_its_place(node: FakeNode) -> None:
    told = failure(node, STUB_FAIL="usermod:9:8")
    assert "[users] ERROR: 1 entries of shared_users.txt are not as they should be, see above" in told
    assert "FAILED in step 'users' with exit code 1" in told[-3]


def test_an_unexpected_failure_names_command_and_line(node: FakeNode) -> None:
    told = failure(node, STUB_FAIL="systemctl:9:5")
    assert "with exit code 5, in the command: systemctl daemon-reload #" in told[-3]
    assert told[-3].endswith("(at fstab.sh:14)")


def test_a_missing_efa_interface_keeps_the_node_out_of_slurm(node: FakeNode) -> None:
    told = failure(node, STUB_EFA="7")
    assert any("efa_interfaces: ml.trn1.32xlarge has 8, found 7" in line for line in told)
    assert "[devices] likely cause: broken hardware" in told[-2]
    assert not any("slurm" in call for call in node.calls)


@pytest.mark.parametrize(
    ("kind", "found", "fails", "held_to"),
    [
        ("ml.p5.48xlarge", "31", True, None),
        ("ml.trn2.48xlarge", "31", True, None),
        ("ml.c5n.18xlarge", "0", False, "0"),
        ("ml.g6e.48xlarge", "3", False, "3"),
        ("ml.g6e.48xlarge", "40", False, "32"),
    ],
)
def test_efa_that_hyperpod_may_not_attach_is_missed_aloud_and_nothing_more(
    node: FakeNode, kind: str, found: str, held_to: str | None, *, fails: bool
) -> None:
    """Of P and Trn it is known that HyperPod attaches it. The prolog holds any other node to what it has."""
    config = resource_config()
    config["InstanceGroups"][3]["InstanceType"] = kind
    node.write("opt/ml/config/resource_config.json", json.dumps(config))
    worker = {"role": "compute", "instance_types": {kind: {"efa_interfaces": 32, "neuron_devices": 0, "gpus": 0}}}
    settings_with(node, lambda settings: settings["groups"].update(worker=worker))
    entry = node.write_entry("devices.sh", ["network", "devices", "job_hooks"])
    done = node.run(entry, STUB_EFA=found)
    assert (done.returncode != 0) is fails, done.stdout
    missing = f"efa_interfaces: {kind} has 32, found {found}"
    assert (f"WARNING: {missing}: HyperPod may give this type none" in done.stdout) is (not fails and int(found) < 32)
    if held_to:
        counted = (node.root / "opt/slurm/etc/scripts/devices").read_text()
        assert counted == f"efa_interfaces={held_to}\nneuron_devices=0\ngpus=0\n"


def test_a_missing_neuron_device_is_counted(node: FakeNode) -> None:
    (node.root / "dev/neuron15").unlink()
    assert any("neuron_devices: ml.trn1.32xlarge has 16, found 15" in line for line in failure(node))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "place"),
    [("api", "SlurmConfig of the cluster's instance groups"), ("legacy", "provisioning_parameters.json")],
)
def test_slurm_conf_that_never_comes_fails_the_controller(tmp_path: Path, topology: str, place: str) -> None:
    node = make_node(tmp_path, "controller")
    node.write("opt/slurm/etc/slurm.conf", "")
    change_settings(node, topology=topology)
    told = failure(node)
    assert told[-5] == "[slurm_conf] waited in vain for 10.1.0.5 or ip-10-1-0-5 in slurm.conf"
    assert (
        told[-4] == f"[slurm_conf] ERROR: HyperPod has not made this node the controller: is it controller in {place}?"
    )
    assert not any("enable --now munge slurmctld" in call for call in node.calls)


@some_or_all("slurm_conf", "slurm")
def test_settings_that_auto_resume_needs_are_missed_aloud(tmp_path: Path, steps: tuple[str, ...]) -> None:
    node = make_node(tmp_path, "controller")
    node.write("opt/slurm/etc/slurm.conf", "SlurmctldHost=ip-10-1-0-5\nTaskPlugin=task/cgroup\n")
    assert node.run(entry_of(node, steps)).returncode == 0
    assert node.log.count("WARNING") == 2


@some_or_all("slurm_conf", "slurm")
def test_a_unit_that_takes_no_options_is_refused(node: FakeNode, steps: tuple[str, ...]) -> None:
    node.write("etc/systemd/system/slurmd.service", "[Service]\nExecStart=/opt/slurm/sbin/slurmd -D\n")
    told = failure(node, entry_of(node, steps))
    assert any("the unit slurmd takes no SLURMD_OPTIONS" in line for line in told)


def test_half_a_file_of_the_agent_is_waited_for(node: FakeNode) -> None:
    node.write("opt/ml/config/resource_config.json", '{"InstanceGroups": [{"Na')
    told = failure(node, TRAINYARD_DEADLINE="1")
    assert "waited in vain for this node in resource_config.json" in told[-4]


@some_or_all("lustre")
def test_a_node_that_is_not_listed_yet_waits_for_the_agent(node: FakeNode, steps: tuple[str, ...]) -> None:
    listed = (node.root / "opt/ml/config/resource_config.json").read_text()
    node.write("opt/ml/config/resource_config.json", json.dumps(resource_config() | {"InstanceGroups": None}))
    told = failure(node)
    assert told[-4].endswith("this node (10.1.0.7) is not in resource_config.json, which lists no node at all")
    node.write("opt/ml/config/resource_config.json", listed)
    assert node.run(entry_of(node, steps)).returncode == 0


def test_a_group_that_the_settings_do_not_know_ends_the_run_at_once(node: FakeNode) -> None:
    settings_with(node, lambda settings: settings["groups"].pop("worker"))
    told = failure(node, TRAINYARD_DEADLINE="600")
    assert "settings.json must name the instance group 'worker', got controller, login\n" in node.log
    assert "with exit code 65" in told[-3]


def test_without_shared_storage_users_and_home_stay_local(node: FakeNode) -> None:
    change_settings(node, lustre=None, home=None, users_file=None)
    assert node.run("on_create.sh").returncode == 0
    assert not any(call.startswith(("mount", "useradd", "usermod")) for call in node.calls)


# ---------------------------------------------------------------- what was written wrong: once, and at once
def settings_with(node: FakeNode, change: Callable[[dict[str, Any]], object]) -> None:
    settings = json.loads((node.bundle / "settings.json").read_text())
    change(settings)
    (node.bundle / "settings.json").write_text(json.dumps(settings))


def users_of(text: str) -> Callable[[FakeNode], object]:
    return lambda node: (node.bundle / "shared_users.txt").write_text(text)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda node: node.write("opt/ml/config/resource_config.json", "[]"),
            "resource_config.json must hold a JSON object, got list",
        ),
        (
            lambda node: settings_with(node, lambda settings: settings["groups"].pop("worker")),
            "settings.json must name the instance group 'worker', got controller, login",
        ),
        (
            lambda node: settings_with(node, lambda settings: settings["groups"]["worker"].update(role="boss")),
            "the role of the instance group 'worker' must be one of ('controller', 'login', 'compute'), got 'boss'",
        ),
        (users_of(""), "shared_users.txt:0: holds no user; write one 'name,uid,home' per line"),
        (
            users_of("ada,2001,/fsx/ada\nbob,2001,/fsx/bob\n"),
            "shared_users.txt:2: number 2001 belongs to 'ada' on line 1, got 'bob'",
        ),
    ],
    ids=["no object", "missing group", "unknown role", "no user", "one number twice"],
)
def test_a_wrong_file_is_told_in_one_message_at_once(
    node: FakeNode, spoil: Callable[[FakeNode], object], message: str
) -> None:
    spoil(node)
    told = failure(node, TRAINYARD_DEADLINE="600")
    assert node.log.count(message) == 1
    assert "with exit code 65" in told[-3]


def test_a_full_disk_is_told_in_place_of_the_steps_own_cause(node: FakeNode) -> None:
    node.program("df", "printf 'Avail\\n    8\\n'")
    assert (
        failure(node, STUB_FAIL="mount:99:32")[-2] == f"[lustre] likely cause: no space is left on {node.root} (8 KiB)"
    )
