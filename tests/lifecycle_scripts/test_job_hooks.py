"""The prolog and the epilog of jobs, without root: what they check, what they end, and what they let live."""

import os
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lifecycle_scripts.fake_node import FakeNode, make_node

pytestmark = pytest.mark.programs


@pytest.fixture
def hooks(node: FakeNode) -> FakeNode:
    """A worker with its prolog and epilog."""
    entry = node.write_entry("hooks.sh", ["network", "devices", "job_hooks"])
    assert node.run(entry).returncode == 0
    (node.root / "proc").mkdir()
    (node.root / "tmp").mkdir()
    for name in ("install", "sed", "tr", "hostname"):
        (node.directory / "bin" / name).unlink(missing_ok=True)
        (node.directory / "bin" / name).symlink_to(f"/usr/bin/{name}")
    node.program("pgrep", '[[ $2 == *"[8"* ]]')
    scontrol = node.root / "opt/slurm/bin/scontrol"
    scontrol.unlink()
    scontrol.write_text('#!/bin/bash\nprintf "%s\\n" "$*" >>"${TRAINYARD_ROOT}/state/scontrol"\n')
    scontrol.chmod(0o755)
    return node


def start_hook(node: FakeNode, name: str, job: str = "9") -> subprocess.Popen[str]:
    """Start a prolog or an epilog as slurmd does."""
    environment = {
        "PATH": str(node.directory / "bin"),
        "TRAINYARD_ROOT": str(node.root),
        "SLURM_JOB_ID": job,
        "SLURM_JOB_UID": str(os.getuid()),
        "SLURMD_NODENAME": "ip-10-1-0-7",
        **node.environment,
    }
    return subprocess.Popen(
        [str(node.root / "opt/slurm/etc/scripts" / name)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def hook(node: FakeNode, name: str) -> subprocess.CompletedProcess[str]:
    """Run a prolog or an epilog of job 9."""
    process = start_hook(node, name)
    told, said = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, told, said)


def test_a_job_gets_its_own_temporary_directory_and_loses_it(hooks: FakeNode) -> None:
    done = hook(hooks, "prolog.sh")
    assert (done.returncode, done.stderr) == (0, "")
    directory = hooks.root / "tmp/job-9"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert hook(hooks, "task-prolog.sh").stdout == f"export TMPDIR={directory}\n"
    (directory / "file").write_text("x")
    assert hook(hooks, "epilog.sh").returncode == 0
    assert not directory.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda node: (node.root / "dev/neuron3").unlink(), "prolog: 15 of 16 neuron_devices"),
        (lambda node: node.environment.update(STUB_EFA="7"), "prolog: 7 of 8 efa_interfaces"),
    ],
)
def test_a_missing_device_drains_the_node_with_the_reason(hooks: FakeNode, spoil: Any, reason: str) -> None:
    spoil(hooks)
    done = hook(hooks, "prolog.sh")
    assert (done.returncode, done.stderr) == (1, reason + "\n")
    told = (hooks.root / "state/scontrol").read_text()
    assert told == f"update nodename=ip-10-1-0-7 state=drain reason={reason}\n"


@pytest.mark.parametrize("group", ["controller", "login", "worker"])
def test_every_node_has_them_before_slurm_conf_speaks_of_them(tmp_path: Path, group: str) -> None:
    """Log-in nodes run jobs of the partition `dev`; the controller may check the programs that its file names."""
    node = make_node(tmp_path / "node", group)
    entry = node.write_entry("hooks.sh", ["network", "devices", "job_hooks", "slurm_conf"])
    assert node.run(entry).returncode == 0
    scripts = node.root / "opt/slurm/etc/scripts"
    assert sorted(path.name for path in scripts.iterdir()) == ["devices", "epilog.sh", "prolog.sh", "task-prolog.sh"]


def start_process(node: FakeNode, job: str | None) -> subprocess.Popen[bytes]:
    """A process that a job has left, where the hooks look for it."""
    environment = {"SLURM_JOB_ID": job} if job else {}
    process = subprocess.Popen(["/bin/sleep", "3600"], env=environment)
    place = node.root / "proc" / str(process.pid)
    place.mkdir()
    (place / "environ").write_bytes(b"A=1\0" + (f"SLURM_JOB_ID={job}\0".encode() if job else b""))
    return process


@pytest.mark.parametrize(
    ("script", "left", "others"),
    [
        pytest.param("epilog.sh", "9", ("8", None), id="epilog, of its own job"),
        # pgrep finds the steps of job 8
        pytest.param("prolog.sh", "7", ("8", "9"), id="prolog, of jobs that Slurm does not run"),
    ],
)
def test_a_hook_ends_what_was_left_and_nothing_else(
    hooks: FakeNode, script: str, left: str, others: tuple[str | None, ...]
) -> None:
    ended, *kept = (start_process(hooks, job) for job in (left, *others))
    assert hook(hooks, script).returncode == 0
    assert ended.wait(timeout=300) == -9
    assert [process.poll() for process in kept] == [None, None]
    for process in kept:
        process.kill()
        process.wait()


# What the hook of job 2 calls stops there until the test opens the way; any other job passes.
STOPS = """\
[[ ${SLURM_JOB_ID} != 2 ]] || {
  cd "${TRAINYARD_ROOT}/state"
  echo $$ >stopped.new
  mv stopped.new stopped
  read -r _ <way
}
"""


@pytest.mark.parametrize(
    ("name", "called"),
    [("prolog.sh", "root/opt/amazon/efa/bin/fi_info"), ("epilog.sh", "bin/rm")],
    ids=["prolog", "epilog"],
)
def test_the_prolog_spares_the_hooks_of_other_jobs(hooks: FakeNode, name: str, called: str) -> None:
    program = hooks.directory / called
    programs = hooks.directory / "programs"
    programs.mkdir()
    (programs / program.name).symlink_to(program.readlink())
    program.unlink()
    program.write_text(f'#!/bin/bash\n{STOPS}exec {programs / program.name} "$@"\n')
    program.chmod(0o755)
    os.mkfifo(hooks.root / "state/way")
    other = start_hook(hooks, name, job="2")  # pgrep finds no step of job 2
    stopped = hooks.root / "state/stopped"
    while not stopped.exists():
        assert other.poll() is None
        time.sleep(0.05)
    for process in (other.pid, int(stopped.read_text())):
        (hooks.root / "proc" / str(process)).symlink_to(f"/proc/{process}")
    left = start_process(hooks, "7")
    assert hook(hooks, "prolog.sh").returncode == 0
    assert left.wait(timeout=300) == -9
    way = os.open(hooks.root / "state/way", os.O_RDWR)  # does not wait for somebody who reads
    os.write(way, b"go\n")
    _, said = other.communicate(timeout=300)
    os.close(way)
    assert (other.returncode, said) == (0, "")


def test_the_prolog_spares_what_runs_slurms_plugins_for_other_jobs(hooks: FakeNode) -> None:
    plugins = start_process(hooks, "2")
    (hooks.root / "proc" / str(plugins.pid) / "cmdline").write_bytes(b"/opt/slurm/sbin/slurmstepd\0spank\0prolog\0")
    assert hook(hooks, "prolog.sh").returncode == 0
    assert plugins.poll() is None
    plugins.kill()
    plugins.wait()
