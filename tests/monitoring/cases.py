"""What each alarm does with which series: when it rings, when it is quiet, and that it ends.

Series are in promtool's notation, a sample a minute: ``1x3`` are four samples, ``_x3`` none for three minutes.
``rings`` and ``quiet`` are minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SAMPLES = 120


@dataclass(frozen=True, kw_only=True)
class Case:
    """One course of things.

    Attributes:
        series: Samples of series.
        rings: Minutes at which it rings.
        quiet: Minutes at which it does not.
        labels: What it rings with, beside name, cluster and severity.
        interval: How far apart samples are.
    """

    series: Mapping[str, str]
    rings: Sequence[int] = ()
    quiet: Sequence[int] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    interval: str = "1m"


def step(before: float, after: float, at: int, until: int | None = None) -> str:
    """One value until a minute, another from it on; until another minute, from which it is the first again."""
    changed = f"{before}x{at - 1} " if at else ""
    if until is None:
        return f"{changed}{after}x{SAMPLES - at}"
    return f"{changed}{after}x{until - at - 1} {before}x{SAMPLES - until}"


def count(before: float, by: float, at: int, until: int) -> str:
    """A counter that grows by so much a minute between two minutes."""
    grown = before + by * (until - at)
    return f"{before}x{at} {before + by}+{by}x{until - at - 1} {grown}x{SAMPLES - until}"


def grows(by: float, then: float, at: int, until: int) -> str:
    """A counter that grows by one number a minute, by another between two minutes, and by the first again."""
    first, second = by * at, by * at + then * (until - at)
    return f"0+{by}x{at} {first + then}+{then}x{until - at - 1} {second + by}+{by}x{SAMPLES - until}"


def there(at: int, until: int) -> str:
    """One, between two minutes; before and after there is no series."""
    return f"_x{at} 1x{until - at - 1} _x{SAMPLES - until}"


W1 = {"node": "w1"}
C = 'cluster="c"'
NODE = f'{C},node="w1"'
OTHER = 'cluster="other",node="w1"'


def _state(alarm_state: str, minutes: int, others: Sequence[str]) -> list[Case]:
    """An alarm on the state of a node, which it had from minute 10 to 60."""
    series = {f'slurm_node_unavailable{{{NODE},state="{alarm_state}"}}': there(10, 60)}
    rest = {f'slurm_node_unavailable{{{NODE},state="{state}"}}': step(1, 1, 0) for state in others}
    foreign = {f'slurm_node_unavailable{{{OTHER},state="{alarm_state}"}}': step(1, 1, 0)}
    return [
        Case(series=series, rings=[10 + minutes, 59], quiet=[9, 9 + minutes, 66], labels=W1),
        Case(series=rest | foreign, quiet=[30, 100]),
    ]


def _filled(free: str, size: str, fstype: str) -> list[Case]:
    """A share of ten percent is enough, less is not; read-only images are always full."""
    labels = f'{NODE},fstype="{fstype}",mountpoint="/"'
    image = f'{NODE},fstype="squashfs",mountpoint="/snap/x"'
    return [
        Case(
            series={f"{free}{{{labels}}}": step(10, 9.9, 10, 60), f"{size}{{{labels}}}": step(100, 100, 0)},
            rings=[20, 59],
            quiet=[9, 19, 61],
            labels=W1 | {"mountpoint": "/"},
        ),
        Case(
            series={f"{free}{{{image}}}": step(0, 0, 0), f"{size}{{{image}}}": step(100, 100, 0)},
            quiet=[30, 100],
        ),
    ]


def _counter(name: str, more: str, labels: Mapping[str, str], *, rings: Sequence[int], quiet: Sequence[int]) -> Case:
    """A counter that grows from minute 10 to 60, and stays where it is."""
    return Case(series={f"{name}{{{NODE}{more}}}": count(7, 1, 10, 60)}, rings=rings, quiet=quiet, labels=labels)


def _constant(name: str, more: str = "") -> Case:
    """A counter of old events: nothing is new."""
    return Case(series={f"{name}{{{NODE}{more}}}": step(7, 7, 0)}, quiet=[5, 60, 110])


_IDLE = f'slurm_nodes{{{C},partition="p",state="idle"}}'
_WAIT = 'slurm_jobs_longest_wait_seconds{cluster="c",partition="p",reason="%s"}'
_XID = f'DCGM_FI_DEV_XID_ERRORS{{{NODE},gpu="3"}}'
_REMAP = f'DCGM_FI_DEV_ROW_REMAP_FAILURE{{{NODE},gpu="3"}}'
_ROWS = f'DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{{{NODE},gpu="3"}}'
_TEMPERATURE = f'DCGM_FI_DEV_GPU_TEMP{{{NODE},gpu="3"}}'
_READ_ONLY = f'node_filesystem_readonly{{{NODE},fstype="%s",mountpoint="%s"}}'
_ECC = ',event_type="%s",neuron_device_index="5"'
_STATES = ("down", "awaited", "drained", "draining", "fail", "invalid")
_GPU = W1 | {"gpu": "3"}
_LOST = [f"{name}_dropped_total{{{C}}}" for name in ("vmagent_remotewrite_packets", "vm_persistentqueue_blocks")]
_NONE_LOST = dict.fromkeys(_LOST, step(0, 0, 0))

_OST = f'{NODE},filesystem="f"'
_FILE = 'node_textfile_mtime_seconds{%s,file="/x/%s.prom"}'


def _idle(source: str, metric: str, one_percent: float) -> list[Case]:
    """Devices that a job has all the time, and hardly uses from minute 10 to 90."""
    held = f'slurm_node_gres_allocated{{{NODE},gres="{source}"}}'
    up = f'up{{{NODE},job="{source}"}}'
    used = {f"{metric}{{{NODE}}}": step(5.1 * one_percent, 5 * one_percent, 10, 90)}
    return [
        Case(
            series={held: step(16, 16, 0), up: step(1, 1, 0), **used},
            rings=[70, 89],
            quiet=[9, 69, 90],
            labels=W1,
        ),
        Case(series={held: step(16, 16, 0), up: step(1, 1, 0)}, rings=[60, 100], quiet=[59], labels=W1),
        # nobody has them, or nobody knows
        Case(series={up: step(1, 1, 0), **used}, quiet=[70, 89]),
        Case(series={held: step(16, 16, 0), up: step(0, 0, 0)}, quiet=[70, 89]),
    ]


TASK = f'{NODE},task="t1"'
T1 = W1 | {"task": "t1"}
_UP = f'up{{{TASK},job="engine"}}'
_WAITING = f"vllm:num_requests_waiting{{{TASK}}}"
_QUEUED = f"tgi_queue_size{{{TASK}}}"
_PREEMPTED = f"vllm:num_preemptions_total{{{TASK}}}"
_DROPPED = f'vmagent_remotewrite_packets_dropped_total{{{TASK},url="1:secret-url"}}'


def _slow(name: str) -> Case:
    """The slowest hundredth takes 9.8 seconds, from minute 10 to 60 10.2: of 100 a minute, so many are faster than."""
    faster = {"5.0": (75.0, 0.0), "10.0": (100.0, 98.98), "20.0": (100.0, 100.0), "+Inf": (100.0, 100.0)}
    return Case(
        series={f'{name}{{{TASK},le="{le}"}}': grows(by, then, 10, 60) for le, (by, then) in faster.items()},
        rings=[25, 60],
        quiet=[24, 65],
    )


def _failing(failed: str, others: Mapping[str, str]) -> Case:
    """Of 100 requests a minute 4.9 fail, from minute 10 to 60 5.1."""
    return Case(
        series={failed: grows(4.9, 5.1, 10, 60), **others},
        rings=[18, 60],
        quiet=[17, 65],
    )


CASES: Mapping[str, Sequence[Case]] = {
    "ClusterSilent": [
        Case(
            # the last sample is of 20:30; for five minutes, Prometheus takes it for the present one
            series={f'up{{{C},job="agent"}}': "1x41 _x60 1x69"},
            interval="30s",
            rings=[31, 50],
            quiet=[20, 30, 52],
        ),
        Case(
            series={f'up{{{C},job="agent"}}': "0x120", 'up{cluster="other",job="agent"}': "_x120"},
            quiet=[30, 100],
        ),
    ],
    "SlurmctldDown": [
        Case(series={f'slurm_up{{{C},node="ctl"}}': step(1, 0, 10, 60)}, rings=[13, 59], quiet=[9, 12, 60]),
        Case(series={f'slurm_up{{{C},node="ctl"}}': step(1, 1, 0)}, quiet=[30, 100]),
    ],
    "SlurmMetricsStale": [
        # written every minute until second 659, and from minute 61 on: 301 seconds old at minute 16
        Case(
            series={f'node_textfile_mtime_seconds{{{C},node="ctl",file="/x/slurm.prom"}}': "0+60x10 659x49 3660+60x59"},
            rings=[21, 59],
            quiet=[10, 15, 20, 61],
        ),
        Case(
            series={f'node_textfile_mtime_seconds{{{C},node="ctl",file="/x/slurm.prom"}}': "-290+60x120"},
            quiet=[10, 60],
        ),
        Case(
            series={f'node_textfile_mtime_seconds{{{C},node="ctl",file="/x/efa.prom"}}': step(0, 0, 0)},
            quiet=[30, 100],
        ),
    ],
    "NodeDown": _state("down", 1, [state for state in _STATES if state != "down"]),
    "NodeAwaited": [
        Case(
            series={f'slurm_node_unavailable{{{NODE},state="awaited"}}': there(10, 100)},
            rings=[70, 99],
            quiet=[9, 69, 106],
            labels=W1,
        ),
        Case(series={f'slurm_node_unavailable{{{NODE},state="down"}}': step(1, 1, 0)}, quiet=[70, 100]),
    ],
    "NodeDrained": [
        *_state("drained", 10, ["down", "awaited", "invalid"]),
        *_state("draining", 10, ["down"]),
        *_state("fail", 10, ["down"]),
    ],
    "NodeInvalid": _state("invalid", 5, [state for state in _STATES if state != "invalid"]),
    "JobsStarving": [
        Case(
            series={_WAIT % "Resources": step(3600, 3601, 10, 60), _IDLE: step(2, 2, 0)},
            rings=[25, 59],
            quiet=[9, 24, 60],
            labels={"partition": "p"},
        ),
        Case(series={_WAIT % "Resources": step(9000, 9000, 0), _IDLE: step(0, 0, 0)}, quiet=[30, 100]),
        Case(series={_WAIT % "Dependency": step(9000, 9000, 0), _IDLE: step(2, 2, 0)}, quiet=[30, 100]),
    ],
    "AccountingBehind": [
        Case(
            series={f'slurm_dbd_agent_queue_size{{{C},node="ctl"}}': step(100, 101, 10, 60)},
            rings=[25, 59],
            quiet=[9, 24, 60],
        )
    ],
    "SlurmdbdDown": [
        Case(series={f"slurm_dbd_up{{{NODE}}}": step(1, 0, 10, 60)}, rings=[20, 59], quiet=[9, 19, 60]),
        Case(series={f"slurm_up{{{NODE}}}": step(1, 1, 0)}, quiet=[30, 100]),
    ],
    "SlurmctldBehind": [
        Case(series={f"slurm_agent_queue_size{{{NODE}}}": step(100, 101, 10, 60)}, rings=[15, 59], quiet=[9, 14, 60]),
    ],
    "ExporterDown": [
        Case(
            series={f'up{{{NODE},job="node"}}': step(1, 0, 10, 60)},
            rings=[20, 59],
            quiet=[9, 19, 60],
            labels=W1 | {"job": "node"},
        ),
        # the node died: Slurm says so five minutes later, and NodeDown rings
        Case(
            series={
                f'up{{{NODE},job="node"}}': step(1, 0, 10, 60),
                f'slurm_node_unavailable{{{NODE},state="down"}}': there(15, 61),
            },
            quiet=[14, 20, 30, 59, 62],
        ),
    ],
    "DiskFull": _filled("node_filesystem_avail_bytes", "node_filesystem_size_bytes", "ext4"),
    "InodesLow": _filled("node_filesystem_files_free", "node_filesystem_files", "ext4"),
    "DiskReadOnly": [
        Case(
            series={_READ_ONLY % ("xfs", "/"): step(0, 1, 10, 60)},
            rings=[12, 59],
            quiet=[9, 11, 60],
            labels=W1 | {"mountpoint": "/"},
        ),
        Case(
            series={_READ_ONLY % ("squashfs", "/snap/x"): "1x120", _READ_ONLY % ("ext4", "/"): "0x120"},
            quiet=[30, 100],
        ),
    ],
    "OutOfMemory": [
        _counter("node_vmstat_oom_kill", "", W1, rings=[11, 60, 69], quiet=[10, 71]),
        _constant("node_vmstat_oom_kill"),
    ],
    "ClockUnsynchronised": [
        Case(
            series={f"node_timex_sync_status{{{NODE}}}": step(1, 0, 10, 60)},
            rings=[20, 59],
            quiet=[9, 19, 60],
            labels=W1,
        )
    ],
    "NodeMetricsStale": [
        *(
            Case(
                series={_FILE % (NODE, name): "0+60x10 659x49 3660+60x59"},
                rings=[21, 59],
                quiet=[10, 15, 20, 61],
                labels=W1 | {"file": f"/x/{name}.prom"},
            )
            for name in ("efa", "lustre")
        ),
        Case(series={_FILE % (NODE, "efa"): "-290+60x120"}, quiet=[10, 60]),
        Case(series={_FILE % (NODE, "slurm"): step(0, 0, 0)}, quiet=[10, 60]),
    ],
    "EfaErrors": [
        *(
            _counter(
                f"node_amazonefa_rdma_{what}_wr_err", ',device="rdmap0",port="1"', W1, rings=[16, 63], quiet=[15, 66]
            )
            for what in ("read", "write")
        ),
        _constant("node_amazonefa_rdma_read_wr_err", ',device="rdmap0",port="1"'),
    ],
    "EfaDrops": [
        _counter("node_amazonefa_rx_drops", ',device="rdmap0",port="1"', W1, rings=[21, 63], quiet=[20, 66]),
        _constant("node_amazonefa_rx_drops", ',device="rdmap0",port="1"'),
    ],
    "EfaRetransmits": [
        *(
            Case(
                series={
                    f'node_amazonefa_tx_pkts{{{NODE},device="rdmap0",port="1"}}': f"0+1000x{SAMPLES}",
                    f'node_amazonefa_retrans_pkts{{{NODE},device="rdmap0",port="1"}}': retransmitted,
                },
                rings=rings,
                quiet=quiet,
                labels=W1,
            )
            for retransmitted, rings, quiet in (
                (count(7, 500, 10, 60), [21, 63], [20, 66]),
                (f"0+10.2x{SAMPLES}", [60], [0]),
                (f"0+9.8x{SAMPLES}", [], [60, 100]),
            )
        ),
    ],
    "EfaImpaired": [
        _counter(
            "node_amazonefa_impaired_remote_conn_events",
            ',device="rdmap0",port="1"',
            W1,
            rings=[11, 69],
            quiet=[10, 71],
        ),
        _constant("node_amazonefa_impaired_remote_conn_events", ',device="rdmap0",port="1"'),
    ],
    "LustreTargetLost": [
        Case(
            series={f'lustre_target_disconnected{{{_OST},target="{name}"}}': there(10, 60) for name in ("a", "other")},
            rings=[20, 59],
            quiet=[9, 19, 66],
            labels=W1 | {"filesystem": "f"},
        ),
        Case(series={f'lustre_targets{{{_OST},kind="ost",state="disconnected"}}': step(0, 0, 0)}, quiet=[30, 100]),
    ],
    "LustreEvicted": [
        # evicted in second 3001 and 2999: 899 and 901 seconds ago at minute 65
        *(
            Case(
                series={f"lustre_last_eviction_timestamp_seconds{{{_OST}}}": step(0, second, 51)},
                rings=[51, last],
                quiet=[10, 50, last + 1, 100],
                labels=W1 | {"filesystem": "f"},
            )
            for second, last in ((3001, 65), (2999, 64))
        ),
        Case(series={f"lustre_last_eviction_timestamp_seconds{{{_OST}}}": step(0, 0, 0)}, quiet=[0, 5, 100]),
    ],
    "LustreTimeouts": [
        _counter(
            "lustre_rpc_timeouts_total", ',filesystem="f"', W1 | {"filesystem": "f"}, rings=[21, 69], quiet=[20, 71]
        ),
        _constant("lustre_rpc_timeouts_total", ',filesystem="f"'),
    ],
    "EfaUnresponsiveRemote": [
        _counter(
            "node_amazonefa_unresponsive_remote_events",
            ',device="rdmap0",port="1"',
            W1,
            rings=[11, 69],
            quiet=[10, 71],
        ),
        _constant("node_amazonefa_unresponsive_remote_events", ',device="rdmap0",port="1"'),
    ],
    "NeuronMemoryFault": [
        *(
            _counter(
                "hardware_ecc_events_total",
                _ECC % f"{where}_uncorrected",
                W1 | {"neuron_device_index": "5"},
                rings=[11, 119],
                quiet=[10, 121],
            )
            for where in ("mem_ecc", "sram_ecc")
        ),
        Case(
            series={f"hardware_ecc_events_total{{{NODE}{_ECC % 'mem_ecc_corrected'}}}": count(7, 1, 10, 60)},
            quiet=[11, 30, 100],
        ),
        _constant("hardware_ecc_events_total", _ECC % "mem_ecc_uncorrected"),
    ],
    "NeuronHardwareErrors": [
        _counter("execution_errors_total", ',error_type="hardware"', W1, rings=[11, 69], quiet=[10, 71]),
        Case(
            series={f'execution_errors_total{{{NODE},error_type="numerical"}}': count(7, 1, 10, 60)},
            quiet=[11, 30, 100],
        ),
    ],
    "NeuronIdle": _idle("neuron", "neuroncore_utilization_ratio", 0.01),
    "GpuIdle": _idle("gpu", "DCGM_FI_DEV_GPU_UTIL", 1),
    "GpuFault": [
        *(
            Case(series={_XID: step(0, xid, 10)}, rings=[10, 24], quiet=[9, 26, 100], labels=_GPU)
            for xid in (48, 64, 74, 79, 94, 95, 119, 120)
        ),
        # an error of the application, and one that was there before anybody looked
        *(Case(series={_XID: step(0, xid, 10)}, quiet=[10, 20, 100]) for xid in (13, 31, 43, 45, 63)),
        Case(series={_XID: step(79, 79, 0)}, quiet=[0, 10, 100]),
    ],
    "GpuMemoryRemapped": [
        Case(series={_ROWS: count(2, 1, 10, 12)}, rings=[11, 12, 69], quiet=[10, 73], labels=_GPU),
        Case(series={_ROWS: step(3, 3, 0)}, quiet=[0, 30, 100]),
    ],
    "GpuMemoryWorn": [
        Case(series={_REMAP: step(0, 1, 10, 60)}, rings=[10, 59], quiet=[9, 60], labels=_GPU),
    ],
    "GpuHot": [
        Case(series={_TEMPERATURE: step(87, 88, 10, 60)}, rings=[15, 59], quiet=[9, 14, 60], labels=_GPU),
    ],
    "MetricsLost": [
        *(
            Case(
                series=_NONE_LOST | {name: count(0, 1, 10, 60)},
                rings=[11, 74],
                quiet=[10, 76],
            )
            for name in _LOST
        ),
        Case(series=_NONE_LOST, quiet=[30, 100]),
    ],
    "EngineSilent": [
        Case(series={_UP: step(1, 0, 10, 60)}, rings=[20, 59], quiet=[9, 19, 60], labels=T1),
        # one that loads, a task that is replaced, and another deployment's
        Case(series={_UP: step(0, 1, 50)}, quiet=[30, 49, 100]),
        Case(series={_UP: "1x30 0x1 _x88"}, quiet=[33, 42, 60]),
        Case(series={_UP.replace('"c"', '"other"'): step(1, 0, 10)}, quiet=[60, 100]),
    ],
    "EngineLoading": [
        Case(series={_UP: step(1, 0, 10, 90)}, rings=[70, 89], quiet=[9, 69, 90], labels=T1),
        Case(series={_UP: step(0, 1, 50)}, quiet=[30, 49, 100]),
    ],
    "EngineQueueing": [
        *(
            Case(series={series: step(32, 33, 10, 60)}, rings=[20, 59], quiet=[9, 19, 60], labels=T1)
            for series in (_WAITING, _QUEUED)
        ),
        # what waits between two batches
        Case(series={_WAITING: "40x3 0x3 40x3 0x3 40x3 0x99"}, quiet=[3, 11, 19, 60]),
    ],
    "FirstTokenSlow": [
        _slow("vllm:time_to_first_token_seconds_bucket"),
        _slow("tgi_request_queue_duration_bucket"),
        # nobody asks anything
        Case(series={f'vllm:time_to_first_token_seconds_bucket{{{TASK},le="+Inf"}}': step(5, 5, 0)}, quiet=[30, 100]),
    ],
    "EngineErrors": [
        _failing(
            f'http_requests_total{{{TASK},status="5xx"}}',
            {f'http_requests_total{{{TASK},status="2xx"}}': grows(95.1, 94.9, 10, 60)},
        ),
        _failing(
            f'tgi_request_failure{{{TASK},err="overloaded"}}',
            {f"tgi_request_count{{{TASK}}}": grows(100, 100, 10, 60)},
        ),
        # what callers asked wrongly
        Case(
            series={
                f'tgi_request_failure{{{TASK},err="validation"}}': grows(50, 50, 10, 60),
                f"tgi_request_count{{{TASK}}}": grows(100, 100, 10, 60),
            },
            quiet=[30, 100],
        ),
    ],
    "KvCacheFull": [
        *(
            Case(
                series={f"vllm:{name}_cache_usage_perc{{{TASK}}}": step(0.94, 0.96, 10, 60), _WAITING: step(1, 1, 0)},
                rings=[25, 59],
                quiet=[9, 24, 60],
                labels=T1,
            )
            for name in ("kv", "gpu")
        ),
        # a batch that is full, and nobody waits
        Case(
            series={f"vllm:kv_cache_usage_perc{{{TASK}}}": step(1, 1, 0), _WAITING: step(0, 0, 0)}, quiet=[30, 60, 100]
        ),
    ],
    "EnginePreempts": [
        Case(series={_PREEMPTED: count(0, 1, 10, 60)}, rings=[11, 74], quiet=[10, 76], labels=T1),
        Case(series={_PREEMPTED: step(7, 7, 0)}, quiet=[30, 100]),
    ],
    "TaskMetricsLost": [
        Case(series={_DROPPED: count(0, 1, 10, 60)}, rings=[11, 74], quiet=[10, 76], labels=T1),
        Case(series={_DROPPED: step(7, 7, 0)}, quiet=[30, 100]),
    ],
}
