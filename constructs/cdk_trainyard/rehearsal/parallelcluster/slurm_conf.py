"""Slurm as ParallelCluster lays it out, rendered from the cluster's configuration.

After the templates of its cookbook (``slurm.conf.erb``, ``slurm_parallelcluster*.conf`` of its repository,
read on November 20, 2026). Pure: a cluster in, texts out. What differs from ParallelCluster's own files is said beside
the line: how fast Slurm notices, and what it demands of nodes whose hardware is not here.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cdk_trainyard.rehearsal.devices import device_of_gres, generic_resources
from cdk_trainyard.rehearsal.instance_types import InstanceType
from cdk_trainyard.rehearsal.parallelcluster.clusters import ComputeResource, Config, Described, flag

SCRIPTS = "/opt/parallelcluster/scripts"
"""Where ParallelCluster keeps its own programs."""

_MEMORY_RATIO = 0.95  # what of a node's memory Slurm may give away
_RESUME_SECONDS = 1800  # ParallelCluster's ComputeNodeBootstrapTimeout
_IDLE_MINUTES = 10

_SETTINGS = f"""\
ClusterName=parallelcluster
SlurmUser=slurm
SlurmctldPort=6820-6829
SlurmdPort=6818
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ReconfigFlags=KeepPartState
SlurmctldParameters=idle_on_node_suspend,power_save_min_interval=0,cloud_dns
CommunicationParameters=NoAddrCache
SuspendProgram={SCRIPTS}/slurm/slurm_suspend
ResumeProgram={SCRIPTS}/slurm/slurm_resume
ResumeFailProgram={SCRIPTS}/slurm/slurm_suspend
SuspendTimeout=120
PrivateData=cloud
ResumeRate=0
SuspendRate=0
# rehearsal: a job that is requeued waits this long, 70 s there; a node of a busy machine starts a task late
AuthInfo=cred_expire=15
SlurmctldTimeout=300
# rehearsal: a dead node is noticed after this many seconds, 180 there
SlurmdTimeout=60
UnkillableStepTimeout=180
MessageTimeout=60
EnforcePartLimits=ALL
# rehearsal: control groups and cores are this machine's; proctrack/cgroup and task/affinity,task/cgroup there
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
# rehearsal: the nodes' hardware is taken as written, not as found
SlurmdParameters=config_overrides
# rehearsal: decisions at once
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=2
MpiDefault=none
ReturnToService=1
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
JobCompType=jobcomp/none
include slurm_parallelcluster.conf
"""


def slurm_files(described: Described, resources: Sequence[ComputeResource]) -> Mapping[str, str]:
    """Return the files of ``/opt/slurm/etc``, by name.

    Args:
        described: The cluster.
        resources: Its compute resources, ``capped`` where not all static nodes can run.
    """
    files = {
        "slurm.conf": _SETTINGS,
        "slurm_parallelcluster.conf": "\n".join(_parallelcluster_conf(described, resources)) + "\n",
        "gres.conf": "".join(f"{line}\n" for line in ("# GPUs only", *_gres_conf(resources))),
        "cgroup.conf": "CgroupPlugin=cgroup/v1\n",
        "plugstack.conf": "# no plugin\n",
    }
    for number, queue in enumerate(described.queues):
        own = [resource for resource in resources if resource.queue == queue["Name"]]
        files[partition_file(queue["Name"])] = "\n".join(_partition(queue, own, default=number == 0)) + "\n"
    return files


def partition_file(queue: str) -> str:
    """Return the name of a queue's file."""
    return f"pcluster/slurm_parallelcluster_{queue}_partition.conf"


def capped(resources: Sequence[ComputeResource], most_static: int | None) -> Sequence[ComputeResource]:
    """Return the resources with at most so many static nodes in all; those that are taken away are dynamic."""
    if most_static is None:
        return resources
    left = most_static
    kept = []
    for resource in resources:
        static = min(resource.static, left)
        left -= static
        kept.append(replace(resource, static=static))
    return kept


def _parallelcluster_conf(described: Described, resources: Sequence[ComputeResource]) -> Iterator[str]:
    settings: Config = described.config["Scheduling"].get("SlurmSettings") or {}
    idle = float(settings.get("ScaledownIdletime", _IDLE_MINUTES))
    yield f"SlurmctldHost={described.head.host}({described.head.address})"
    yield f"SuspendTime={-1 if idle < 0 else round(idle * 60)}"
    yield f"ResumeTimeout={_RESUME_SECONDS}"
    if flag(settings.get("EnableMemoryBasedScheduling")):
        yield "SelectTypeParameters=CR_CPU_Memory"
    for queue in described.queues:
        yield f"include {partition_file(queue['Name'])}"
    static = [_range(name, count) for one in resources for name, count in one.groups[:1] if count]
    if static:
        yield f"SuspendExcNodes={','.join(static)}"
    for row in settings.get("CustomSlurmSettings") or ():
        yield from (f"{name}={value}" for name, value in row.items())


def _partition(queue: Config, resources: Sequence[ComputeResource], *, default: bool) -> Iterator[str]:
    names = []
    for resource in resources:
        for (name, count), kind in zip(resource.groups, ("static", "dynamic"), strict=True):
            if count:
                names.append(_range(name, count))
                yield " ".join([f"NodeName={names[-1]}", *_definition(resource, kind)])
    if names:
        yield f"NodeSet={queue['Name']}_nodes Nodes={','.join(names)}"
        words = [f"PartitionName={queue['Name']}", f"Nodes={queue['Name']}_nodes", "MaxTime=INFINITE", "State=UP"]
        words += ["Default=YES"] if default else []
        words += ["OverSubscribe=EXCLUSIVE"] if flag(queue.get("JobExclusiveAllocation")) else []
        yield " ".join([*words, *_words(queue.get("CustomSlurmSettings") or {})])


def _definition(resource: ComputeResource, kind: str) -> Iterator[str]:
    instance = InstanceType.of(resource.instance_type)
    yield f"CPUs={instance.vcpus if resource.threads else instance.vcpus // instance.threads_per_core}"
    yield f"RealMemory={math.floor(instance.memory_mib * _MEMORY_RATIO)}"
    yield "State=CLOUD"
    features = [kind, *([resource.instance_type] if resource.types == 1 else []), resource.name]
    features += ["efa"] if resource.efa else []
    features += ["gpu"] if instance.gpus else []
    yield f"Feature={','.join(features)}"
    yield f"Weight={1 if kind == 'static' else 1000}"
    if instance.gpus:
        yield f"Gres=gpu:{instance.gpus}"
    yield from _words(resource.settings)


def _gres_conf(resources: Sequence[ComputeResource]) -> Iterator[str]:
    for resource in resources:
        gpus = generic_resources(resource.instance_type).get("gpu", 0)  # ParallelCluster knows of no other
        for name, count in resource.groups if gpus else ():
            if count:
                yield f"NodeName={_range(name, count)} {device_of_gres('gpu', gpus)}"


def _range(name: str, count: int) -> str:
    return f"{name}-[1-{count}]"


def _words(settings: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in settings.items()]
