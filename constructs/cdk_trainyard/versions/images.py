"""What machine images have: system, kernel, Python, drivers."""

from dataclasses import dataclass, fields
from typing import Any

from cdk_trainyard.versions.matrix import rows


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFacts:
    """What is in a machine image.

    Attributes:
        image: Its name in the matrix.
        words: What messages call it.
        moving: Whether a newer release takes its place under the same name.
        architecture: ``"x86_64"`` or ``"arm64"``. None: both.
        system: Its operating system, as ``"ubuntu-24.04"``.
        python: The version of its ``python3``.
        glibc: Its C library.
        kernel: Its kernel, or the series. None: not known.
        neuron_driver: Its Neuron driver. None: none, or not known.
        efa_installer: The EFA installer that made it. None: none, or not known.
        source: Where these facts are from.
        date: Of which day.
    """

    image: str
    words: str
    moving: bool
    architecture: str | None = None
    system: str
    python: str
    glibc: str
    kernel: str | None = None
    neuron_driver: str | None = None
    efa_installer: str | None = None
    source: str
    date: str


def image_facts(image: str) -> ImageFacts | None:
    """Return what is in an image, or None of one that the matrix does not have.

    Args:
        image: Its name.
    """
    return next((_facts(row) for row in rows("images") if row["image"] == image), None)


def system_words(system: str) -> str:
    """Return what messages call an operating system.

    Args:
        system: Its name in the matrix.
    """
    return str(_system(system)["words"])


def _system(name: str) -> Any:
    return next(row for row in rows("systems") if row["system"] == name)


def _facts(row: Any) -> ImageFacts:
    system = _system(row["system"])
    known = {"python": system["python"], "glibc": system["glibc"], **row}
    return ImageFacts(**{field.name: known[field.name] for field in fields(ImageFacts) if field.name in known})
