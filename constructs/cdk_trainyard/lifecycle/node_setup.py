"""What the project's own scripts set up on a node beside mounts, users and Slurm: one typed field for each thing.

A field becomes the field of ``settings.json`` of the same name. What is ``None`` or ``False`` is left out, ``True`` is
written as it is, and a frozen dataclass is written field by field. On the node a step asks ``NODE``: a field is
``NODE[name]``, one of a dataclass ``NODE[name_field]``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path

from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.lifecycle.node_basics import AUTHORITY_FILE, Accounting, DatabaseAccounting, LogRotation
from cdk_trainyard.lifecycle.node_extras import Containers, Exporters, NeuronEnvironment, PamSlurmAdopt, S3Mount
from cdk_trainyard.lifecycle.tools import NodeTool, ToolFile, tool_files
from cdk_trainyard.versions import driver_of, pinned_packages, python_versions


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSetup:
    """What the project's own scripts set up on a node beside mounts, users and Slurm.

    Attributes:
        ssh: Whether nodes log in to nodes as ``ubuntu`` without a password; they trust the host keys that nodes publish
            on the shared file system, and no other. Default: True.
        hostfile: Whether the controller keeps ``trainyard/hostfile`` on the shared file system. Default: True.
        job_hooks: Prolog and epilog of Slurm's jobs: a job starts where all devices are there, and leaves no process
            and no temporary file. ``HyperPodCluster`` leaves them out, and the image's own stay, unless these scripts
            configure every group by ``OnCreate``. Default: True.
        logs: How long logs stay. Default - 14 days.
        motd: Whether a log-in says what the node is. Default: True.
        accounting: Where Slurm keeps its accounting. Default - ``HyperPodCluster`` fills in the database that it is
            given; otherwise there is no accounting.
        containers: Docker, Enroot and Pyxis. Default - as the image has them.
        neuron_environment: A Python environment with Neuron's packages on shared storage. Default - none.
        exporters: Metrics for Prometheus. Default - none but what the image runs.
        s3_mounts: Prefixes of buckets as directories. Default - none.
        pam_slurm_adopt: SSH to compute nodes for users with a job there only. Default - whoever has a key gets in.
        tools: Files of programs that the image lacks, in the place of those that are pinned here.
            Default - what is pinned: node_exporter, and Mountpoint for x86_64.
    """

    ssh: bool = True
    hostfile: bool = True
    job_hooks: bool = True
    logs: LogRotation | None = field(default_factory=LogRotation)
    motd: bool = True
    accounting: Accounting | None = None
    containers: Containers | None = None
    neuron_environment: NeuronEnvironment | None = None
    exporters: Exporters | None = None
    s3_mounts: Sequence[S3Mount] = ()
    pam_slurm_adopt: PamSlurmAdopt | None = None
    tools: Sequence[ToolFile] = ()

    def render(self, *, mount_path: str | None = None, architectures: Sequence[str] = ()) -> dict[str, JsonValue]:
        """Return the fields of ``settings.json``, without those of what is not asked for.

        Args:
            mount_path: Where the shared file system is. Default - there is none.
            architectures: Processors of the nodes. Default - none, and no node fetches a tool.
        """
        resolved = {
            "accounting": _render_accounting(self.accounting),
            "neuron_environment": _render_neuron(self.neuron_environment, mount_path),
            "s3_mounts": [_render_mount(mount) for mount in self.s3_mounts],
            "tools": self._tools(architectures),
        }
        names = [known.name for known in fields(self)]
        written = {name: resolved[name] if name in resolved else render_setting(getattr(self, name)) for name in names}
        return {name: value for name, value in written.items() if not _is_nothing(value)}

    @property
    def authority(self) -> Path | None:
        """The certificates that the accounting database's own is checked against, if any."""
        given = self.accounting.authority if isinstance(self.accounting, DatabaseAccounting) else None
        return None if given is None else Path(given)

    def _tools(self, architectures: Sequence[str]) -> JsonValue:
        containers = self.containers
        asked = {
            NodeTool.NODE_EXPORTER: self.exporters is not None,
            NodeTool.MOUNTPOINT: bool(self.s3_mounts),
            NodeTool.ENROOT: containers is not None and containers.enroot,
            NodeTool.ENROOT_CAPS: containers is not None and containers.enroot,
            NodeTool.PYXIS: containers is not None and containers.pyxis,
            NodeTool.PAM_SLURM_ADOPT: self.pam_slurm_adopt is not None,
        }
        return render_setting(tool_files([tool for tool, wanted in asked.items() if wanted], self.tools, architectures))


def _is_nothing(value: JsonValue) -> bool:
    return value is None or value is False or value in ([], {})


def _render_accounting(accounting: Accounting | None) -> JsonValue:
    if not isinstance(accounting, DatabaseAccounting):
        return render_setting(accounting)
    return {
        "endpoint": accounting.endpoint,
        "port": accounting.port,
        "secret": accounting.secret_arn,
        "schema": accounting.schema,
        **({"authority": AUTHORITY_FILE} if accounting.authority is not None else {}),
    }


def _render_neuron(neuron: NeuronEnvironment | None, mount_path: str | None) -> JsonValue:
    """What is installed, and what it was released for: the node compares that with what it has."""
    if neuron is None:
        return None
    packages = tuple(neuron.packages) or pinned_packages("hyperpod")
    path = neuron.path or (f"{mount_path}/neuron-environment" if mount_path else None)
    written = render_setting(replace(neuron, path=path, packages=packages))
    known = {"pythons": list(python_versions(packages)), "driver": driver_of(packages)}
    return {**written, **{name: value for name, value in known.items() if value}} if isinstance(written, dict) else None


def _render_mount(mount: S3Mount) -> JsonValue:
    return {
        "bucket": mount.bucket.bucket_name,
        "path": mount.path,
        **({"prefix": mount.prefix} if mount.prefix else {}),
        **({"read_only": True} if mount.read_only else {}),
    }


def render_setting(value: object) -> JsonValue:
    """Return the JSON form of a setting.

    Args:
        value: A frozen dataclass, a sequence or mapping of settings, or what JSON knows.
    """
    if is_dataclass(value):
        written = {known.name: render_setting(getattr(value, known.name)) for known in fields(value)}
        return {name: inner for name, inner in written.items() if not _is_nothing(inner)}
    if isinstance(value, Mapping):
        return {str(name): render_setting(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [render_setting(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a setting must be JSON or a dataclass, got {type(value).__name__}")
