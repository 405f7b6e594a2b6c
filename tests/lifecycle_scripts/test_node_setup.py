"""What nodes are set up with beside mounts, users and Slurm, without root: the steps against stand-ins."""

import json
import re
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.lifecycle import scripts_folder
from tests.lifecycle_scripts.fake_node import CLOCK, FakeNode, change_settings, entry_of, make_node, some_or_all

pytestmark = pytest.mark.programs

LUSTRE = ("lustre_efa", "lustre", "lustre_io")
SLURM = ("devices", "job_hooks", "slurm_conf", "slurm_topology", "accounting", "slurm")
SSH = ("lustre", "users", "home", "ssh")
SECRET = "arn:aws-us-gov:secretsmanager:us-gov-west-1:111111111111:secret:db-AbCdEf"  # noqa: S105


@pytest.fixture
def controller(tmp_path: Path) -> FakeNode:
    return make_node(tmp_path / "controller", "controller", users=None)


@pytest.fixture(autouse=True)
def right_clock() -> Iterator[None]:
    yield
    CLOCK.ahead = 0.0


def run(node: FakeNode, *steps: str, **environment: str) -> list[str]:
    """The log of a run that ends well, without its times."""
    done = node.run(entry_of(node, steps), **environment)
    assert done.returncode == 0, done.stdout
    return [line.partition(" ")[2] for line in done.stdout.splitlines()]


def failing(node: FakeNode, *steps: str, **environment: str) -> list[str]:
    done = node.run(entry_of(node, steps), **environment)
    assert done.returncode not in {0, -9}, done.stdout
    return [line.partition(" ")[2] for line in done.stdout.splitlines()]


# ---------------------------------------------------------------- clock
def test_a_clock_that_is_off_stops_the_run_before_slurm(node: FakeNode) -> None:
    CLOCK.ahead = 600
    node.program("chronyc", 'echo "chronyc $*" >>"${TRAINYARD_ROOT}/state/calls"')
    told = failing(node)
    waited = f"[clock] waited in vain for a clock that is right: the clock is {{}} s slow ({CLOCK.address})"
    assert any(waited.format(seconds) in told for seconds in (599, 600, 601)), told  # an answer may take its time
    assert "chronyc makestep" in node.calls
    assert not any("slurm" in call for call in node.calls)


@some_or_all("clock")
def test_a_clock_that_chrony_sets_right_is_gone_on_with(node: FakeNode, steps: tuple[str, ...]) -> None:
    CLOCK.ahead = 600
    node.program("chronyc", "touch ${TRAINYARD_ROOT}/state/set")

    def correct() -> None:
        while not (node.root / "state/set").exists():
            time.sleep(0.05)
        CLOCK.ahead = 0

    threading.Thread(target=correct, daemon=True).start()
    told = run(node, *steps, TRAINYARD_DEADLINE="600")
    assert "[clock] done in" in " ".join(told)


# ---------------------------------------------------------------- Lustre over EFA
# What is written to the file system goes over EFA, unless STUB_TCP=1; with STUB_FULL=1 nothing can be written.
DD = """\
echo "dd $*" >>"${TRAINYARD_ROOT}/state/calls"
[[ -z ${STUB_FULL:-} ]] || { echo 'dd: No space left on device' >&2; exit 1; }
[[ $2 != of=/* || $2 == of=/dev/null ]] || : >"${2#of=}"
[[ -n ${STUB_TCP:-} ]] || echo 64 >"${TRAINYARD_ROOT}/state/sent"
"""


@pytest.fixture
def with_efa(node: FakeNode) -> FakeNode:
    """A worker whose file system can be reached over EFA."""
    lustre = json.loads((node.bundle / "settings.json").read_text())["lustre"]
    change_settings(node, lustre=lustre | {"efa": True})
    for number in range(8):
        node.write(f"sys/class/infiniband/rdmap{number}s0", "")
    node.write("sys/module/efa/version", "2.15.0\n")
    node.program("ip", "echo default via 10.1.0.1 dev ens5 proto dhcp")
    node.program("modprobe", 'echo "modprobe $*" >>"${TRAINYARD_ROOT}/state/calls"')
    node.program(
        "lnetctl",
        'echo "lnetctl $*" >>"${TRAINYARD_ROOT}/state/calls"\n'
        "read -r -a stat </proc/$$/stat\n"
        '[[ -z ${STUB_CUT:-} || $* != *"${STUB_CUT}"* ]] || kill -KILL -- "-${stat[5]}"\n'
        '[[ $* != "net add --net efa"* ]] || touch "${TRAINYARD_ROOT}/state/efa"\n'
        '[[ $* != "net del --net efa" ]] || rm -f "${TRAINYARD_ROOT}/state/efa"\n'
        '[[ $* != "net show --net efa" || ! -e ${TRAINYARD_ROOT}/state/efa ]] || echo "status: up"\n'
        'if [[ $* == "net show -v --net efa" && -e ${TRAINYARD_ROOT}/state/efa ]]; then\n'
        '  sent=$(cat "${TRAINYARD_ROOT}/state/sent" 2>/dev/null) || sent=0\n'
        '  printf "    statistics:\\n        send_count: %s\\n        recv_count: %s\\n" 7 9 "${sent}" "${sent}"\n'
        "fi",
    )
    node.program("dd", DD)
    for name in ("sort", "head"):
        (node.directory / "bin" / name).symlink_to(f"/usr/bin/{name}")
    return node


@some_or_all(*LUSTRE)
def test_lustre_gets_efa_before_it_is_mounted(with_efa: FakeNode, steps: tuple[str, ...]) -> None:
    assert not any("WARNING" in line for line in run(with_efa, *steps))
    calls = with_efa.calls
    assert "modprobe kefalnd ipif_name=ens5" in calls
    added = [call for call in calls if call.startswith("lnetctl net add --net efa")]
    assert added == [f"lnetctl net add --net efa --if rdmap{n}s0 --peer-credits 32" for n in (0, 7)]
    assert calls.index("lnetctl udsp add --src efa --priority 0") < calls.index("mount -- /fsx")
    assert "[lustre_efa] let Lustre use EFA: nothing to do" in run(with_efa, *steps)


def test_every_boot_gives_lustre_efa_before_it_is_mounted(with_efa: FakeNode) -> None:
    """Whether or not another unit asks for the target that mounts wait for: it pulls it in itself."""
    run(with_efa, *LUSTRE)
    unit = (with_efa.root / "etc/systemd/system/trainyard-lustre-efa.service").read_text().splitlines()
    wanted = {"Wants=network-online.target remote-fs-pre.target", "Before=remote-fs-pre.target"}
    assert wanted | {"WantedBy=multi-user.target"} <= set(unit)


@some_or_all(*LUSTRE)
@pytest.mark.parametrize("cut", ["--if rdmap7s0", "udsp add"])
def test_half_of_efa_is_done_again(with_efa: FakeNode, steps: tuple[str, ...], cut: str) -> None:
    assert with_efa.run(entry_of(with_efa, steps), STUB_CUT=cut).returncode == -9
    before = len(with_efa.calls)
    assert not any("WARNING" in line for line in run(with_efa, *steps))
    calls = with_efa.calls[before:]
    added = [call for call in calls if call.startswith("lnetctl net add --net efa")]
    assert added == [f"lnetctl net add --net efa --if rdmap{n}s0 --peer-credits 32" for n in (0, 7)]
    assert "lnetctl udsp add --src efa --priority 0" in calls


def test_lustres_data_are_seen_to_take_efa(with_efa: FakeNode) -> None:
    assert not any("WARNING" in line for line in run(with_efa, *LUSTRE))
    path = f"{with_efa.root}/fsx/.trainyard-io-ip-10-1-0-5"
    assert [call for call in with_efa.calls if call.startswith("dd ")] == [
        "dd if=/dev/zero of=/fsx/.trainyard-io-ip-10-1-0-5 bs=1M count=64 oflag=direct status=none",
        "dd if=/fsx/.trainyard-io-ip-10-1-0-5 of=/dev/null bs=1M iflag=direct status=none",
    ]
    assert not Path(path).exists()
    assert "[lustre_io] see Lustre's data take EFA: nothing to do" in run(with_efa, *LUSTRE)


def test_data_that_take_tcp_while_efa_is_up_are_told(with_efa: FakeNode) -> None:
    (warning,) = [line for line in run(with_efa, *LUSTRE, STUB_TCP="1") if "WARNING" in line]
    assert warning.startswith("[lustre_io] WARNING: Lustre's data take TCP on this node, not EFA, which is up: ")


def test_a_file_system_that_takes_no_data_fails_the_node(with_efa: FakeNode) -> None:
    told = failing(with_efa, *LUSTRE, STUB_FULL="1")
    assert "[lustre_io] ERROR: 64 MB could not be written to /fsx and read again" in told
    assert list((with_efa.root / "fsx").glob(".trainyard-io*")) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda node: (node.directory / "bin/lnetctl").unlink(), "the image has no lnetctl"),
        (
            lambda node: [path.unlink() for path in (node.root / "sys/class/infiniband").iterdir()],
            "the node has no EFA device that its driver has taken",
        ),
        (
            lambda node: node.write("sys/module/efa/version", "2.1.0\n"),
            "the EFA driver is 2.1.0, and must be 2.12.1 or newer",
        ),
        (
            lambda node: node.program("modprobe", "[[ $1 != kefalnd ]]"),
            "the module kefalnd cannot be loaded: the client of Lustre is without EFA",
        ),
    ],
)
def test_lustre_takes_tcp_and_says_why_when_efa_cannot_be(with_efa: FakeNode, spoil: Any, reason: str) -> None:
    spoil(with_efa)
    told = run(with_efa)
    (warning,) = [line for line in told if "WARNING" in line]
    assert warning.startswith("[lustre_efa] WARNING: Lustre takes TCP on this node, not EFA: " + reason)
    assert "mount -- /fsx" in with_efa.calls


# ---------------------------------------------------------------- OpenZFS
@pytest.mark.slow
def test_homes_move_to_openzfs_with_what_the_image_has(node: FakeNode) -> None:
    openzfs = {"dns_name": "fs-9.fsx.us-west-2.amazonaws.com", "mount_path": "/home"}
    change_settings(node, openzfs=openzfs, home="/home/ubuntu", users_file=None, ssh=None)
    run(node)
    mounts = (node.root / "etc/fstab").read_text().splitlines()
    options = "nfsvers=4.2,noatime,nconnect=16,rsize=1048576,wsize=1048576,_netdev,x-systemd.automount"
    options += ",x-systemd.requires=network-online.target"
    assert f"fs-9.fsx.us-west-2.amazonaws.com:/fsx /home nfs {options} 0 0" in mounts
    assert any(" /fsx lustre " in line for line in mounts)
    assert (node.root / "home/ubuntu/.bashrc").read_text() == "# ubuntu's\n"
    assert "[openzfs] mount FSx for OpenZFS: nothing to do" in run(node)


# ---------------------------------------------------------------- accounting
def test_local_accounting_is_there_before_slurmctld(controller: FakeNode) -> None:
    change_settings(controller, accounting={"schema": "slurm_acct_db"})
    run(controller)
    calls = controller.calls
    assert calls.index("systemctl restart slurmdbd") < calls.index("systemctl enable --now munge slurmctld")
    conf = controller.root / "opt/slurm/etc/slurmdbd.conf"
    assert stat.S_IMODE(conf.stat().st_mode) == 0o600
    (password,) = [line.partition("=")[2] for line in conf.read_text().splitlines() if line.startswith("StoragePass=")]
    assert f"IDENTIFIED BY '{password}'" in (controller.root / "state/sql").read_text()
    assert password not in controller.log + "".join(calls)
    assert (controller.root / "state/clusters").read_text() == "llama\n"
    included = (controller.root / "opt/slurm/etc/accounting.conf").read_text()
    assert "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=10.1.0.5\n" in included
    assert "[accounting] Slurm's accounting: nothing to do" in run(controller)
    assert password in conf.read_text()


@pytest.mark.slow
def test_an_interrupted_local_accounting_keeps_its_password(controller: FakeNode) -> None:
    change_settings(controller, accounting={"schema": "slurm_acct_db"})
    failing(controller, STUB_FAIL="sacctmgr:99:1")
    conf = controller.root / "opt/slurm/etc/slurmdbd.conf"
    written = conf.read_text()
    run(controller)
    assert conf.read_text() == written


@pytest.fixture
def with_database(controller: FakeNode) -> FakeNode:
    """A controller whose accounting is in a database of the stack."""
    database = {"endpoint": "db.internal", "port": 3307, "secret": SECRET, "schema": "acct"}
    change_settings(controller, accounting=database | {"authority": "accounting-ca.pem"})
    (controller.bundle / "accounting-ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    controller.program(
        "aws",
        'echo "aws $*" >>"${TRAINYARD_ROOT}/state/calls"\n'
        '[[ ! -e ${TRAINYARD_ROOT}/state/denied ]] || { echo "AccessDenied hunter2?" >&2; exit 254; }\n'
        'cat "${TRAINYARD_ROOT}/state/secret"',
    )
    controller.write("state/secret", '{"username": "slurm", "password": "hunter2"}')
    return controller


@some_or_all(*SLURM)
def test_the_databases_password_is_read_on_the_node_and_never_logged(
    with_database: FakeNode, steps: tuple[str, ...]
) -> None:
    run(with_database, *steps)
    asked = f"aws secretsmanager get-secret-value --secret-id {SECRET} --region us-gov-west-1"
    assert any(call.startswith(asked) for call in with_database.calls)
    conf = (with_database.root / "opt/slurm/etc/slurmdbd.conf").read_text()
    for line in ("StorageHost=db.internal", "StoragePort=3307", "StorageLoc=acct", "StoragePass=hunter2"):
        assert line in conf.splitlines()
    assert "StorageParameters=SSL_CA=/opt/slurm/etc/accounting-ca.pem" in conf
    assert "hunter2" not in with_database.log + "".join(with_database.calls)
    assert not any("mariadb" in call or call.startswith("mysql") for call in with_database.calls)


@pytest.mark.slow
def test_a_secret_that_may_not_be_read_is_asked_for_again(with_database: FakeNode) -> None:
    with_database.write("state/denied", "")
    told = failing(with_database)
    assert any("[accounting] waited in vain for the password of the database: AccessDenied" in line for line in told)
    assert not any("slurmctld" in call for call in with_database.calls if "enable --now" in call)
    (with_database.root / "state/denied").unlink()
    run(with_database)


@some_or_all(*SLURM)
def test_a_secret_of_something_else_ends_the_run_at_once(with_database: FakeNode, steps: tuple[str, ...]) -> None:
    with_database.write("state/secret", "hunter2")
    told = failing(with_database, *steps, TRAINYARD_DEADLINE="600")
    assert "[accounting] the secret must be JSON with 'username' and 'password'" in told
    assert "hunter2" not in with_database.log


@some_or_all(*SLURM)
def test_accounting_of_somebody_else_in_the_file_stays(controller: FakeNode, steps: tuple[str, ...]) -> None:
    theirs = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=elsewhere\n"
    controller.write("opt/slurm/etc/accounting.conf", theirs)
    change_settings(controller, accounting={"schema": "slurm_acct_db"})
    run(controller, *steps)
    text = (controller.root / "opt/slurm/etc/accounting.conf").read_text()
    assert text.startswith(theirs)
    assert text.count("AccountingStorageType") == 1


@pytest.mark.parametrize("line", ["Prolog=/opt/image/prolog.sh", " accountingstoragetype = accounting_storage/none"])
def test_what_hyperpods_file_sets_after_ours_does_not_count(controller: FakeNode, line: str) -> None:
    """Of several values Slurm takes the last."""
    path = controller.root / "opt/slurm/etc/slurm.conf"
    before = f"{path.read_text()}{line}\n"
    path.write_text(before)
    change_settings(controller, accounting={"schema": "slurm_acct_db"})
    entry = controller.write_entry("conf.sh", ["network", "devices", "job_hooks", "slurm_conf"])
    for _ in range(2):
        assert controller.run(entry).returncode == 0
        assert path.read_text() == before + "Include accounting.conf\n"


# ---------------------------------------------------------------- Slurm's files
@some_or_all(*SLURM)
def test_a_slurm_conf_that_includes_nothing_gets_one_line(controller: FakeNode, steps: tuple[str, ...]) -> None:
    path = controller.root / "opt/slurm/etc/slurm.conf"
    without = path.read_text().replace("Include accounting.conf\n", "")
    path.write_text(without)
    run(controller, *steps)
    assert path.read_text() == without + "Include accounting.conf\n"


@some_or_all(*SLURM)
def test_what_plugstack_includes_is_written_into_it(controller: FakeNode, steps: tuple[str, ...]) -> None:
    controller.write("opt/slurm/etc/plugstack.conf", "include /opt/slurm/etc/plugstack.conf.d/*\n")
    controller.write("opt/slurm/etc/plugstack.conf.d/resume.conf", "required spank_auto_resume.so\n")
    run(controller, *steps)
    assert (controller.root / "opt/slurm/etc/plugstack.conf").read_text() == "required spank_auto_resume.so\n"


@pytest.mark.slow
def test_a_running_controller_takes_a_changed_configuration(controller: FakeNode) -> None:
    run(controller)
    change_settings(controller, job_hooks=None)
    run(controller)
    assert "systemctl restart slurmctld" in controller.calls
    assert "Prolog" not in (controller.root / "opt/slurm/etc/accounting.conf").read_text()


# ---------------------------------------------------------------- SSH
@some_or_all(*SSH)
def test_keys_have_the_modes_that_ssh_demands(node: FakeNode, steps: tuple[str, ...]) -> None:
    run(node, *steps)
    folder = node.root / "fsx/ubuntu/.ssh"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "authorized_keys").stat().st_mode) == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["authorized_keys", "id_ed25519", "id_ed25519.pub"]
    assert (node.root / "fsx/trainyard/ssh-hosts/10.1.0.7").read_text() == "ip-10-1-0-5,10.1.0.7 ssh-ed25519 HOSTKEY\n"


@some_or_all(*SSH)
def test_nodes_that_start_together_do_not_touch_what_others_have_under_way(
    node: FakeNode, steps: tuple[str, ...]
) -> None:
    """Nor, as root, what a user may have made a link to anywhere."""
    run(node, *steps)
    shared = [call for call in node.calls if call.startswith("chown ") and "/fsx/" in call]
    assert [call for call in shared if ".ssh" in call or ("-R" in call and ".new-ip-10-1-0-5" not in call)] == []


@some_or_all(*SSH)
def test_keys_of_people_stay(node: FakeNode, steps: tuple[str, ...]) -> None:
    node.write("fsx/ubuntu/.ssh/authorized_keys", "ssh-ed25519 AAAA somebody")
    run(node, *steps)
    lines = (node.root / "fsx/ubuntu/.ssh/authorized_keys").read_text().splitlines()
    assert lines == ["ssh-ed25519 AAAA somebody", "ssh-ed25519 public of id_ed25519"]


USERS = ("lustre", "users", "user_keys")


def test_every_shared_user_has_a_key_of_their_own(node: FakeNode) -> None:
    run(node, *USERS)
    for user in ("ada", "bob"):
        folder = node.root / "fsx" / user / ".ssh"
        assert sorted(path.name for path in folder.iterdir()) == ["authorized_keys", "id_ed25519", "id_ed25519.pub"]
        assert stat.S_IMODE((folder / "id_ed25519").stat().st_mode) == 0o600
        assert any(call.startswith(f"runuser -u {user} -- bash -c ") for call in node.calls)
    assert "[user_keys] keys of the users of shared_users.txt: nothing to do" in run(node, *USERS)


def test_a_key_that_a_user_spoiled_fails_no_node(node: FakeNode) -> None:
    node.write("fsx/ada/.ssh/id_ed25519", "with a password")
    told = run(node, *USERS)
    (warning,) = [line for line in told if "WARNING" in line]
    assert warning.startswith("[user_keys] WARNING: ada has no key for log-ins from node to node: ")
    assert "id_ed25519 is no key without a password" in warning
    assert (node.root / "fsx/ada/.ssh/id_ed25519").read_text() == "with a password"
    assert (node.root / "fsx/bob/.ssh/id_ed25519.pub").exists()


def test_homes_that_no_other_node_sees_get_no_key(node: FakeNode) -> None:
    (node.bundle / "shared_users.txt").write_text("ada,2001,/home/ada\nbob,2002,/fsx/bob\n")
    run(node, *USERS)
    assert not (node.root / "home/ada/.ssh").exists()
    assert (node.root / "fsx/bob/.ssh/id_ed25519").exists()


# ---------------------------------------------------------------- kernel
def test_neither_kernel_nor_lustre_is_changed_by_what_is_installed(node: FakeNode) -> None:
    installed = "linux-image-aws\nlinux-image-6.8.0-1001-aws\nlustre-client-modules-aws\n"
    node.write("state/kernel", installed)
    told = run(node, "kernel")
    assert "[kernel] hold the kernel and Lustre's modules" in told
    assert (node.root / "state/held").read_text() == installed.replace("\n", " hold\n")
    assert "[kernel] hold the kernel and Lustre's modules: nothing to do" in run(node, "kernel")


@pytest.mark.parametrize(
    "step",
    [
        "hyperpod/steps/containers",
        "hyperpod/steps/neuron_environment",
        "lib/steps/exporters",
        "hyperpod/steps/s3_mounts",
    ],
)
def test_what_installs_packages_waits_for_that(step: str) -> None:
    text = (scripts_folder() / f"{step}.sh").read_text()
    assert re.search(r"^  'network clock kernel", text, re.MULTILINE)


def test_no_host_is_trusted_blindly() -> None:
    for path in (scripts_folder() / "hyperpod").rglob("*.sh"):
        for word in ("StrictHostKeyChecking no", "StrictHostKeyChecking=no", "accept-new"):
            assert word not in path.read_text(), path


# ---------------------------------------------------------------- hosts, logs, log-in
def test_the_hostfile_is_renewed_whole_and_only_when_it_differs(tmp_path: Path) -> None:
    sinfo = tmp_path / "opt/slurm/bin/sinfo"
    sinfo.parent.mkdir(parents=True)
    nodes = "ip-10-1-0-10 dev\nip-10-1-0-9 dev\nip-10-1-0-9 workers\nip-10-1-0-10 workers\nip-10-1-0-6 dev\n"
    sinfo.write_text(f"#!/bin/sh\nprintf '{nodes}'\n")
    sinfo.chmod(0o755)
    program = [str(scripts_folder() / "hyperpod/hostfile.sh"), str(tmp_path / "hostfile")]
    environment = {"PATH": "/usr/bin:/bin", "TRAINYARD_ROOT": str(tmp_path)}
    for _ in range(2):
        subprocess.run(program, env=environment, check=True)
        assert (tmp_path / "hostfile").read_text() == "ip-10-1-0-9\nip-10-1-0-10\n"
    before = (tmp_path / "hostfile").stat().st_ino
    subprocess.run(program, env=environment, check=True)
    assert (tmp_path / "hostfile").stat().st_ino == before
    sinfo.write_text("#!/bin/sh\nexit 1\n")
    assert subprocess.run(program, env=environment, check=False).returncode != 0
    assert (tmp_path / "hostfile").stat().st_ino == before
    sinfo.write_text("#!/bin/sh\nprintf 'ip-10-1-0-6 dev\\n'\n")  # with no partition beside it nothing tells them apart
    subprocess.run(program, env=environment, check=True)
    assert (tmp_path / "hostfile").read_text() == "ip-10-1-0-6\n"


@pytest.mark.slow
def test_what_is_not_asked_for_is_not_there(node: FakeNode) -> None:
    change_settings(node, ssh=None, hostfile=None, job_hooks=None, logs=None, motd=None)
    run(node)
    for path in ("etc/motd", "etc/logrotate.d", "opt/slurm/etc/scripts", "etc/ssh/ssh_config.d", "fsx/trainyard"):
        assert not (node.root / path).exists(), path
