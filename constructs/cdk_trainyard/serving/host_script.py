"""The user data of a host: the project's own scripts of ``lifecycle_scripts/ecs``, with what this host serves.

The files are unpacked to /opt/trainyard, and a systemd unit runs them at every boot before the ECS agent: user data
itself runs once. They are packed, since EC2 takes 16 KiB of user data; read them in ``lifecycle_scripts/ecs``. The
system's Python unpacks them: cloud-init, which runs user data, is written in it.
"""

import bz2
import io
import json
import tarfile
import textwrap
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.serving.catalogue import EngineImage
from cdk_trainyard.serving.engine_settings import STOP_SECONDS
from cdk_trainyard.versions import driver_window

FOLDER = "/opt/trainyard"
MOUNT_PATH = "/mnt/trainyard/model"
CACHE_PATH = "/var/cache/trainyard/model"
SCRATCH_PATH = "/var/lib/trainyard/scratch"
_END = "TRAINYARD_END_OF_FILE"
_UNPACK = (
    "import base64, io, sys, tarfile; "
    "packed = io.BytesIO(base64.b64decode(sys.stdin.read())); "
    'tarfile.open(fileobj=packed, mode="r:bz2").extractall(sys.argv[1])'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostSettings:
    """What a host serves, and how its agent behaves. Texts may be Tokens.

    Attributes:
        cluster_name: The ECS cluster it joins.
        bucket_name: The bucket with the weights.
        folder: The folder of the model in it, with its slash.
        layout: What the engine reads of that folder.
        region: The bucket's Region.
        devices: Neuron devices that it must have.
        image: The engine image, which says what drivers it works with.
    """

    cluster_name: str
    bucket_name: str
    folder: str
    layout: Mapping[str, JsonValue]
    region: str
    devices: int
    image: EngineImage


def render(settings: HostSettings) -> str:
    """Return the user data."""
    install = (scripts_folder() / "ecs" / "install.sh").read_text(encoding="utf-8")
    parts = [
        "#!/bin/bash",
        "set -Eeuo pipefail",
        "ROOT=/",
        f"python3 -c '{_UNPACK}' \"${{ROOT}}\" <<'{_END}'",
        *textwrap.wrap(_packed(files()), 120),
        _END,
        f"cat >\"${{ROOT}}{FOLDER}/settings\" <<'{_END}'\n{_lines(_values(settings))}{_END}",
        install.rstrip("\n"),
    ]
    return "\n".join(parts) + "\n"


def files() -> Mapping[str, str]:
    """Return the files that are the same on every host, by their paths."""
    root = scripts_folder()
    names = {
        f"{FOLDER}/boot.sh": root / "ecs" / "boot.sh",
        f"{FOLDER}/lib/steps.sh": root / "lib" / "steps.sh",
        f"{FOLDER}/model_files.py": root / "ecs" / "model_files.py",
        **{f"{FOLDER}/steps/{path.name}": path for path in (root / "ecs" / "steps").glob("*.sh")},
        "/etc/systemd/system/trainyard-host.service": root / "ecs" / "trainyard-host.service",
        "/etc/systemd/system/ecs.service.d/10-trainyard.conf": root / "ecs" / "ecs-agent.conf",
    }
    return {name: path.read_text(encoding="utf-8") for name, path in sorted(names.items())}


def _packed(contents: Mapping[str, str]) -> str:
    """The same bytes wherever it is synthesized: no times, no owners, and of bzip2 there is one compressor."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, text in contents.items():
            content = text.encode()
            entry = tarfile.TarInfo(name.strip("/"))
            entry.size, entry.mode = len(content), 0o755 if text.startswith("#!") else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return b64encode(bz2.compress(archive.getvalue())).decode()


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
        "layout": json.dumps(settings.layout),
        "mount": MOUNT_PATH,
        "region": settings.region,
        "source": f"s3://{settings.bucket_name}/{settings.folder}",
    }


def _lines(values: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in values.items())
