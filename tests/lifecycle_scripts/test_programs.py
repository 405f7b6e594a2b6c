"""The small programs beside the steps: the clock, Slurm's topology, slurmdbd's configuration."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.lifecycle import scripts_folder
from tests.lifecycle_scripts.fake_node import Clock
from tests.lifecycle_scripts.programs import load

FOLDER = scripts_folder() / "hyperpod"
CLOCK, TOPOLOGY, DBD = (load(f"hyperpod/{name}.py") for name in ("clock", "slurm_topology", "slurmdbd_conf"))


# ---------------------------------------------------------------- clock
@pytest.mark.parametrize(
    ("ahead", "code", "told"),
    [
        (0, 0, "the clock is right to 0."),
        (29, 0, "the clock is right to 2"),
        (31, 1, "the clock is 31 s slow (127.0.0.1:"),
        (600, 1, "the clock is 600 s slow (127.0.0.1:"),
        (-600, 1, "the clock is 600 s fast (127.0.0.1:"),
    ],
)
def test_the_clock_is_compared(
    ahead: float, code: int, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Clock()
    service.ahead = ahead
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)  # of both: an answer may take its time
    assert CLOCK.main(["--server", service.address]) == code
    assert capsys.readouterr().out.startswith(told)


def test_a_time_service_that_does_not_answer_is_no_wrong_clock(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CLOCK, "_TRIES", 1)
    monkeypatch.setattr(CLOCK.ask, "__defaults__", (0.05,))  # seconds that it waits
    silent = Clock()
    silent.ahead = None
    assert CLOCK.main(["--server", silent.address]) == 75
    assert CLOCK.main(["--server", "127.0.0.1:9"]) == 75  # nobody listens
    assert capsys.readouterr().out.count("does not answer") == 2


# ---------------------------------------------------------------- topology
NODES = "NodeName=DEFAULT State=UNKNOWN\nNodeName=ip-10-1-0-[7-8] CPUs=1\nNodeName=ip-10-1-0-9 CPUs=1\n"
TREE = "TopologyPlugin=topology/tree\n"
ALL = "ip-10-1-0-[7-8],ip-10-1-0-9"


def etc(directory: Path, **files: str) -> Path:
    for name, text in files.items():
        (directory / name.replace("_", ".")).write_text(text)
    return directory


@pytest.mark.parametrize(
    "files",
    [
        {"slurm_conf": NODES},
        {"slurm_conf": NODES + "TopologyPlugin=topology/flat\n"},
        {"slurm_conf": TREE},
        {"slurm_conf": NODES + TREE, "topology_conf": "SwitchName=s0 Nodes=a\n"},
        {"slurm_conf": NODES + TREE, "topology_conf": "BlockName=b0 Nodes=a\n"},
        {"slurm_conf": NODES + TREE, "topology_yaml": "- topology: real\n"},
        {},
    ],
)
def test_a_topology_that_is_settled_or_not_asked_for_is_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    before = {path: path.read_text() for path in etc(tmp_path, **files).iterdir()}
    assert TOPOLOGY.main([str(tmp_path)]) == 0
    assert {path: path.read_text() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("empty", [None, "", "# HyperPod\n"])
def test_a_tree_without_switches_gets_one(
    tmp_path: Path, empty: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    etc(tmp_path, slurm_conf=NODES + TREE, **({} if empty is None else {"topology_conf": empty}))
    assert TOPOLOGY.main(["--check", str(tmp_path)]) == 1
    assert TOPOLOGY.main([str(tmp_path)]) == 0
    assert (tmp_path / "topology.conf").read_text().splitlines()[1:] == [f"SwitchName=all Nodes={ALL}"]
    assert capsys.readouterr().out == "topology.conf\n"
    assert TOPOLOGY.main(["--check", str(tmp_path)]) == 0


def test_nodes_that_come_are_added_to_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    etc(tmp_path, slurm_conf=NODES + TREE)
    TOPOLOGY.main([str(tmp_path)])
    etc(tmp_path, slurm_conf=NODES + TREE + "NodeName=ip-10-1-0-10 CPUs=1\n")
    TOPOLOGY.main([str(tmp_path)])
    assert f"Nodes={ALL},ip-10-1-0-10\n" in (tmp_path / "topology.conf").read_text()
    assert capsys.readouterr().out == "topology.conf\n" * 2
    TOPOLOGY.main([str(tmp_path)])
    assert capsys.readouterr().out == ""


def test_an_empty_yaml_gets_the_topologies_that_partitions_name(tmp_path: Path) -> None:
    named = "PartitionName=dev Nodes=ALL Topology=tree\nPartitionName=gpu Nodes=ALL Topology=block State=UP\n"
    etc(tmp_path, slurm_conf=NODES + named, topology_yaml="[]\n", topology_conf="")
    TOPOLOGY.main([str(tmp_path)])
    listed = json.loads((tmp_path / "topology.yaml").read_text().split("\n", 1)[1])
    tree = {"switches": [{"switch": "all", "nodes": ALL}]}
    assert listed == [
        {"topology": "block", "cluster_default": True, "tree": tree},
        {"topology": "tree", "cluster_default": False, "tree": tree},
    ]


# ---------------------------------------------------------------- slurmdbd
WORDS = ["--host", "ctl", "--address", "10.1.0.5", "--slurm-user", "slurm", "--database", "db", "--port", "3306",
         "--schema", "acct"]  # fmt: skip


def dbd(stdin: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(FOLDER / "slurmdbd_conf.py"), *WORDS, *more],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_secret_goes_into_the_file() -> None:
    done = dbd('{"username": "admin", "password": "s3cr=et!", "host": "ignored"}\n', "--authority", "/opt/ca.pem")
    fields = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert fields == {
        "AuthType": "auth/munge",
        "DbdHost": "ctl",
        "DbdAddr": "10.1.0.5",
        "SlurmUser": "slurm",
        "LogFile": "/var/log/slurm/slurmdbd.log",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": "db",
        "StoragePort": "3306",
        "StorageLoc": "acct",
        "StorageUser": "admin",
        "StoragePass": "s3cr=et!",
        "StorageParameters": "SSL_CA=/opt/ca.pem",
    }


def test_without_a_secret_a_password_is_made_up_each_time() -> None:
    passwords = {line for _ in range(2) for line in dbd("").stdout.splitlines() if line.startswith("StoragePass=")}
    assert len(passwords) == 2
    assert all(len(line) > 40 for line in passwords)


@pytest.mark.parametrize(
    ("secret", "told"),
    [
        ("hunter2", "the secret must be JSON with 'username' and 'password'"),
        ('["hunter2"]', "the secret must be JSON with 'username' and 'password'"),
        ('{"username": "a"}', "the secret must be JSON with 'username' and 'password'"),
        ('{"username": "a", "password": "hunter2 #"}', "the password of the secret must be without spaces, quotes"),
        ('{"username": "a b", "password": "hunter2"}', "the username of the secret must be without spaces, quotes"),
    ],
)
def test_a_secret_that_cannot_work_is_told_and_not_shown(secret: str, told: str) -> None:
    done = dbd(secret)
    assert (done.returncode, done.stdout) == (65, "")
    assert done.stderr.startswith(told)
    assert "hunter2" not in done.stderr


@given(st.text(max_size=20))
def test_what_is_fine_in_a_secret_stays_on_its_line(password: str) -> None:
    if DBD._FINE.fullmatch(password):
        assert f"x={password}".splitlines() == [f"x={password}"]
