"""What nodes can have beside mounts, users and Slurm: parts of the ``node_setup:`` section of a HyperPod cluster."""

from typing import Annotated, Literal, TypedDict

from pydantic import Field

from cdk_trainyard.deployment._section import LAX, MountPath, Section, shown
from cdk_trainyard.deployment.values import fields
from cdk_trainyard.lifecycle import Containers, Exporters, NeuronEnvironment, NodeTool, PamSlurmAdopt, S3Mount, ToolFile
from cdk_trainyard.storage import TrainingBuckets

_Port = Annotated[int, shown(minimum=1024, maximum=65535)]


class ContainersSection(Section):
    """Containers for jobs: what the image has is used, and its data lies on the fastest disk."""

    docker: bool = True
    """Docker; installed when the image lacks it. Default: true."""
    enroot: bool = True
    """Enroot. Default: true."""
    pyxis: bool = True
    """Pyxis, which gives srun --container-image. Default: true."""


class NeuronEnvironmentSection(Section):
    """A Python environment with Neuron's packages on shared storage, made by the first node."""

    path: MountPath | None = None
    """Where it appears. Default - neuron-environment on the shared file system."""
    packages: tuple[Annotated[str, Field(examples=["neuronx-cc==2.22.12471.0"])], ...] = ()
    """Pip requirements with exact versions. Default - those that come with cdk-trainyard."""
    index: Annotated[str | None, shown(pattern="^https://", examples=["https://mirror.example/simple"])] = None
    """Index of Python packages that has all of them. Default - Neuron's own beside pip's."""


class ExportersSection(Section):
    """Metrics for Prometheus; an exporter that the image runs on the port is used."""

    port: _Port = 9100
    """Port of node_exporter. Default: 9100."""
    slurm: bool = True
    """Nodes, CPUs and jobs by state, on the controller. Default: true."""
    efa: bool = True
    """Counters of EFA interfaces. Default: true."""
    neuron: bool = False
    """Metrics of Neuron devices, from neuron-monitor. Default: false."""
    neuron_port: _Port = 8000
    """Their port. Default: 8000."""
    gpu: bool = False
    """Metrics of GPUs, from dcgm-exporter. Default: false."""
    gpu_port: _Port = 9400
    """Their port. Default: 9400."""
    gpu_image: Annotated[str | None, Field(examples=["registry/dcgm-exporter@sha256:<digest>"])] = None
    """A container image with dcgm-exporter, by digest. Default - the machine image has the program."""


class S3MountSection(Section):
    """A prefix of a bucket as a directory on every node, with Mountpoint for Amazon S3."""

    bucket: Literal["datasets", "checkpoints", "models"]
    """Which of the deployment's buckets."""
    path: MountPath
    """Where it appears."""
    prefix: Annotated[str, shown(pattern="/$", examples=["tokenized/"])] = ""
    """Key prefix with a slash at its end. Default - the whole bucket."""
    read_only: bool = True
    """Whether nothing can be written; otherwise new files can be. Default: true."""


class PamSlurmAdoptSection(Section):
    """SSH to compute nodes for users with a job there only; try it with auto-resume before you rely on both."""

    admin_groups: tuple[str, ...] = ("sudo",)
    """Groups whose members get in always, beside root. Default - sudo."""
    in_image: bool = False
    """Whether the nodes' image has pam_slurm_adopt.so of its Slurm; tools must have it otherwise. Default: false."""


class ToolSection(Section):
    """A file of a program that the nodes' image lacks, in the place of the one that is pinned."""

    tool: Annotated[NodeTool, LAX]
    """The program."""
    sha256: Annotated[str, shown(pattern="^[0-9a-fA-F]{64}$")]
    """SHA-256 of the file."""
    architecture: Literal["x86_64", "arm64"] = "x86_64"
    """The processor that it is for. Default: x86_64."""
    url: Annotated[str | None, shown(pattern="^https://")] = None
    """Address of the file. Default - key says where it is."""
    key: str | None = None
    """Its key in the deployment's scripts bucket. Default - url says where it is."""


class ExtrasSection(Section):
    """What nodes can have beside mounts, users and Slurm."""

    containers: ContainersSection | None = None
    """Docker, Enroot and Pyxis. Default - as the image has them."""
    neuron_environment: NeuronEnvironmentSection | None = None
    """A Python environment with Neuron's packages. Default - none."""
    exporters: ExportersSection | None = None
    """Metrics for Prometheus. Default - none but what the image runs."""
    s3_mounts: tuple[S3MountSection, ...] = ()
    """Prefixes of buckets as directories. Default - none."""
    pam_slurm_adopt: PamSlurmAdoptSection | None = None
    """SSH to compute nodes for users with a job there only. Default - whoever has a key gets in."""
    tools: tuple[ToolSection, ...] = ()
    """Files of programs that the image lacks. Default - those that come pinned with cdk-trainyard."""


class Extras(TypedDict):
    """The fields of ``NodeSetup`` that stand for this section."""

    containers: Containers | None
    neuron_environment: NeuronEnvironment | None
    exporters: Exporters | None
    s3_mounts: list[S3Mount]
    pam_slurm_adopt: PamSlurmAdopt | None
    tools: list[ToolFile]


def neuron_environment(section: ExtrasSection) -> NeuronEnvironment | None:
    """Return the environment with Neuron's packages, or None when there is none.

    Args:
        section: The section.
    """
    asked = section.neuron_environment
    return NeuronEnvironment(**fields(asked)) if asked else None


def extras(section: ExtrasSection, buckets: TrainingBuckets) -> Extras:
    """Return what the constructs take.

    Args:
        section: The section.
        buckets: The deployment's buckets.
    """
    choices = {"datasets": buckets.datasets, "checkpoints": buckets.checkpoints, "models": buckets.models}
    return Extras(
        containers=Containers(**fields(section.containers)) if section.containers else None,
        neuron_environment=neuron_environment(section),
        exporters=Exporters(**fields(section.exporters)) if section.exporters else None,
        s3_mounts=[S3Mount(**fields(mount) | {"bucket": choices[mount.bucket]}) for mount in section.s3_mounts],
        pam_slurm_adopt=PamSlurmAdopt(**fields(section.pam_slurm_adopt)) if section.pam_slurm_adopt else None,
        tools=[
            ToolFile(**fields(tool), bucket=buckets.scripts if tool.key is not None else None) for tool in section.tools
        ],
    )
