"""What can be said of nodes: their role, and what the project's own scripts set up on them. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, nonmember
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.lifecycle.kinds import PACKAGE
from cdk_trainyard.options.addresses import Url
from cdk_trainyard.options.arns import SecretArn
from cdk_trainyard.options.fields import As, Said
from cdk_trainyard.options.kinds import Number, Open, Text
from cdk_trainyard.options.node_paths import ON_HYPERPOD
from cdk_trainyard.options.processors import ARCHITECTURE
from cdk_trainyard.options.stand_ins import DataBucket
from cdk_trainyard.options.texts import BUCKET_FOLDER, DATABASE_HOST, IMAGE_BY_DIGEST, OBJECT_KEY

if TYPE_CHECKING:
    from aws_cdk import aws_s3 as s3

AUTHORITY_FILE = "accounting-ca.pem"
"""Name of the certificates of an accounting database in the folder that nodes download."""
SCRAPE_SECONDS = Number(minimum=5, maximum=120, unit="seconds")
"""How far apart samples of a series may be: after five minutes without one Prometheus takes it to have ended."""
AGENT_PORT = 8429
"""Port of the agent of a cluster's metrics, on the controller's loopback address: vmagent's own."""
SLURM_PORTS = range(6817, 6830)
"""Ports of Slurm's daemons: slurmctld's, slurmd's and slurmdbd's defaults (slurm.conf(5), slurmdbd.conf(5)), and
slurmctld's of ParallelCluster, 6820 to 6829 (``SlurmctldPort`` of its ``slurm.conf``)."""
MYSQL_PORT = 3306
"""Port of MySQL and of MariaDB where none is said (``port``, server system variables of both)."""
SLURM_SCHEMA = "slurm_acct_db"
"""Schema of Slurm's accounting where nobody names one (``StorageLoc`` of slurmdbd.conf)."""

_Port = Annotated[int, Number(minimum=1024, maximum=65535)]
_Sha256 = Annotated[str, Text(pattern="[0-9a-fA-F]{64}", words="64 hexadecimal digits", example="0" * 64)]


class GroupRole(StrEnum):
    """What the nodes of an instance group are for."""

    CONTROLLER = "controller"
    """Runs slurmctld."""
    LOGIN = "login"
    """Where users work; runs no jobs."""
    COMPUTE = "compute"
    """Runs jobs."""

    FORMER_VALUES = nonmember(
        {
            **dict.fromkeys(("head", "head-node", "master"), "write controller"),
            **dict.fromkeys(("worker", "workers"), "write compute"),
        }
    )


class SlurmTopology(StrEnum):
    """Where HyperPod learns which group does what; one way for a whole cluster.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    """

    API_DRIVEN = "api"
    """From ``SlurmConfig`` of each instance group: recommended, and a one-way street."""
    LEGACY = "legacy"
    """From ``provisioning_parameters.json`` in the folder of the scripts."""


class NodeTool(StrEnum):
    """A program that a node may have to fetch."""

    NODE_EXPORTER = "node_exporter"
    """Metrics of the node: a ``.tar.gz`` with ``node_exporter`` in it. Pinned for both processors."""
    VMAGENT = "vmagent"
    """The agent of a cluster's metrics: a ``.tar.gz`` with ``vmagent-prod`` in it. Pinned for both processors."""
    MOUNTPOINT = "mountpoint"
    """Mountpoint for Amazon S3: a ``.tar.gz`` with ``bin/mount-s3`` in it. Pinned for x86_64."""
    ENROOT = "enroot"
    """Enroot: a ``.deb``."""
    ENROOT_CAPS = "enroot_caps"
    """The package with Enroot's capabilities, which users without privileges need: a ``.deb``."""
    PYXIS = "pyxis"
    """Sources of Pyxis: a ``.tar.gz``; one node builds them for all, against the image's Slurm."""
    PAM_SLURM_ADOPT = "pam_slurm_adopt"
    """``pam_slurm_adopt.so``, built with the Slurm of the nodes' image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogRotation:
    """How long logs stay on a node. HyperPod ships the provisioning log to CloudWatch, and no other."""

    days: Annotated[int, Number(minimum=1, maximum=3650)] = 14
    """How many days are kept. Default: 14."""
    size_mb: Annotated[int, Number(minimum=1, maximum=100_000, unit="MB")] = 200
    """A log of more MB is rotated before its day is over. Default: 200."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseServer:
    """A MySQL-compatible database that exists."""

    endpoint: Annotated[str, DATABASE_HOST]
    """Its host name, or its IPv4 address."""
    port: Annotated[int, Number(minimum=1, maximum=65535)] = MYSQL_PORT
    """Its port. Default: 3306."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseAccounting(DatabaseServer):
    """Slurm's accounting in a MySQL-compatible database; the controller reads its password with the nodes' role.

    ``HyperPodCluster`` fills it in from its ``accounting``. With one of your own, let the nodes' role read the secret
    and the nodes reach the database.
    """

    secret_arn: Annotated[
        str, SecretArn(service="secretsmanager", resource=r"secret:[^\s:]+", form="secret:<name>", what="a secret")
    ]
    """ARN of the secret with ``username`` and ``password``."""
    schema: Annotated[
        str, Text(pattern=r"[A-Za-z0-9_$]{1,64}", words="1 to 64 letters, digits, '_' and '$'", example=SLURM_SCHEMA)
    ] = SLURM_SCHEMA
    """Name of the schema, which the user must be allowed to create. Default: slurm_acct_db."""
    authority: Annotated[str | None, Open(rule="accounting_problems")] = None
    """File of certificates that the database's own is checked against, as the Region's bundle of RDS.
    Default - slurmdbd speaks with the database as its client library does: without a check."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Containers:
    """Containers for jobs. What the image has is used and configured; images and containers lie on the fastest disk."""

    docker: bool = True
    """Docker, with its data root, and containerd's, off the root disk, and the user ``ubuntu`` in the group ``docker``;
    from the system's own repositories when the image lacks it. Default: true."""
    enroot: bool = True
    """Enroot, with a folder for each user. Default: true."""
    pyxis: bool = True
    """Pyxis, which gives srun ``--container-image``. Default: true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronEnvironment:
    """A Python environment with Neuron's packages, made once on shared storage. The driver stays the image's."""

    path: Annotated[str | None, ON_HYPERPOD] = None
    """Where it appears, a link that changes with the versions.
    Default - ``neuron-environment`` on the shared file system."""
    packages: Sequence[Annotated[str, PACKAGE]] | None = None
    """Pip requirements with exact versions.
    Default - those of the Neuron SDK whose driver is in HyperPod's image (``cdk_trainyard.versions``)."""
    index: Annotated[str | None, Url()] = None
    """Index of Python packages that has all of them, a mirror of yours that knows its clients by their network.
    Default - Neuron's own, beside the one that the image's pip asks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exporters:
    """Metrics for Prometheus. An exporter that the image runs on the same port is left alone, and used."""

    port: _Port = 9100
    """Port of node_exporter, on every node. Default: 9100."""
    slurm: bool = True
    """Nodes, CPUs and jobs by state, through the controller's node_exporter. Default: true."""
    efa: bool = True
    """Counters of EFA interfaces through node_exporter, where the instance type has them. Default: true."""
    lustre: bool = True
    """What the Lustre client says of FSx for Lustre, where a node mounts it. Default: true."""
    neuron: bool = False
    """Metrics of Neuron devices, from neuron-monitor, where the instance type has them. Default: false."""
    neuron_port: _Port = 8000
    """Their port. Default: 8000."""
    gpu: bool = False
    """Metrics of GPUs, from dcgm-exporter, where the instance type has them. Default: false."""
    gpu_port: _Port = 9400
    """Their port. Default: 9400."""
    gpu_image: Annotated[str | None, IMAGE_BY_DIGEST] = None
    """A container image with dcgm-exporter, by its digest, for machine images without the program, in a registry that
    asks Docker on the nodes for no password: no script logs in to one.
    Default - the machine image has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsAgent:
    """The agent of a cluster's metrics, on its controller: vmagent, which writes to a workspace.

    ``HyperPodCluster`` fills it in from its ``metrics``.
    """

    url: Annotated[str, Url()]
    """Where it writes to: the workspace's ``api/v1/remote_write``."""
    region: Annotated[str, Text(pattern=r"[a-z0-9-]+", words="a Region", example="us-west-2")]
    """The workspace's Region, for which requests are signed."""
    cluster: Annotated[str, Text(pattern=r"[A-Za-z0-9-]+", words="the name of a cluster", example="llama2")]
    """The label ``cluster`` of every sample."""
    scrape_seconds: Annotated[int, SCRAPE_SECONDS] = 30
    """How many seconds lie between two samples of a series. Default: 30."""
    port: _Port = AGENT_PORT
    """Its port on the controller, for itself. Default: 8429."""
    alone: bool = False
    """Whether every node has one, which asks that node alone, as where there is no Slurm. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Mount:
    """A prefix of a bucket as a directory on every node, with Mountpoint for Amazon S3.

    The nodes' role may list and read the prefix, and put objects there when ``read_only`` is False; nothing is deleted.
    Keys with a part that is ``.`` or ``..`` are out of reach (Mountpoint's ``doc/SEMANTICS.md``, 2026-08-22).
    """

    bucket: Annotated["s3.IBucket", As(DataBucket)]
    """The bucket; in a file, one of the deployment's: datasets, checkpoints or models."""
    path: Annotated[str, ON_HYPERPOD]
    """Where it appears, an absolute path."""
    prefix: Annotated[
        str,
        Text(
            pattern=rf"({BUCKET_FOLDER}/)*",
            words="a key prefix of letters, digits and any of !_.()=- with a slash at its end, none at its beginning, "
            "and no part that is '.' or '..'",
            example="tokenized/",
            shortest=0,
            longest=1024,
        ),
    ] = ""
    """Key prefix with a slash at its end. Default - the whole bucket."""
    read_only: bool = True
    """Whether nothing can be written. Otherwise new files can be, whole and in order; what is there cannot be changed.
    Default: true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PamSlurmAdopt:
    """Compute nodes let in, by SSH, only users with a job there, whose processes then belong to the job.

    The controller gets ``PrologFlags=Contain``, without which Slurm's module lets nobody in, and
    ``ProctrackType=proctrack/cgroup``, without which no job of such a node ends. An older image of HyperPod was seen to
    refuse ``--auto-resume=1`` with ``PrologFlags=Alloc``, which ``Contain`` implies: try both together before you rely
    on them.

    HyperPod's image has no module, and none is pinned: it must be of the very Slurm that runs there. Give a file of it
    among the ``tools``, built on such a node from ``contribs/pam_slurm_adopt`` of the version that ``sinfo --version``
    says, as awsome-distributed-ai does in ``utils/pam_adopt_cgroup_wheel.sh`` (2025-07-09).
    """

    admin_groups: Sequence[
        Annotated[
            str,
            Text(
                pattern=r"[A-Za-z_][A-Za-z0-9._@-]{0,254}",
                words="the name of a group without blanks, of letters, digits and ._@-",
                example="sudo",
            ),
        ]
    ] = ("sudo",)
    """Groups whose members get in always, beside root. The image's user ``ubuntu`` is in ``sudo``. Default - sudo."""
    in_image: bool = False
    """Whether the nodes' machine image has ``pam_slurm_adopt.so`` of its Slurm, as an image of yours may.
    Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolFile:
    """Where nodes fetch a tool that their image lacks; takes the place of what is pinned here."""

    tool: NodeTool
    """The program."""
    sha256: _Sha256
    """SHA-256 of the file. Another file is refused on the node."""
    architecture: Annotated[str, ARCHITECTURE] = "x86_64"
    """The processor that it is for, x86_64 or arm64. Default: x86_64."""
    url: Annotated[str | None, Url(example="https://files.example/enroot.deb", file=True)] = None
    """Address of the file. Default - ``key`` says where it is."""
    key: Annotated[str | None, OBJECT_KEY] = None
    """Its key in the bucket of the scripts. Default - ``url`` says where it is."""
    bucket: Annotated["s3.IBucket | None", Said(None)] = None
    """Another bucket with the object, which the nodes' role may read. Default - the bucket of the scripts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSetup:
    """What the project's own scripts set up on a node beside mounts, users and Slurm."""

    ssh: bool = True
    """Whether nodes log in to nodes as ``ubuntu`` without a password; they trust the host keys that nodes publish on
    the shared file system, and no other. Default: true."""
    hostfile: bool = True
    """Whether the controller keeps ``trainyard/hostfile`` on the shared file system. Default: true."""
    job_hooks: bool = True
    """Prolog and epilog of Slurm's jobs: a job starts where all devices are there, and leaves no process and no
    temporary file. They are left out, and the image's own stay, unless these scripts configure every group by
    ``on_create``. Default: true."""
    motd: bool = True
    """Whether a log-in says what the node is. Default: true."""
    rotate_logs: bool = True
    """Whether logs are rotated. Default: true."""
    logs: LogRotation = LogRotation()
    """How long they stay. Default - 14 days."""
    local_accounting: bool = False
    """Slurm's accounting in a MariaDB on the controller, when a script of ``on_create`` configures it; its password is
    made there and never leaves it. The history is as lasting as the controller's root volume: a software update of the
    cluster wipes it. Default: false."""
    accounting: Annotated[DatabaseAccounting | None, Said(None)] = None
    """A database for Slurm's accounting. Default - ``HyperPodCluster`` fills in the one that it is given."""
    containers: Containers | None = None
    """Docker, Enroot and Pyxis. Default - as the image has them."""
    neuron_environment: NeuronEnvironment | None = None
    """A Python environment with Neuron's packages on shared storage. Default - none."""
    exporters: Exporters | None = None
    """Metrics for Prometheus. Default - none but what the image runs."""
    metrics_agent: Annotated[MetricsAgent | None, Said(None)] = None
    """The agent that takes metrics to a workspace. Default - ``HyperPodCluster`` fills in its own, with ``metrics``."""
    s3_mounts: Sequence[S3Mount] = ()
    """Prefixes of buckets as directories. Default - none."""
    pam_slurm_adopt: PamSlurmAdopt | None = None
    """SSH to compute nodes for users with a job there only. Default - whoever has a key gets in."""
    tools: Sequence[ToolFile] = ()
    """Files of programs that the image lacks, in the place of those that are pinned here.
    Default - what is pinned: node_exporter, vmagent, and Mountpoint for x86_64."""
