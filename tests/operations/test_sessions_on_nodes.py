"""Sessions on nodes: real systemd, real Slurm, real sshd; the data channel alone is a stand-in's."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import HyperPodMachines
from tests.operations.nodes import HYPERPOD, rehearsed

pytestmark = [pytest.mark.nodes, pytest.mark.usefixtures("here")]
FILE = f"deployments/{HYPERPOD}.yaml"
GROUP = "worker-group-1"


@pytest.fixture(scope="module")
def machines(here: LocalAws, image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HyperPodMachines]:
    with rehearsed(here, image, tmp_path_factory.mktemp("sessions")) as booted:
        yield booted


@pytest.fixture(scope="module")
def workers(machines: HyperPodMachines) -> list[str]:
    return [node.host for node in machines.cluster.nodes if node.group == GROUP]


def trainyard(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "cdk_trainyard", *words],
        input=text,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_connect_goes_to_the_controller_and_to_a_group(machines: HyperPodMachines, workers: list[str]) -> None:
    head = next(node for node in machines.cluster.nodes if node.group == "controller-machine")
    for words, host, group in (((), head.host, "controller-machine"), ((GROUP,), workers[0], GROUP)):
        done = trainyard("connect", FILE, *words, text="hostname\nexit\n")
        assert done.returncode == 0, done.stderr
        assert host in done.stdout.splitlines()
        assert f"{group} i-" in done.stderr
        assert "Starting session with SessionId: trainyard-" in done.stdout


def test_exec_runs_on_every_node_of_a_group(workers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", FILE, GROUP, "--", "hostname; id -un; printf 'a  b\n\nno end'"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for host in workers:
        own = [line.removeprefix(host).strip() for line in lines if line.startswith(host)]
        assert own == [host, "root", "a  b", "", "no end"]
    assert len(lines) == 5 * len(workers)


def test_exec_keeps_words_and_says_what_failed(workers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", FILE, GROUP, "--user", "ubuntu", "--", "printf", "%s|", "it's", "{{ x }}", "$HOME", "\\"]) == 0
    assert capsys.readouterr().out.count("it's|{{ x }}|$HOME|\\|") == 2
    assert main(["exec", FILE, GROUP, "--", f'[ "$(hostname)" = {workers[0]} ] || exit 7']) == 1
    said = capsys.readouterr().err
    assert f"{workers[1]}  exit code 7" in said
    assert "failed on 1 of 2 nodes" in said
    assert main(["exec", FILE, workers[0], "--", "if"]) == 1
    assert "exit code 2" in capsys.readouterr().err


def test_exec_as_somebody_who_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", FILE, GROUP, "--user", "nobody-here", "--", "true"]) == 1
    assert "nobody-here does not exist" in capsys.readouterr().out
    assert main(["exec", FILE, GROUP, "--user", "a; b", "--", "true"]) == 1
    assert "'a; b' is no name of a user" in capsys.readouterr().err


def test_ssh_reaches_nodes_by_their_names(
    machines: HyperPodMachines, workers: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, key = tmp_path / "config", tmp_path / "key"
    make = ["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]
    subprocess.run(make, check=True)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    assert main(["ssh-config", FILE, "--file", str(config), "--identity", str(key)]) == 0
    line = f"mkdir -p ~/.ssh && echo {key.with_suffix('.pub').read_text().strip()} >> ~/.ssh/authorized_keys"
    for group in (GROUP, "controller-machine"):
        assert main(["exec", FILE, group, "--user", "ubuntu", "--", line]) == 0
    head = next(node for node in machines.cluster.nodes if node.group == "controller-machine")
    ids = {node.host: node.instance_id for node in machines.cluster.nodes}
    for host, name in ((head.host, HYPERPOD), (workers[1], f"{HYPERPOD}-{GROUP}-2"), (workers[0], ids[workers[0]])):
        known = tmp_path / "known"
        done = subprocess.run(
            ["/usr/bin/ssh", "-F", config, "-o", f"UserKnownHostsFile={known}", name, "hostname; id -un; cat"],
            input="x" * 200_000,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.stdout.split() == [host, "ubuntu", "x" * 200_000], done.stderr
        assert ids[host] in known.read_text()


def test_ssh_says_why_there_is_no_session(machines: HyperPodMachines, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(
        "Host gone\n  ProxyCommand "
        f"{sys.executable} -P -m cdk_trainyard.operations.proxy us-east-1 i-0123456789abcdef0 %p\n"
    )
    words = ["/usr/bin/ssh", "-F", tmp_path / "config", "gone", "true"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 255
    assert "i-0123456789abcdef0: " in done.stderr
    assert "is not connected" in done.stderr
    assert machines.by_name


def test_a_job_is_submitted_and_followed_to_its_end(
    machines: HyperPodMachines, workers: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machines.by_name
    folder = tmp_path / "my job"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "noise").write_bytes(os.urandom(90_000))  # more than one session carries
    lines = ["#!/bin/bash", "srun hostname | sort", "sha256sum data/noise", "echo", "sleep 3", "echo said $1",
             "printf 'no end'", "exit 5"]  # fmt: skip
    (folder / "job.sbatch").write_text("\n".join(lines))
    words = ["submit", FILE, str(folder), "--follow", "--", "--nodes=2", "--job-name=a b", "--export=ALL,X=1"]
    assert main(words) == 5
    shown = capsys.readouterr()
    digest = hashlib.sha256((folder / "data" / "noise").read_bytes()).hexdigest()
    assert shown.out.splitlines() == [*sorted(workers), f"{digest}  data/noise", "", "said", "no end"]
    assert "FAILED NonZeroExitCode" in shown.err
    assert "/trainyard-jobs/my-job-" in shown.err


def test_a_job_that_slurm_refuses_or_ends(
    machines: HyperPodMachines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "quick.sh"
    script.write_text("#!/bin/sh\nscancel $SLURM_JOB_ID; sleep 3600\n")
    assert main(["submit", FILE, str(script), "--", "--partition=nowhere"]) == 1
    assert "invalid partition specified: nowhere" in capsys.readouterr().err
    assert main(["submit", FILE, str(script), "--follow"]) not in {0, 75}
    assert "CANCELLED" in capsys.readouterr().err
    assert main(["submit", FILE, str(script), "--", "--hold"]) == 0
    number = capsys.readouterr().out.split()[1]
    assert f"JobId={number} JobName=quick.sh" in machines.slurm.controller.run("scontrol", "show", "job", number).out
    machines.slurm.controller.run("scancel", number)
