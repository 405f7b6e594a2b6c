"""AWS's partitions: how the names of their Regions begin, where these are, and the domain of their services. No CDK."""

import re
from collections.abc import Mapping
from typing import Final
from unicodedata import normalize

from cdk_trainyard.data_files import load

__all__ = ["DOMAINS", "domain_of", "partition_of", "region_at"]

_ROWS: Final[list[dict[str, str]]] = load("partitions", "partitions")["partitions"]
_PLACES: Final[Mapping[str, str]] = load("partitions", "partitions")["places"]
"""Where each Region is, in words, as ``Europe (Frankfurt)``."""
_LONGEST_FIRST: Final = sorted(_ROWS, key=lambda row: -len(row["regions"]))
"""How the names of Regions begin, those of most continents last, which begin with nothing that they have in common."""
DOMAINS: Final = frozenset(row["suffix"] for row in _ROWS)
"""The domains of all partitions."""


def partition_of(region: str) -> str:
    """Return the partition of a Region: ``AWS::Partition``.

    Args:
        region: The Region's name.
    """
    return _of(region, "name")


def domain_of(region: str) -> str:
    """Return the domain of the services in a Region: ``AWS::URLSuffix``.

    Args:
        region: The Region's name.
    """
    return _of(region, "suffix")


def region_at(place: str) -> str | None:
    """Return the one Region that is called like a place in words; None of several, of none, and of what has a number.

    Args:
        place: As the console says it, whole or in part: ``Europe (Frankfurt)``, ``Tokyo``, ``N. Virginia``.
    """
    said = _words(place)
    for fits in (said.__eq__, said.issubset):
        found = [region for region, words in _PLACES.items() if said and fits(_words(words))]
        if found:
            return found[0] if len(found) == 1 else None
    inner = {region: _words(words.partition("(")[2]) for region, words in _PLACES.items()}
    found = [region for region, words in inner.items() if words and words <= said]
    return found[0] if len(found) == 1 else None


def _words(text: str) -> frozenset[str]:
    """Return the words of a text in plain letters; none where it has a digit, as the name of a Region."""
    plain = normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return frozenset() if re.search(r"[0-9]", plain) else frozenset(re.findall("[a-z]+", plain))


def _of(region: str, what: str) -> str:
    return next(row[what] for row in _LONGEST_FIRST if region.startswith(row["regions"]))
