"""An hour and a half of busy, healthy clusters rings nothing, nor does what is meant; the same with one fault does.

Prometheus' own promtool evaluates all rules of a kind of cluster together, each minute, over what its agent writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.monitoring.alarms import alarms
from cdk_trainyard.monitoring.render import rule_groups
from cdk_trainyard.monitoring.spec import AlertRulesSpec, MetricsSource
from tests.monitoring import promtool
from tests.monitoring.hour import ASKED, CLUSTER, MINUTES, Change, Course, Phases, written

pytestmark = pytest.mark.programs

RANG = 'max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[%dm]))'
SLURM = ("controller", "slurm", "node", "efa", "lustre")
BUSY: Mapping[str, Phases] = {
    "w1": [(0, "ALLOCATED")],
    "w2": [(0, "MIXED"), (12, "IDLE"), (30, "ALLOCATED"), (71, "COMPLETING"), (72, "IDLE+PLANNED"), (75, "MIXED")],
    # restarted on purpose
    "w3": [(0, "ALLOCATED+REBOOT_REQUESTED"), (20, "DOWN+REBOOT_ISSUED"), (32, "IDLE")],
    "w4": [(0, "IDLE"), (50, "ALLOCATED+DRAIN"), (55, "IDLE")],
}
JOBS = ((0, 40, "Resources"), (10, MINUTES + 1, "Dependency"), (35, 60, "Priority"))
HYPERPOD = Course(
    sources=(*SLURM, "neuron"),
    nodes=BUSY,
    waits=JOBS,
    missed=frozenset({(7, "w1"), (41, "ctl"), (44, "w2")}),
    stopped=range(62, 64),
)
GPUS = replace(HYPERPOD, sources=(*SLURM, "gpu"))
SAVING: Mapping[str, Phases] = {
    "queue-st-trn-1": [(0, "ALLOCATED+CLOUD")],
    "queue-dy-trn-1": [(0, "IDLE+CLOUD+POWERED_DOWN")],
    "queue-dy-trn-2": [
        (0, "IDLE+CLOUD+POWERED_DOWN"), (10, "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP*"), (30, "ALLOCATED+CLOUD"),
        (50, "IDLE+CLOUD"), (60, "IDLE+CLOUD+POWERING_DOWN"), (62, "IDLE+CLOUD+POWERED_DOWN"),
    ],
    # one that ran before, and of which nothing is heard while it is taken down
    "queue-dy-trn-3": [
        (0, "IDLE+CLOUD"), (15, "DOWN+CLOUD+POWERING_DOWN*"), (40, "IDLE+CLOUD+POWERED_DOWN"),
        (60, "MIXED+CLOUD+NOT_RESPONDING+POWERING_UP*"),
    ],
}  # fmt: skip
FLEET = Course(sources=("controller", "node", "efa", "neuron"), nodes={"i-0a": [(0, "UP")], "i-0b": [(0, "UP")]})
ENDS = MINUTES + 1
SERVING = Course(sources=("engine", "node"), tasks={"t1": (0, 0, ENDS), "t2": (0, 0, ENDS)})
TGI = replace(SERVING, engine="tgi_")
STEADY = replace(HYPERPOD, missed=frozenset(), stopped=range(0))
"""Of its controller no scrape is missed: what holds for an hour begins anew after one."""


def with_node(course: Course, **phases: Phases) -> Course:
    return replace(course, nodes={**course.nodes, **phases})


QUIET: Mapping[str, Course] = {
    "hyperpod-trn": HYPERPOD,
    "hyperpod-gpu": GPUS,
    "parallelcluster-saves-power": replace(HYPERPOD, nodes=SAVING, missed=frozenset()),
    "fleet": FLEET,
    "serving-vllm": SERVING,
    "serving-tgi": TGI,
    # another address, and so another name: Slurm knows the old one no more, and the new one before it answers
    "node-replaced": with_node(
        HYPERPOD,
        w4=[(0, "IDLE"), (20, "IDLE+DRAIN"), (28, None)],
        w5=[(28, None), (40, "UNKNOWN*"), (45, "DOWN+NOT_RESPONDING*"), (70, "IDLE")],
    ),
    "nodes-added": with_node(
        HYPERPOD,
        **{f"new{number}": [(10, "UNKNOWN*"), (15, "DOWN+NOT_RESPONDING*"), (27, "IDLE")] for number in range(4)},
    ),
    # its owner says so, by scontrol state=fail reason=Action:Replace, and HyperPod has no other for 40 minutes
    "node-given-back": with_node(
        replace(HYPERPOD, reasons={"w4": "Action:Replace"}),
        w4=[(0, "IDLE"), (20, "IDLE+FAIL"), (60, None), (70, "IDLE")],
    ),
    # scontrol create reservation flags=maint: platform software is updated, and nodes come back with what they had
    "maintenance": with_node(
        HYPERPOD,
        **{
            name: [
                (0, "ALLOCATED"), (10, "IDLE+MAINTENANCE+RESERVED"),
                (15, "DOWN+MAINTENANCE+RESERVED+NOT_RESPONDING*"), (70, "IDLE+MAINTENANCE+RESERVED"), (80, "IDLE"),
            ]
            for name in ("w1", "w2", "w3", "w4")
        },
    ),
    # the service takes nodes down by the schedule of their group, tells Slurm nothing, and brings them back
    "scheduled-update": with_node(
        replace(HYPERPOD, updates=("cron(10 0 ? * THU *)",)),
        w1=[(0, "ALLOCATED"), (20, "DOWN+NOT_RESPONDING*"), (45, "IDLE")],
        w2=[(0, "MIXED"), (46, "DOWN+NOT_RESPONDING*"), (68, "IDLE")],
    ),
    # of the controller's group: nobody is left to write
    "scheduled-update-of-controller": replace(STEADY, updates=("cron(10 0 ? * THU *)",), stopped=range(20, 60)),
    # a task that loads for three quarters of an hour, one that takes the place of another
    "task-starts": replace(SERVING, tasks={"t1": (0, 0, 30), "t2": (0, 45, ENDS), "t3": (20, 28, ENDS)}),
}  # fmt: skip


def from_then(changed: str, becomes: float | None = None, *, grows: float = 0) -> Change:
    """From minute 25 on a metric has another number, or grows by so much a minute."""

    def change(minute: int, name: str, number: float) -> float:
        if name != changed or minute < 25:
            return number
        return number + grows * (minute - 25) if becomes is None else becomes

    return change


AT_FAULT: Mapping[str, tuple[Course, set[str]]] = {
    "controller": (replace(HYPERPOD, stopped=range(30, MINUTES + 1)), {"ClusterSilent"}),
    "slurm": (with_node(HYPERPOD, w1=[(0, "ALLOCATED"), (30, "DOWN+NOT_RESPONDING*")]), {"NodeDown"}),
    "node": (replace(HYPERPOD, change=from_then("node_timex_sync_status", 0)), {"ClockUnsynchronised"}),
    "efa": (replace(HYPERPOD, change=from_then("node_amazonefa_rdma_read_wr_err", grows=1)), {"EfaErrors"}),
    "lustre": (replace(HYPERPOD, change=from_then("lustre_rpc_timeouts_total", grows=1)), {"LustreTimeouts"}),
    "neuron": (replace(STEADY, change=from_then("neuroncore_utilization_ratio", 0)), {"NeuronIdle"}),
    "gpu": (replace(GPUS, change=from_then("DCGM_FI_DEV_GPU_TEMP", 91)), {"GpuHot"}),
    "agent": (
        replace(HYPERPOD, change=from_then("vmagent_remotewrite_packets_dropped_total", grows=1)),
        {"MetricsLost"},
    ),
    "engine": (replace(SERVING, change=from_then("vllm:num_requests_waiting", 40)), {"EngineQueueing"}),
    "fleet": (replace(FLEET, stopped=range(30, MINUTES + 1)), {"ClusterSilent"}),
    "parallelcluster": (
        with_node(
            replace(HYPERPOD, nodes=SAVING),
            **{"queue-st-trn-1": [(0, "IDLE+CLOUD"), (30, "DOWN+CLOUD+NOT_RESPONDING*")]},
        ),
        {"NodeDown"},
    ),
    # of a slurmctld that is started again nobody knows that the dead node was ever there
    "slurmctld-restarts": (
        with_node(
            replace(STEADY, silent=range(10, 12)),
            w1=[(0, "ALLOCATED"), (5, "DOWN+NOT_RESPONDING*")],
        ),
        {"NodeDown"},
    ),
    # one that has not come when its update should be over
    "scheduled-update": (
        with_node(
            replace(HYPERPOD, updates=("cron(10 0 ? * THU *)",)),
            w1=[(0, "ALLOCATED"), (20, "DOWN+NOT_RESPONDING*")],
        ),
        {"NodeDown"},
    ),
    "slurmctld": (replace(HYPERPOD, silent=range(10, 20)), {"SlurmctldDown"}),
    "never-comes": (
        with_node(STEADY, new1=[(5, "UNKNOWN*"), (10, "DOWN+NOT_RESPONDING*")]),
        {"NodeAwaited"},
    ),
}
COURSES = {f"quiet-{name}": (course, set[str]()) for name, course in QUIET.items()} | AT_FAULT


def rules(course: Course) -> Any:
    sources = [MetricsSource(each) for each in course.sources]
    spec = AlertRulesSpec(
        cluster_name=CLUSTER, sources=sources, update_schedules=course.updates, update_minutes=course.update_minutes
    )
    return yaml.load(rule_groups(spec), yaml.CSafeLoader)


def replay(course: Course, rings: set[str], folder: Path) -> list[dict[str, Any]]:
    """What rang until the end, and nothing else."""
    expected = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(rings)]
    rang = {"expr": RANG % (MINUTES + 1), "eval_time": f"{MINUTES}m", "exp_samples": expected}
    return [{"interval": "1m", "input_series": written(course, folder), "promql_expr_test": [rang]}]


@pytest.fixture(scope="module")
def unexpected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What promtool says of each course in which other alarms rang."""
    files = {
        name: (rules(course), replay(course, rings, tmp_path_factory.mktemp("devices")))
        for name, (course, rings) in COURSES.items()
    }
    return promtool.failures(tmp_path_factory.mktemp("hour"), files)


@pytest.mark.parametrize("name", QUIET)
def test_what_is_healthy_or_meant_rings_nothing(name: str, unexpected: dict[str, str]) -> None:
    assert f"quiet-{name}" not in unexpected, unexpected[f"quiet-{name}"]


@pytest.mark.parametrize("name", AT_FAULT)
def test_the_same_hour_with_one_fault_rings_for_it_alone(name: str, unexpected: dict[str, str]) -> None:
    assert name not in unexpected, unexpected[name]


def sources(courses: Sequence[Course]) -> set[str]:
    return {source for course in courses for source in course.sources} | {"agent"}


def test_every_source_has_a_healthy_hour_and_a_fault() -> None:
    assert sources([*QUIET.values()]) == {alarm.needs for alarm in alarms()}
    assert {alarm.needs for alarm in alarms()} <= AT_FAULT.keys()


def test_whatever_an_alarm_asks_for_is_in_the_hour(tmp_path: Path) -> None:
    """A query on what nobody writes would ring nothing, too."""
    found = set()
    for number, name in enumerate(("hyperpod-trn", "hyperpod-gpu", "serving-vllm", "serving-tgi")):
        folder = tmp_path / str(number)
        folder.mkdir()
        found |= {each["series"].partition("{")[0] for each in written(QUIET[name], folder)}
    # of an older vLLM; of what is at fault
    others = {"vllm:gpu_cache_usage_perc", "slurm_node_unavailable", "lustre_target_disconnected"}
    assert ASKED - others <= found
