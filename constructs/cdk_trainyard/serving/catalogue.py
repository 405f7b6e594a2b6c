"""Which engine images, host images and drivers go together: facts with a source and a date, and what follows.

A container brings its own Neuron runtime library, the host brings the driver, and the release notes of the SDK say
which pairs cannot work. ECS's ``recommended`` image moves on by itself, so hosts are pinned to an image by its name.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, nonmember
from functools import cache
from typing import Any

from cdk_trainyard.data_files import load
from cdk_trainyard.versions import driver_conflicts, rows

_HOST_NAME = re.compile(r"al2023-ami-ecs-neuron-hvm-2023\.0\.([0-9]{8})-kernel-([0-9.]+)-x86_64")
_HOST_PARAMETERS = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron"


class Server(StrEnum):
    """The program that serves a model."""

    TGI = "tgi"
    """Hugging Face Text Generation Inference: in maintenance since 2025-12-11."""
    HF_VLLM = "hf-vllm"
    """vLLM as Hugging Face's optimum-neuron serves it."""
    NEURON_VLLM = "neuron-vllm"
    """vLLM of AWS's Neuron containers (NxD Inference)."""

    FORMER_VALUES = nonmember(
        {
            **dict.fromkeys(("huggingface-tgi", "neuron-tgi", "neuronx-tgi", "text-generation-inference"), "write tgi"),
            **dict.fromkeys(("optimum", "optimum-neuron", "optimum-vllm"), "write hf-vllm"),
            **dict.fromkeys(("neuronx-vllm", "nxd-inference", "vllm-neuron", "vllm-neuronx"), "write neuron-vllm"),
            "vllm": "write neuron-vllm for that of AWS's Neuron containers, hf-vllm for Hugging Face's",
        }
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineImage:
    """A container image of an engine.

    Attributes:
        key: Its short name in the catalogue; for an image of yours, its reference.
        server: What it serves with.
        version: The server's version.
        sdk: The Neuron SDK it was built with.
        runtime: The Neuron runtime library in it. None: not known.
        reference: Where it is, registry, repository and tag. None: in ``repository`` of AWS's registry in each Region.
        repository: Its repository in AWS's registry for deep learning containers. None: it has a ``reference``.
        tag: Its tag there.
        families: Instance families it runs on. Empty: not known.
        architectures: Models that it serves, by ``model_type`` of their config.json. Empty: not known.
        disputed: Families on which the sources contradict each other.
        source: Where these facts are from.
        date: The day on which they were read.
    """

    key: str
    server: Server
    version: str = ""
    sdk: str = ""
    runtime: str | None = None
    reference: str | None = None
    repository: str | None = None
    tag: str | None = None
    families: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    source: str = ""
    date: str = ""

    @property
    def known(self) -> bool:
        """Whether the catalogue has it."""
        return self.runtime is not None

    @property
    def number(self) -> tuple[int, ...]:
        """The server's version, to be compared; empty when it is not known."""
        return tuple(int(part) for part in self.version.split(".") if part.isdecimal())


@dataclass(frozen=True, kw_only=True, slots=True)
class HostImage:
    """An ECS-optimized Amazon Linux 2023 image with the Neuron driver.

    Attributes:
        version: Its version, the day on which it was built, as ``"20260701"``.
        kernel: The Linux kernel in it. Default - that of every image until 2026-08.
        driver: The Neuron driver in it. None: not known.
        inferred: Whether the driver follows from the day, and was not read from the image.
        source: Where these facts are from.
        date: The day on which they were read.
    """

    version: str
    kernel: str = "6.1"
    driver: str | None = None
    inferred: bool = False
    source: str = ""
    date: str = ""

    @property
    def name(self) -> str:
        """The AMI's name."""
        return f"al2023-ami-ecs-neuron-hvm-2023.0.{self.version}-kernel-{self.kernel}-x86_64"

    @property
    def parameter(self) -> str:
        """The SSM parameter that holds the AMI's id in every Region, by name and so for good."""
        return f"{_HOST_PARAMETERS}/{self.name}/image_id"


def engine_image(name: str | None, server: Server) -> EngineImage:
    """Return an image of ``server`` by its key, by its reference, or the default one; an unknown name stays unknown.

    Args:
        name: Key (``"tgi-3.3.7"``) or reference. None: the default of the server.
        server: The server.
    """
    rows = engine_images()
    if name is None:
        return next(row for row in rows if row.server is server and row.key in _defaults("engine_images", "key"))
    found = [row for row in rows if name in (row.key, row.reference)]
    return found[0] if found else EngineImage(key=name, server=server, reference=name)


def host_image(name: str | None) -> HostImage:
    """Return a host image by version or by name, or the default one; an unknown name stays unknown.

    Args:
        name: Version (``"20260701"``) or AMI name. None: the default.
    """
    rows = host_images()
    if name is None:
        return next(row for row in rows if row.version in _defaults("host_images", "version"))
    found = _HOST_NAME.fullmatch(name)
    said = HostImage(version=found[1], kernel=found[2]) if found else HostImage(version=name)
    return next((row for row in rows if row.name == said.name), said)


@cache
def engine_images() -> tuple[EngineImage, ...]:
    """Return every engine image of the catalogue."""
    return tuple(
        EngineImage(
            **{
                **_without_default(row),
                "server": Server(row["server"]),
                "families": tuple(row["families"]),
                "architectures": tuple(row["architectures"]),
                "disputed": tuple(row["disputed"]),
            }
        )
        for row in rows("engine_images")
    )


@cache
def host_images() -> tuple[HostImage, ...]:
    """Return every host image of the catalogue, oldest first."""
    return tuple(HostImage(**_without_default(row)) for row in rows("host_images"))


def registry_account(region: str) -> str | None:
    """Return the account of AWS's deep learning containers in a Region. None: not known."""
    found: str | None = load("serving", "registries")["accounts"].get(region)
    return found


def gpu_repositories() -> frozenset[str]:
    """Return repositories that are documented to have images for GPUs, but for those with ``neuron`` in their tags."""
    return frozenset(row["image"] for row in load("serving", "gpu_images")["images"])


def hosts_for(image: EngineImage) -> Sequence[HostImage]:
    """Return the host images of the catalogue that nothing speaks against, newest first."""
    return [host for host in reversed(host_images()) if not driver_conflicts(image.runtime, host.driver)]


def images_for(server: Server, family: str) -> Sequence[EngineImage]:
    """Return the images of a server that run on an instance family, undisputed, newest last."""
    return [
        image
        for image in engine_images()
        if image.server is server and family in image.families and family not in image.disputed
    ]


def of_repository(image: EngineImage) -> Sequence[EngineImage]:
    """Return the images of the catalogue whose repository has the same name, wherever it is."""
    return [row for row in engine_images() if _repository(row) == _repository(image)]


def _repository(image: EngineImage) -> str:
    return (image.repository or image.reference or "").rpartition("/")[2].partition("@")[0].partition(":")[0]


def _defaults(table: str, key: str) -> frozenset[str]:
    return frozenset(row[key] for row in rows(table) if row["default"])


def _without_default(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "default"}
