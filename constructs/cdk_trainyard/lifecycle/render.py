"""What was said of nodes as the fields of ``settings.json``. Nothing is decided here.

A field is left out when it is None or False, written as it is when it is True, and a part is written option by option.
On the node a step asks ``NODE``: a field is ``NODE[name]``, one of a part ``NODE[name_field]``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace

from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.lifecycle.spec import (
    AUTHORITY_FILE,
    SLURM_SCHEMA,
    DatabaseAccounting,
    NeuronEnvironment,
    NodeSetup,
    NodeTool,
    S3Mount,
)
from cdk_trainyard.lifecycle.tools import tool_files
from cdk_trainyard.versions import driver_of, pinned_packages, python_versions


def render_setup(
    setup: NodeSetup,
    *,
    mount_path: str | None = None,
    architectures: Sequence[str] = (),
    bucket: str | None = None,
) -> dict[str, JsonValue]:
    """Return the fields of ``settings.json``, without those of what is not asked for.

    Args:
        setup: What the scripts set up.
        mount_path: Where the shared file system is. Default - there is none.
        architectures: Processors of the nodes. Default - none, and no node fetches a tool.
        bucket: Name of the bucket of the scripts, where tools without a bucket of their own are. Default - not known.
    """
    written: dict[str, JsonValue] = {
        "ssh": setup.ssh,
        "hostfile": setup.hostfile,
        "job_hooks": setup.job_hooks,
        "logs": render_setting(setup.logs) if setup.rotate_logs else None,
        "motd": setup.motd,
        "accounting": _accounting(setup),
        "containers": render_setting(setup.containers),
        "neuron_environment": _neuron(setup.neuron_environment, mount_path),
        "exporters": render_setting(setup.exporters),
        "metrics_agent": render_setting(setup.metrics_agent),
        "s3_mounts": [_mount(mount) for mount in setup.s3_mounts],
        "pam_slurm_adopt": render_setting(setup.pam_slurm_adopt),
        "tools": render_setting(tool_files(_tools(setup), setup.tools, architectures, bucket=bucket)),
    }
    return {name: value for name, value in written.items() if not _is_nothing(value)}


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


def flat_settings(settings: Mapping[str, JsonValue], prefix: str = "") -> dict[str, JsonValue]:
    """Return settings as a node's shell has them, as ``resource_config.py`` makes them of ``settings.json``.

    A part is ``yes`` under its own name, and each of its fields under ``name_field``. A list of words is joined with
    blanks.

    Args:
        settings: The fields of ``settings.json``, of which none is a list of parts.
        prefix: What stands before every name. Default - nothing.
    """
    found: dict[str, JsonValue] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= {prefix + name: "yes", **flat_settings(value, f"{prefix}{name}_")}
        elif isinstance(value, bool):
            found[prefix + name] = "yes" if value else ""
        else:
            found[prefix + name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return found


def _is_nothing(value: JsonValue) -> bool:
    return value is None or value is False or value in ([], {})


def _accounting(setup: NodeSetup) -> JsonValue:
    database: DatabaseAccounting | None = setup.accounting
    if database is None:
        return {"schema": SLURM_SCHEMA} if setup.local_accounting else None
    return {
        "endpoint": database.endpoint,
        "port": database.port,
        "secret": database.secret_arn,
        "schema": database.schema,
        **({"authority": AUTHORITY_FILE} if database.authority is not None else {}),
    }


def _neuron(neuron: NeuronEnvironment | None, mount_path: str | None) -> JsonValue:
    """What is installed, and what it was released for: the node compares that with what it has."""
    if neuron is None:
        return None
    packages = pinned_packages("hyperpod") if neuron.packages is None else tuple(neuron.packages)
    path = neuron.path or (f"{mount_path}/neuron-environment" if mount_path else None)
    written = render_setting(replace(neuron, path=path, packages=packages))
    known = {"pythons": list(python_versions(packages)), "driver": driver_of(packages)}
    return {**written, **{name: value for name, value in known.items() if value}} if isinstance(written, dict) else None


def _mount(mount: S3Mount) -> JsonValue:
    return {
        "bucket": mount.bucket.bucket_name,
        "path": mount.path,
        **({"prefix": mount.prefix} if mount.prefix else {}),
        **({"read_only": True} if mount.read_only else {}),
    }


def _tools(setup: NodeSetup) -> list[NodeTool]:
    containers = setup.containers
    asked = {
        NodeTool.NODE_EXPORTER: setup.exporters is not None,
        NodeTool.VMAGENT: setup.metrics_agent is not None,
        NodeTool.MOUNTPOINT: bool(setup.s3_mounts),
        NodeTool.ENROOT: containers is not None and containers.enroot,
        NodeTool.ENROOT_CAPS: containers is not None and containers.enroot,
        NodeTool.PYXIS: containers is not None and containers.pyxis,
        NodeTool.PAM_SLURM_ADOPT: setup.pam_slurm_adopt is not None,
    }
    return [tool for tool, wanted in asked.items() if wanted]
