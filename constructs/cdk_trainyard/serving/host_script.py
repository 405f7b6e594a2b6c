"""The user data of a host: the project's own scripts of ``lifecycle_scripts/ecs``, with what this host serves.

The files are written to /opt/trainyard, and a systemd unit runs them at every boot before the ECS agent: user data
itself runs once. Comments are left out, since EC2 takes 16 KiB of user data; read them in ``lifecycle_scripts/ecs``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.serving.catalogue import EngineImage
from cdk_trainyard.serving.engine_settings import STOP_SECONDS
from cdk_trainyard.versions import driver_window

USER_DATA_BYTES = 16384
"""What EC2 takes (EC2 user guide, "Work with instance user data")."""
FOLDER = "/opt/trainyard"
MOUNT_PATH = "/mnt/trainyard/model"
CACHE_PATH = "/var/cache/trainyard/model"
SCRATCH_PATH = "/var/lib/trainyard/scratch"
_END = "TRAINYARD_END_OF_FILE"


@dataclass(frozen=True, kw_only=True, slots=True)
class HostSettings:
    """What a host serves, and how its agent behaves. Texts may be Tokens.

    Attributes:
        cluster_name: The ECS cluster it joins.
        bucket_name: The bucket with the weights.
        folder: The prefix of the model in it, with its slash.
        region: The bucket's Region.
        devices: Neuron devices that it must have.
        image: The engine image, which says what drivers it works with.
    """

    cluster_name: str
    bucket_name: str
    folder: str
    region: str
    devices: int
    image: EngineImage


def render(settings: HostSettings) -> str:
    """Return the user data."""
    root = scripts_folder()
    files = {
        f"{FOLDER}/settings": _lines(_values(settings)),
        f"{FOLDER}/lib/steps.sh": _file(root / "lib" / "steps.sh"),
        f"{FOLDER}/boot.sh": _file(root / "ecs" / "boot.sh"),
        **{
            f"{FOLDER}/steps/{path.name}": _file(path)
            for path in sorted((root / "ecs" / "steps").glob("*.sh"), key=lambda path: path.name)
        },
        "/etc/systemd/system/trainyard-host.service": _file(root / "ecs" / "trainyard-host.service"),
        "/etc/systemd/system/ecs.service.d/10-trainyard.conf": _file(root / "ecs" / "ecs-agent.conf"),
    }
    folders = sorted({str(Path(name).parent) for name in files})
    parts = [
        "#!/bin/bash",
        "set -Eeuo pipefail",
        f"mkdir -p -- {' '.join(folders)}",
        *(f"cat >{name} <<'{_END}'\n{text}{_END}" for name, text in files.items()),
        f"FOLDER={FOLDER}",
        _file(root / "ecs" / "install.sh").rstrip("\n"),
    ]
    return "\n".join(parts) + "\n"


def _values(settings: HostSettings) -> Mapping[str, str]:
    driver_from, driver_before = driver_window(settings.image.runtime)
    return {
        "ECS_AWSVPC_BLOCK_IMDS": "true",
        "ECS_CLUSTER": settings.cluster_name,
        "ECS_CONTAINER_START_TIMEOUT": "10m",
        "ECS_CONTAINER_STOP_TIMEOUT": f"{STOP_SECONDS}s",
        "ECS_ENABLE_SPOT_INSTANCE_DRAINING": "true",
        "ECS_IMAGE_PULL_BEHAVIOR": "prefer-cached",
        "cache": CACHE_PATH,
        "devices": str(settings.devices),
        "driver_before": driver_before or "",
        "driver_from": driver_from or "",
        "mount": MOUNT_PATH,
        "region": settings.region,
        "source": f"s3://{settings.bucket_name}/{settings.folder}",
    }


def _lines(values: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in values.items())


def _file(path: Path) -> str:
    """Return a file without its comment lines; the first line of a script stays."""
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [
        line
        for number, line in enumerate(lines)
        if line.strip() and (not line.lstrip().startswith("#") or (number == 0 and line.startswith("#!")))
    ]
    return "".join(f"{line}\n" for line in kept)
