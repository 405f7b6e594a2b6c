"""Programs that a node fetches when its image lacks them: which file, pinned by its SHA-256, for which processor."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from aws_cdk import aws_s3 as s3

_PINNED: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]] = json.loads(
    (Path(__file__).parent / "data" / "tools.json").read_bytes()
)["tools"]

ARCHITECTURES = ("x86_64", "arm64")
"""Processors, as the instance catalogue names them."""


class NodeTool(StrEnum):
    """A program that a node may have to fetch."""

    NODE_EXPORTER = "node_exporter"
    """Metrics of the node: a ``.tar.gz`` with ``node_exporter`` in it. Pinned for both processors."""
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
class ToolFile:
    """Where nodes fetch a tool that their image lacks; takes the place of what is pinned here.

    Attributes:
        tool: The tool.
        sha256: SHA-256 of the file, 64 hexadecimal digits. Another file is refused on the node.
        architecture: The processor that it is for, ``x86_64`` or ``arm64``. Default: x86_64.
        url: Address of the file, beginning with ``https://``. Default - ``bucket`` and ``key`` say where it is.
        bucket: A bucket with the file; the nodes' role may read that object. Default - ``url`` says where it is.
        key: The object's key.
    """

    tool: NodeTool
    sha256: str
    architecture: str = "x86_64"
    url: str | None = None
    bucket: s3.IBucket | None = None
    key: str | None = None

    @property
    def address(self) -> str:
        """Where the file is, as the nodes fetch it."""
        return f"s3://{self.bucket.bucket_name}/{self.key}" if self.bucket else self.url or ""


def pinned_architectures(tool: NodeTool) -> tuple[str, ...]:
    """Return the processors for which a file of a tool is pinned here.

    Args:
        tool: The tool.
    """
    return tuple(_PINNED[tool.value]["files"]) if tool.value in _PINNED else ()


def tool_files(
    tools: Iterable[NodeTool], given: Sequence[ToolFile], architectures: Iterable[str]
) -> dict[str, dict[str, dict[str, str]]]:
    """Return ``url`` and ``sha256`` by tool and processor: what was given, else what is pinned, else nothing.

    Args:
        tools: The tools that the options may need.
        given: Files that were given.
        architectures: Processors of the nodes.
    """
    own = {(file.tool, file.architecture): {"url": file.address, "sha256": file.sha256.lower()} for file in given}
    found: dict[str, dict[str, dict[str, str]]] = {}
    for tool in tools:
        for architecture in sorted(set(architectures)):
            pinned = _PINNED[tool.value]["files"].get(architecture) if tool.value in _PINNED else None
            file = own.get((tool, architecture), pinned)
            if file:
                found.setdefault(tool.value, {})[architecture] = dict(file)
    return found
