"""Where resources come from, as CDK's metadata and the metadata of this library's apps say it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cdk_trainyard.origin import MADE, ORIGIN, PROPERTIES, WRITTEN

_STACK_TRACE: Final = "aws:cdk:creationStack"
"""CDK's own, of apps in TypeScript and JavaScript: of others it has no line of the user's."""
_FRAME: Final = re.compile(r"\(?((?:[A-Za-z]:)?[^\s():]+:\d+:\d+)\)?$")
_NOT_THEIRS: Final = ("node_modules/", "node:", "internal/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where a resource comes from.

    Attributes:
        written: Where its app or its deployment file asks for it: ``file:line:column``. Default - nobody says.
        made: What of a library makes it: ``module:line``. Default - nobody says.
        properties: Properties that have a line of their own, by their path: ``InstanceGroups.1``. Default - none.
    """

    written: str = ""
    made: str = ""
    properties: Mapping[str, str] = field(default_factory=dict, compare=False)

    def of(self, path: str) -> str:
        """Return where a property is written: its own line, that of the nearest around it, or the resource's.

        Args:
            path: The property, its names and numbers with dots between them. Nothing: the resource.
        """
        while path and path not in self.properties:
            path = path.rpartition(".")[0]
        return self.properties.get(path, self.written)


NOWHERE: Final = Origin()
"""Of what nobody says where it comes from."""
Origins = Mapping[str, Origin]


def origins(metadata: Mapping[str, Any]) -> dict[str, Origin]:
    """Return construct paths, and where each was written and what made it.

    Args:
        metadata: Construct path to its entries, as a cloud assembly has them.
    """
    found = {}
    for path, entries in metadata.items():
        said = [_said(entry) for entry in (entries if isinstance(entries, list) else [])]
        written = next((each.written for each in reversed(said) if each.written), "")
        made = next((each.made for each in said if each.made), "")
        properties = next((each.properties for each in said if each.properties), {})
        if written or made:
            found[str(path).strip("/")] = Origin(written=written, made=made, properties=properties)
    return found


def origin_of(path: str, known: Origins) -> Origin:
    """Return where a construct was written and what made it, as the nearest one above it says; its properties, itself.

    Args:
        path: Its path.
        known: What `origins` gives.
    """
    above = [known[each] for each in _above(path) if each in known]
    return Origin(
        written=next((each.written for each in above if each.written), ""),
        made=next((each.made for each in above if each.made), ""),
        properties=known[path].properties if path in known else {},
    )


def _above(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _said(entry: Any) -> Origin:
    """Return what an entry says; a line of the library's own metadata goes before one of a stack trace."""
    kind, data = (entry.get("type"), entry.get("data")) if isinstance(entry, Mapping) else ("", None)
    if kind == ORIGIN and isinstance(data, Mapping):
        properties = data.get(PROPERTIES)
        return Origin(
            written=str(data.get(WRITTEN, "")),
            made=str(data.get(MADE, "")),
            properties={str(name): str(each) for name, each in properties.items()}
            if isinstance(properties, Mapping)
            else {},
        )
    if kind == _STACK_TRACE and isinstance(data, list):
        return Origin(written=next(_frames(data), ""))
    return NOWHERE


def _frames(trace: list[Any]) -> Iterator[str]:
    for line in trace:
        found = _FRAME.search(str(line).strip())
        if found and not any(each in found[1] for each in _NOT_THEIRS):
            yield found[1]
