"""Architectures of processors: a kind of values."""

from typing import Final

from cdk_trainyard.options.kinds import Choice

ARCHITECTURES: Final = ("x86_64", "arm64")
_ALSO_CALLED: Final = {
    **dict.fromkeys(("amd64", "x64", "x86", "x86-64", "i386", "intel", "amd"), "x86_64"),
    **dict.fromkeys(("aarch64", "arm", "armv8", "graviton"), "arm64"),
}
"""Processors by the names that ``uname -m``, Debian and Docker have for them."""


def _architecture(name: str) -> str:
    found = _ALSO_CALLED.get(name.lower())
    return f"; write {found}" if found else ""


ARCHITECTURE: Final = Choice(values=ARCHITECTURES, remedy=_architecture)
"""The architecture of a processor, in EC2's words (``ArchitectureType``)."""
