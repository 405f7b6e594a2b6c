"""What nodes can have beside mounts, users and Slurm: containers, Neuron's Python, metrics, buckets, access by job.

Nothing of it is there unless it is asked for, and nothing is fetched unless the nodes' image lacks it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_s3 as s3


@dataclass(frozen=True, kw_only=True, slots=True)
class Containers:
    """Containers for jobs. What the image has is used and configured; images and containers lie on the fastest disk.

    Attributes:
        docker: Docker, with its data root, and containerd's, off the root disk, and the user ``ubuntu`` in the group
            ``docker``; from the system's own repositories when the image lacks it. Default: True.
        enroot: Enroot, with a folder for each user. Default: True.
        pyxis: Pyxis, which gives srun ``--container-image``. Default: True.
    """

    docker: bool = True
    enroot: bool = True
    pyxis: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronEnvironment:
    """A Python environment with Neuron's packages, made once on shared storage. The driver stays the image's.

    Attributes:
        path: Where it appears, a link that changes with the versions.
            Default - ``<mount_path>/neuron-environment`` on the shared file system.
        packages: Pip requirements with exact versions, ``torch-neuronx==2.9.0.2.11.19912``.
            Default - those of the Neuron SDK whose driver is in HyperPod's image (``cdk_trainyard.versions``).
        index: Index of Python packages that has all of them, beginning with ``https://``: a mirror of yours.
            Default - Neuron's own, beside the one that the image's pip asks.
    """

    path: str | None = None
    packages: Sequence[str] = ()
    index: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Exporters:
    """Metrics for Prometheus. An exporter that the image runs on the same port is left alone, and used.

    Attributes:
        port: Port of node_exporter, on every node. Default: 9100.
        slurm: Nodes, CPUs and jobs by state, through the controller's node_exporter. Default: True.
        efa: Counters of EFA interfaces through node_exporter, where the instance type has them. Default: True.
        neuron: neuron-monitor's metrics, where the instance type has Neuron devices. Default: False.
        neuron_port: Their port. Default: 8000.
        gpu: dcgm-exporter's metrics, where the instance type has GPUs. Default: False.
        gpu_port: Their port. Default: 9400.
        gpu_image: A container image with dcgm-exporter, by its digest, for machine images without the program.
            Default - the machine image has it.
    """

    port: int = 9100
    slurm: bool = True
    efa: bool = True
    neuron: bool = False
    neuron_port: int = 8000
    gpu: bool = False
    gpu_port: int = 9400
    gpu_image: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Mount:
    """A prefix of a bucket as a directory on every node, with Mountpoint for Amazon S3.

    The nodes' role may list and read the prefix, and put objects there when ``read_only`` is False; nothing is deleted.

    Attributes:
        bucket: The bucket.
        path: Where it appears, an absolute path.
        prefix: Key prefix with a slash at its end, ``tokenized/``. Default - the whole bucket.
        read_only: Whether nothing can be written. Otherwise new files can be, whole and in order; what is there cannot
            be changed. Default: True.
    """

    bucket: s3.IBucket
    path: str
    prefix: str = ""
    read_only: bool = True


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

    Attributes:
        admin_groups: Groups whose members get in always, beside root. The image's user ``ubuntu`` is in ``sudo``.
            Default: sudo.
        in_image: Whether the nodes' machine image has ``pam_slurm_adopt.so`` of its Slurm, as an image of yours may.
            Default: False.
    """

    admin_groups: Sequence[str] = ("sudo",)
    in_image: bool = False
