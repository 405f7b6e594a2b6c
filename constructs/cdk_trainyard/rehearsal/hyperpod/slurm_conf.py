"""The files that HyperPod's agent writes for Slurm, rendered from the cluster as the control plane sees it.

Pure: a cluster in, texts out. What differs from HyperPod's own files is said beside the line: only how fast Slurm
notices and what it demands of nodes whose hardware is not here.
"""

from collections.abc import Iterator, Mapping

from cdk_trainyard.rehearsal.devices import device_of_gres, generic_resources
from cdk_trainyard.rehearsal.instance_types import InstanceType
from cdk_trainyard.rehearsal.model import Cluster, Node

UNIVERSAL_PARTITION = "dev"
"""The default partition, of all nodes that run slurmd: log-in nodes too.

"All nodes are automatically added to the universal dev partition" (SageMaker developer guide, HyperPod references);
"jobs submitted to dev can land on the login node" (awsome-distributed-ai, hyperpod-mental-model.md, 2026-07-21).
"""

CONTROLLER_PORT = 6817

_SETTINGS = """\
SlurmUser=slurm
AuthType=auth/munge
# rehearsal: a job that is requeued waits this long, 120 s by default; a node of a busy machine starts a task late
AuthInfo=cred_expire=15
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
SlurmctldParameters=enable_configless
# rehearsal: the nodes' hardware is taken as written, not as found
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
# rehearsal: a dead node is noticed after this many seconds, 300 by default
SlurmdTimeout=30
SlurmctldTimeout=30
KillWait=3
UnkillableStepTimeout=30
JobRequeue=1
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=2,permit_job_expansion
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobCompType=jobcomp/none
Include accounting.conf
"""

# a comment, because every command warns about an included file that is empty
_ACCOUNTING = "# filled in by the accounting step\n"

# 22.05 loads a control-group plugin whatever is configured; naming one skips a search that fails on mixed hierarchies
_CGROUP = "CgroupPlugin=cgroup/v1\n"


def slurm_files(cluster: Cluster, *, auto_resume: bool = False) -> Mapping[str, str]:
    """Return the files of ``/opt/slurm/etc`` on the controller, by name.

    Args:
        cluster: The cluster.
        auto_resume: Whether srun gets ``--auto-resume``, from the stand-in of HyperPod's plugin.
    """
    return {
        "slurm.conf": "\n".join(_slurm_conf(cluster)) + "\n",
        "gres.conf": "".join(f"{line}\n" for line in _gres_conf(cluster)),
        "accounting.conf": _ACCOUNTING,
        "cgroup.conf": _CGROUP,
        # not in plugstack.conf.d: nodes without a configuration of their own do not get that directory
        "plugstack.conf": "required auto_resume_standin.so\n" if auto_resume else "# no plugin\n",
    }


def _slurm_conf(cluster: Cluster) -> Iterator[str]:
    yield f"ClusterName={cluster.name}"
    for node in cluster.with_role("controller"):
        yield f"SlurmctldHost={node.host}({node.address})"
    yield _SETTINGS.rstrip("\n")
    kinds = sorted({kind for group in cluster.groups for kind in generic_resources(group.instance_type)})
    if kinds:
        yield f"GresTypes={','.join(kinds)}"
    compute = cluster.with_role("compute")
    for node in _with_slurmd(cluster):
        yield _node_line(cluster, node)
    yield _partition_line(UNIVERSAL_PARTITION, _with_slurmd(cluster), default=True)
    partitions: dict[str, list[Node]] = {}
    for node in compute:
        name = cluster.group_of(node).partition
        if name and name != UNIVERSAL_PARTITION:
            partitions.setdefault(name, []).append(node)
    for name, nodes in partitions.items():
        yield _partition_line(name, nodes, default=False)


def _with_slurmd(cluster: Cluster) -> list[Node]:
    return [*cluster.with_role("compute"), *cluster.with_role("login")]


def _node_line(cluster: Cluster, node: Node) -> str:
    kind = InstanceType.of(cluster.group_of(node).instance_type)
    gres = ",".join(f"{name}:{count}" for name, count in generic_resources(kind.name).items())
    words = [
        f"NodeName={node.host}",
        f"NodeAddr={node.address}",
        f"CPUs={kind.vcpus}",
        f"RealMemory={kind.memory_mib}",
        *([f"Gres={gres}"] if gres else []),
        "State=UNKNOWN",
    ]
    return " ".join(words)


def _partition_line(name: str, nodes: list[Node], *, default: bool) -> str:
    listed = ",".join(node.host for node in nodes) or '""'
    return f"PartitionName={name} Nodes={listed} Default={'YES' if default else 'NO'} MaxTime=INFINITE State=UP"


def _gres_conf(cluster: Cluster) -> Iterator[str]:
    yield "# devices by type: files of GPUs, and a number of everything else"
    for node in _with_slurmd(cluster):
        for name, count in generic_resources(cluster.group_of(node).instance_type).items():
            yield f"NodeName={node.host} {device_of_gres(name, count)}"
