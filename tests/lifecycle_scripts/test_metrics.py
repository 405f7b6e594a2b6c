"""The programs that write metrics, and those that ask and rewrite files for the steps."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import scripts_folder
from tests.lifecycle_scripts.programs import load

SCRIPTS = scripts_folder() / "hyperpod"
slurm_metrics, efa_metrics, plugstack = (
    load(f"hyperpod/{name}.py") for name in ("slurm_metrics", "efa_metrics", "plugstack")
)

ANSWERS = {
    ("sinfo", "--Node"): "dev* idle~\ndev* idle\ndev* mixed\ndev* down*\nworkers allocated\n",
    ("sinfo", "--format=%R %C"): "dev 8/24/32/64\n",
    ("squeue", "--all"): "dev RUNNING\ndev PENDING\ndev PENDING\n",
}


def answer(program: str, arguments: list[str]) -> str:
    return next(text for (name, word), text in ANSWERS.items() if name == program and word in arguments)


# ---------------------------------------------------------------- Slurm
def test_nodes_cpus_and_jobs_are_counted_by_partition_and_state() -> None:
    told = slurm_metrics.collect(answer).splitlines()
    for line in (
        "slurm_up 1",
        'slurm_nodes{partition="dev",state="idle"} 2',
        'slurm_nodes{partition="dev",state="down"} 1',
        'slurm_nodes{partition="workers",state="allocated"} 1',
        'slurm_cpus{partition="dev",state="allocated"} 8',
        'slurm_cpus{partition="dev",state="total"} 64',
        'slurm_jobs{partition="dev",state="pending"} 2',
    ):
        assert line in told
    families = [line.split()[2] for line in told if line.startswith("# TYPE")]
    assert len(families) == len(set(families))


def test_a_slurm_without_nodes_and_jobs_is_up() -> None:
    assert "slurm_up 1" in slurm_metrics.collect(lambda _program, _arguments: "")


@pytest.mark.parametrize(
    "error", [FileNotFoundError(), subprocess.CalledProcessError(1, "sinfo"), subprocess.TimeoutExpired("sinfo", 20)]
)
def test_a_slurm_that_does_not_answer_is_down(error: Exception) -> None:
    def fail(_program: str, _arguments: list[str]) -> str:
        raise error

    told = slurm_metrics.collect(fail)
    assert told.splitlines()[-1] == "slurm_up 0"
    assert "slurm_nodes" not in told


def test_the_file_is_there_at_once_and_replaced_whole(tmp_path: Path) -> None:
    output = tmp_path / "slurm.prom"
    sinfo = tmp_path / "sinfo"
    sinfo.write_text(f"#!/bin/sh\ncat {output} >{tmp_path}/before\nexit 1\n")
    sinfo.chmod(0o755)
    assert slurm_metrics.main(["--slurm", str(tmp_path), "--output", str(output)]) == 0
    assert (tmp_path / "before").read_text().endswith("slurm_up 0\n")
    assert output.read_text().endswith("slurm_up 0\n")
    assert {path.name for path in tmp_path.iterdir()} == {"slurm.prom", "sinfo", "before"}


# ---------------------------------------------------------------- EFA
def make_device(system: Path, name: str, driver: str, counters: dict[str, str]) -> None:
    """An InfiniBand device as the kernel shows it."""
    device = system / "class/infiniband" / name
    (system / "drivers" / driver).mkdir(parents=True, exist_ok=True)
    (device / "device").mkdir(parents=True)
    (device / "device/driver").symlink_to(system / "drivers" / driver)
    (device / "ports/1/hw_counters").mkdir(parents=True)
    for counter, value in counters.items():
        (device / "ports/1/hw_counters" / counter).write_text(value)


def test_counters_of_efa_have_the_names_of_awss_exporter(tmp_path: Path) -> None:
    make_device(tmp_path, "rdmap16s2", "efa", {"rx_bytes": "100\n", "lifespan": "12\n", "broken": "N/A\n"})
    make_device(tmp_path, "rdmap16s27", "efa", {"rx_bytes": "200\n"})
    make_device(tmp_path, "mlx5_0", "mlx5_core", {"rx_bytes": "300\n"})
    assert efa_metrics.main(["--system", str(tmp_path), "--output", str(tmp_path / "efa.prom")]) == 0
    assert (tmp_path / "efa.prom").read_text().splitlines() == [
        "# TYPE node_amazonefa_ports gauge",
        "node_amazonefa_ports 2",
        "# TYPE node_amazonefa_lifespan counter",
        'node_amazonefa_lifespan{device="rdmap16s2",port="1"} 12',
        "# TYPE node_amazonefa_rx_bytes counter",
        'node_amazonefa_rx_bytes{device="rdmap16s2",port="1"} 100',
        'node_amazonefa_rx_bytes{device="rdmap16s27",port="1"} 200',
    ]


def test_a_node_without_efa_has_no_ports(tmp_path: Path) -> None:
    assert "node_amazonefa_ports 0\n" in efa_metrics.collect(tmp_path)


# ---------------------------------------------------------------- plugstack.conf
@pytest.mark.parametrize(
    ("present", "included", "expected"),
    [
        ("", {}, ["required pyxis.so"]),
        ("# words\n", {}, ["# words", "required pyxis.so"]),
        ("required /opt/other/pyxis.so mode=1\n", {}, ["required /opt/other/pyxis.so mode=1"]),
        ("include d/*\n", {"d/b": "optional b.so\n", "d/a": "required a.so\n"},
         ["required a.so", "optional b.so", "required pyxis.so"]),
        ("include d/*\ninclude d/*\n", {"d/a": "required pyxis.so\n"}, ["required pyxis.so"]),
        ("include d/none\nrequired a.so\n", {}, ["required a.so", "required pyxis.so"]),
        ("include plugstack.conf\nrequired a.so\n", {}, ["required a.so", "required pyxis.so"]),
    ],
    ids=["empty", "comment", "there", "included", "twice", "missing", "itself"],
)  # fmt: skip
def test_every_included_plugin_is_written_out_once(
    tmp_path: Path, present: str, included: dict[str, str], expected: list[str]
) -> None:
    conf = tmp_path / "plugstack.conf"
    conf.write_text(present)
    for name, text in included.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert plugstack.merge(plugstack.lines_of(conf, ""), "required pyxis.so") == expected


# ---------------------------------------------------------------- daemon.json
def test_a_daemon_json_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "daemon.json").write_text("{")
    command = [sys.executable, str(SCRIPTS / "docker_root.py"), str(tmp_path / "daemon.json"), "/data"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (65, "")
    assert "daemon.json is not JSON" in done.stderr


def test_a_data_root_is_added_to_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "daemon.json").write_text('{"debug": true}')
    command = [sys.executable, str(SCRIPTS / "docker_root.py"), str(tmp_path / "daemon.json"), "/data"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"debug": True, "data-root": "/data"}


# ---------------------------------------------------------------- who holds a lock
def test_who_holds_a_lock_is_named_and_nothing_is_locked_by_asking(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    program = scripts_folder() / "lib/lock_holder.py"
    hold = (
        f"import fcntl; f = open({str(lock)!r}, 'w'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        command = [sys.executable, str(program), str(tmp_path / "none"), str(lock)]
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (asked.returncode, asked.stdout) == (1, f"python (process {holder.pid}) holds {lock}\n".replace(
            "python ", f"{Path(f'/proc/{holder.pid}/comm').read_text().strip()} "
        ))  # fmt: skip
        holder.communicate("\n")
    assert subprocess.run(command, check=False).returncode == 0
