"""Where resources come from, as CDK's metadata and the metadata of this library's apps say it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.origin import MADE, ORIGIN, WRITTEN

_STACK_TRACE: Final = "aws:cdk:creationStack"
"""CDK's own, of apps in TypeScript and JavaScript: of others it has no line of the user's."""
_FRAME: Final = re.compile(r"\(?((?:[A-Za-z]:)?[^\s():]+:\d+:\d+)\)?$")
_NOT_THEIRS: Final = ("node_modules/", "node:", "internal/")

Origins = Mapping[str, tuple[str, str]]


def origins(metadata: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return construct paths, and where each was written and what made it.

    Args:
        metadata: Construct path to its entries, as a cloud assembly has them.
    """
    found = {}
    for path, entries in metadata.items():
        said = [_said(entry) for entry in (entries if isinstance(entries, list) else [])]
        written = next((each[0] for each in reversed(said) if each[0]), "")
        made = next((each[1] for each in said if each[1]), "")
        if written or made:
            found[str(path).strip("/")] = (written, made)
    return found


def origin_of(path: str, known: Origins) -> tuple[str, str]:
    """Return where a construct was written and what made it, as the nearest one above it says.

    Args:
        path: Its path.
        known: What `origins` gives.
    """
    above = [*_above(path)]
    written = next((known[each][0] for each in above if each in known and known[each][0]), "")
    made = next((known[each][1] for each in above if each in known and known[each][1]), "")
    return written, made


def _above(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _said(entry: Any) -> tuple[str, str]:
    """Return what an entry says; a line of the library's own metadata goes before one of a stack trace."""
    kind, data = (entry.get("type"), entry.get("data")) if isinstance(entry, Mapping) else ("", None)
    if kind == ORIGIN and isinstance(data, Mapping):
        return str(data.get(WRITTEN, "")), str(data.get(MADE, ""))
    if kind == _STACK_TRACE and isinstance(data, list):
        return next(_frames(data), ""), ""
    return "", ""


def _frames(trace: list[Any]) -> Iterator[str]:
    for line in trace:
        found = _FRAME.search(str(line).strip())
        if found and not any(each in found[1] for each in _NOT_THEIRS):
            yield found[1]
