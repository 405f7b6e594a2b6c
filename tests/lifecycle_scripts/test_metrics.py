"""The programs that write metrics, and those that ask and rewrite files for the steps."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import scripts_folder
from tests.lifecycle_scripts.programs import load
from tests.support import ROOT

SCRIPTS = scripts_folder() / "hyperpod"
slurm_metrics, efa_metrics, lustre_metrics, plugstack = (
    load(f"{name}.py") for name in ("lib/slurm_metrics", "lib/efa_metrics", "lib/lustre_metrics", "hyperpod/plugstack")
)

ANSWERS = {
    ("sinfo", "--Node"): "dev* idle~\ndev* idle\ndev* mixed\ndev* down*\nworkers allocated\n",
    ("sinfo", "--format=%R %C"): "dev 8/24/32/64\n",
    ("squeue", "--states=all"): "dev RUNNING\ndev PENDING\ndev PENDING\n",
    ("squeue", "--states=PENDING"): "dev|1000|Resources\ndev|500|Resources\ndev,b|N/A|Priority\nb|900|(null) text\n",
    ("scontrol", "nodes"): "".join(
        f"NodeName={name} Arch=x86_64 Gres={gres} GresUsed={used} NodeAddr=10.0.0.{number} State={state}"
        f" Reason=State=IDLE, as somebody said [root@2026-11-23T03:00:00]\n"
        for number, (name, state, gres, used) in enumerate(
            [
                ("w0", "IDLE", "neuron:16", "neuron:0(IDX:N/A)"),
                ("w1", "MIXED", "neuron:16", "neuron:4(IDX:0-3)"),
                ("w2", "DOWN*", "neuron:16", "neuron:0"),
                ("w3", "IDLE+DRAIN", "gpu:h100:8(S:0-1),neuron:2", "gpu:h100:3(IDX:0-2)"),
                ("w4", "ALLOCATED+DRAIN", "(null)", "(null)"),
                ("w5", "DOWN+CLOUD+POWERED_DOWN", "(null)", "(null)"),
                ("w6", "IDLE+INVALID_REG+DRAIN", "(null)", "(null)"),
                ("w7", "DOWN+MAINTENANCE+RESERVED", "(null)", "(null)"),
                ("w8", "MIXED+FAIL", "(null)", "(null)"),
            ]
        )
    ),
    ("scontrol", "config"): "AccountingStorageType   = accounting_storage/slurmdbd\n",
    ("sacctmgr", None): "llama2\n",
    ("sdiag", None): "Server thread count:  3\nAgent queue size:     1\nAgent count: 0\nDBD Agent queue size: 7\n",
}


def answer(program: str, arguments: list[str]) -> str:
    return next(text for (name, word), text in ANSWERS.items() if name == program and (not word or word in arguments))


# ---------------------------------------------------------------- Slurm
def test_nodes_cpus_and_jobs_are_counted_by_partition_and_state() -> None:
    told = slurm_metrics.collect(answer).splitlines()
    for line in (
        "slurm_up 1",
        'slurm_nodes{partition="dev",state="idle"} 1',
        'slurm_nodes{partition="dev",state="powered_down"} 1',
        'slurm_nodes{partition="dev",state="down"} 1',
        'slurm_nodes{partition="workers",state="allocated"} 1',
        'slurm_cpus{partition="dev",state="allocated"} 8',
        'slurm_cpus{partition="dev",state="total"} 64',
        'slurm_jobs{partition="dev",state="pending"} 2',
    ):
        assert line in told
    families = [line.split()[2] for line in told if line.startswith("# TYPE")]
    assert len(families) == len(set(families))


def test_nodes_that_take_no_jobs_are_named_unless_they_are_meant_to_be_away() -> None:
    told = slurm_metrics.collect(answer).splitlines()
    assert [line for line in told if line.startswith("slurm_node_unavailable{")] == [
        f'slurm_node_unavailable{{node="{node}",state="{state}"}} 1'
        for node, state in (
            ("w2", "down"), ("w3", "drained"), ("w4", "draining"), ("w6", "invalid"), ("w8", "fail")
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("State=DOWN* SlurmdStartTime=1795390000 Reason=Not responding [slurm@2026-11-23T03:00:00]", "down"),
        ("State=DOWN+NOT_RESPONDING SlurmdStartTime=None Reason=Not responding [slurm@1795390000]", "awaited"),
        ("State=DOWN* SlurmdStartTime=Unknown", "awaited"),
        ("State=IDLE+FAIL SlurmdStartTime=1795390000 Reason=Action:Replace [root@1795390000]", "awaited"),
        ("State=DOWN+FAIL SlurmdStartTime=1795390000 Reason=Action:Reboot [root@1795390000]", "awaited"),
        ("State=IDLE+FAIL SlurmdStartTime=1795390000 Reason=a person's Action:Replace", "fail"),
        ("State=IDLE SlurmdStartTime=1795390000 Reason=Action:Reboot [root@1795390000]", None),
        ("State=IDLE+DRAIN SlurmdStartTime=None", "drained"),
        ("State=UNKNOWN* SlurmdStartTime=None", None),
    ],
)
def test_a_node_that_is_new_or_was_to_be_replaced_is_awaited(said: str, why: str | None) -> None:
    found = slurm_metrics.unavailable(f"NodeName=w1 {said}\n")
    assert found == ([({"node": "w1", "state": why}, 1)] if why else [])


def test_a_dead_node_is_dead_until_it_registers_whatever_becomes_of_slurmctld() -> None:
    """A slurmctld that is started again says of it what it says of one that never came."""
    nodes = "NodeName=w1 State=DOWN* SlurmdStartTime={}\nNodeName=w2 State=DOWN* SlurmdStartTime=None\n"

    def told(came: str) -> Callable[[str, list[str]], str]:
        return lambda program, _arguments: nodes.format(came) if program == "scontrol" else ""

    def refused(program: str, _arguments: list[str]) -> str:
        raise subprocess.CalledProcessError(1, program)

    def of_nodes(text: str) -> list[str]:
        return [line for line in text.splitlines() if "slurm_node_unavailable" in line]

    before = slurm_metrics.collect(told("1795390000"))
    assert 'slurm_node_unavailable{node="w1",state="down"} 1' in of_nodes(before)
    assert 'slurm_node_unavailable{node="w2",state="awaited"} 1' in of_nodes(before)
    silent = slurm_metrics.collect(refused, before)
    assert "slurm_up 0" in silent.splitlines()
    assert of_nodes(silent) == of_nodes(before)
    assert slurm_metrics.collect(refused, silent) == silent
    again = slurm_metrics.collect(told("None"), silent)
    assert of_nodes(again) == of_nodes(before)
    replaced = slurm_metrics.collect(told("None Reason=Action:Replace"), silent)
    assert 'slurm_node_unavailable{node="w1",state="awaited"} 1' in of_nodes(replaced)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Resources", "Resources"),
        # as squeue of Slurm 22.05 said it of a job of two nodes, where one was down and one drained
        (
            "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
            "Resources",
        ),
        ("ReqNodeNotAvail, UnavailableNodes:w[1-2]", "ReqNodeNotAvail"),
        ("QOSMaxCpuPerUserLimit", "Other"),
        ("None", "Other"),
    ],
)
def test_reasons_are_few_whatever_squeue_says_in_their_place(said: str, code: str) -> None:
    assert slurm_metrics.waiting(f"dev|1000|{said}\n")[0][0] == {"partition": "dev", "reason": code}


def test_devices_waits_and_queues_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_metrics.time, "time", lambda: 2000.4)
    told = slurm_metrics.collect(answer).splitlines()
    for line in (
        'slurm_gres{gres="neuron",state="total"} 50',
        'slurm_gres{gres="neuron",state="allocated"} 4',
        'slurm_gres{gres="gpu",state="total"} 8',
        'slurm_gres{gres="gpu",state="allocated"} 3',
        'slurm_node_gres_allocated{node="w1",gres="neuron"} 4',
        'slurm_node_gres_allocated{node="w3",gres="gpu"} 3',
        "slurm_dbd_up 1",
        'slurm_jobs_longest_wait_seconds{partition="dev",reason="Resources"} 1500',
        'slurm_jobs_longest_wait_seconds{partition="b",reason="Other"} 1100',
        "slurm_agent_queue_size 1",
        "slurm_dbd_agent_queue_size 7",
        "slurm_server_threads 3",
    ):
        assert line in told
    assert not [line for line in told if "Priority" in line]


def test_a_slurmdbd_that_does_not_answer_is_down_and_slurm_is_not() -> None:
    def refused(program: str, arguments: list[str]) -> str:
        if program == "sacctmgr":
            raise subprocess.CalledProcessError(1, program)
        return answer(program, arguments)

    told = slurm_metrics.collect(refused).splitlines()
    assert "slurm_up 1" in told
    assert "slurm_dbd_up 0" in told


def test_where_jobs_are_not_accounted_for_there_is_no_slurmdbd() -> None:
    def without(program: str, arguments: list[str]) -> str:
        return "AccountingStorageType = (null)\n" if "config" in arguments else answer(program, arguments)

    assert "slurm_dbd_up" not in slurm_metrics.collect(without)


def test_what_is_scraped_comes_from_slurm(tmp_path: Path) -> None:
    path = tmp_path / "targets.json"
    slurm_metrics.discover(answer, path, slurm_metrics.ports_of("node=9100,neuron=8000,gpu=9400"))
    found = [(each["labels"]["node"], each["labels"]["job"], *each["targets"]) for each in json.loads(path.read_text())]
    assert found[0][1:] == ("node", "127.0.0.1:9100")
    assert ("w0", "neuron", "10.0.0.0:8000") in found
    assert ("w2", "node", "10.0.0.2:9100") in found
    assert ("w3", "gpu", "10.0.0.3:9400") in found
    assert {node for node, *_ in found[1:]} == {"w0", "w1", "w2", "w3", "w4", "w6", "w8"}


def test_nodes_with_devices_that_slurm_does_not_know_are_known_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "targets.json"
    having = slurm_metrics.patterns_of("neuron=x-*,w8")
    slurm_metrics.discover(answer, path, {"node": 9100, "neuron": 8000}, having)
    found = {(each["labels"]["node"], each["labels"]["job"]) for each in json.loads(path.read_text())}
    assert {("w8", "neuron"), ("w0", "neuron"), ("w8", "node")} <= found
    assert ("w4", "neuron") not in found


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("idle", "idle"),
        ("idle*", "idle"),
        ("idle~", "powered_down"),
        ("down~", "powered_down"),
        ("allocated#", "powering_up"),
        ("mixed#", "powering_up"),
        ("idle%", "powering_down"),
        ("idle!", "powering_down"),
        ("mixed-", "mixed"),
    ],
)
def test_nodes_that_save_power_are_not_idle(told: str, state: str) -> None:
    assert slurm_metrics.node_state(told) == state


@pytest.mark.parametrize(
    "state",
    [
        "IDLE+CLOUD+POWERED_DOWN",
        "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP",
        "DOWN+CLOUD+NOT_RESPONDING+POWERING_UP",
        "IDLE+CLOUD+POWERING_DOWN",
        "IDLE+CLOUD+DRAIN+POWER_DOWN",
    ],
)
def test_nodes_that_save_power_ring_nothing_and_are_not_scraped(state: str) -> None:
    """As ParallelCluster's nodes come and go; a failed launch sets them down while they power up."""
    assert slurm_metrics.why_unavailable({"State": state}) is None
    told = f"NodeName=train-dy-big-1 NodeAddr=10.0.0.9 State={state} Gres=(null)\n"
    (own,) = slurm_metrics.targets(told, {"node": 9100}, "head")
    assert own["labels"] == {"job": "node", "node": "head"}


def test_a_slurm_that_does_not_answer_leaves_the_targets_alone(tmp_path: Path) -> None:
    def fail(_program: str, _arguments: list[str]) -> str:
        raise FileNotFoundError

    path = tmp_path / "targets.json"
    slurm_metrics.discover(fail, path, {"node": 9100})
    (own,) = json.loads(path.read_text())
    assert own["targets"] == ["127.0.0.1:9100"]
    path.write_text("as it was")
    slurm_metrics.discover(fail, path, {"node": 9100})
    assert path.read_text() == "as it was"


def test_ten_thousand_jobs_of_a_thousand_users_on_a_thousand_nodes_are_few_series() -> None:
    """What there is to count is nodes and partitions; jobs, users and reasons add no series."""
    answers = {
        "sinfo": "p idle\n" * 1000,
        "scontrol": "".join(f"NodeName=w{number} Gres=neuron:16 State=DOWN*\n" for number in range(1000)),
        "sdiag": "",
    }

    def many(program: str, arguments: list[str]) -> str:
        if program == "sinfo" and "--format=%R %C" in arguments:
            return "p 0/1/2/3\n"
        if program != "squeue":
            return answers[program]
        pending = "--states=PENDING" in arguments
        return "".join(f"p|{number}|reason {number}\n" if pending else "p PENDING\n" for number in range(10_000))

    samples = [line for line in slurm_metrics.collect(many).splitlines() if not line.startswith("#")]
    assert len(samples) == 1000 + 10


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


# ---------------------------------------------------------------- Lustre
LCTL = (ROOT / "tests/monitoring/data/emitted/lustre.answers").read_text()


def test_the_lustre_client_is_counted_and_what_is_lost_is_named() -> None:
    told = lustre_metrics.collect(LCTL).splitlines()
    assert [line for line in told if line.startswith("lustre_target_disconnected{")] == [
        'lustre_target_disconnected{filesystem="fsxabc",target="fsxabc-OST0001"} 1'
    ]
    for line in (
        "lustre_up 1",
        'lustre_targets{filesystem="fsxabc",kind="ost",state="connected"} 2',
        'lustre_targets{filesystem="fsxabc",kind="ost",state="disconnected"} 1',
        'lustre_targets{filesystem="fsxabc",kind="mdt",state="connected"} 1',
        'lustre_last_eviction_timestamp_seconds{filesystem="fsxabc"} 1795393601',
        'lustre_rpc_timeouts_total{filesystem="fsxabc"} 12',
        'lustre_read_bytes_total{filesystem="fsxabc"} 145121869',
        'lustre_write_bytes_total{filesystem="fsxabc"} 468230469',
        'lustre_operations_total{filesystem="fsxabc",operation="open"} 13812423',
        'lustre_operations_total{filesystem="fsxabc",operation="other"} 272605744',
    ):
        assert line in told


def test_a_thousand_lost_targets_are_few_series() -> None:
    lost = "".join(
        f"osc.big-OST{number:04x}-osc-ffff0.import=\n    target: big-OST{number:04x}_UUID\n    state: DISCONN\n"
        for number in range(1000)
    )
    told = [line for line in lustre_metrics.collect(lost).splitlines() if not line.startswith("#")]
    assert len(told) == 26
    assert 'lustre_target_disconnected{filesystem="big",target="other"} 980' in told


@pytest.mark.parametrize("told", ["", "error: get_param: param_path 'osc/*/import': No such file or directory\n"])
def test_a_client_that_has_mounted_nothing_yet_has_no_targets(told: str) -> None:
    assert lustre_metrics.collect(told).splitlines()[2:] == ["lustre_up 1"]


@pytest.mark.parametrize("body", ["kill -STOP $$", None], ids=["hangs", "missing"])
def test_a_client_that_does_not_answer_is_down(
    tmp_path: Path, body: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, output = tmp_path / "lctl", tmp_path / "lustre.prom"
    if body is not None:
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    monkeypatch.setattr(lustre_metrics, "_SECONDS", 0.2)
    assert lustre_metrics.main(["--lctl", str(program), "--output", str(output)]) == 0
    assert output.read_text().splitlines()[2:] == ["lustre_up 0"]


def test_the_client_is_asked_for_what_is_read(tmp_path: Path) -> None:
    """A stand-in for lctl tells what the real one would, and fails for what the node has not."""
    program, answers, output = tmp_path / "lctl", tmp_path / "answers", tmp_path / "lustre.prom"
    answers.write_text(LCTL)
    program.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\ncat {answers}\nexit 2\n')
    program.chmod(0o755)
    assert lustre_metrics.main(["--lctl", str(program), "--output", str(output)]) == 0
    assert (tmp_path / "asked").read_text() == (
        "get_param osc.*.import mdc.*.import osc.*.state mdc.*.state llite.*.stats\n"
    )
    assert output.read_text() == lustre_metrics.collect(LCTL)
    assert output.stat().st_mode & 0o777 == 0o644


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
