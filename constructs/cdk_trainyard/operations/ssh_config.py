"""Entries of OpenSSH's client configuration for nodes: between markers, in a file of their own that one line includes.

Sources: ssh_config(5) of OpenSSH 9 (an ``Include`` below a ``Host`` holds for that host only; relative names are of
~/.ssh; ``%`` is doubled in a ``ProxyCommand``); AWS Systems Manager user guide, "Allow and control permissions for SSH
connections through Session Manager"; read 2026-11.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cdk_trainyard.operations.protocol import Node, OperationError

OWN_FILE: Final = "trainyard.conf"
"""The file of entries, in ~/.ssh."""
_INCLUDE: Final = f"Include {OWN_FILE}"
_SECTION: Final = re.compile(r"\s*(?:host|match)\b", re.IGNORECASE)
_INCLUDES: Final = re.compile(r"\s*include[\s=]+(.*)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entries:
    """What is written of a deployment.

    Attributes:
        name: The deployment's name.
        region: Its Region.
        user: The user of the nodes.
        proxy: The program that carries a connection; it is told Region, target and port.
        identity: The file of the key. Empty: OpenSSH's own choice.
    """

    name: str
    region: str
    user: str
    proxy: Sequence[str]
    identity: str = ""

    def text(self, nodes: Sequence[Node]) -> str:
        """Return the entries of nodes, with their markers; nodes that no session can be opened with have none.

        Args:
            nodes: The nodes.
        """
        begin, end = markers(self.name, self.region)
        lines = [line for node, names in self._named(nodes) for line in self._entry(node, names)]
        return "".join(f"{line}\n" for line in (begin, *lines, end))

    def _named(self, nodes: Sequence[Node]) -> Iterator[tuple[Node, list[str]]]:
        head = next((node for node in nodes if node.is_head and node.target), None)
        numbers: dict[str, int] = {}
        for node in nodes:
            numbers[node.group] = numbers.get(node.group, 0) + 1
            if node.target:
                names = [f"{self.name}-{node.group}-{numbers[node.group]}", node.id]
                names += [f"{self.name}-{node.slurm_name}"] if node.slurm_name else []
                yield node, [self.name, *names] if node is head else names

    def _entry(self, node: Node, names: Sequence[str]) -> Iterator[str]:
        words = [*self.proxy, self.region, node.target]
        yield f"Host {' '.join(names)}"
        yield f"  HostName {node.id}"
        yield f"  HostKeyAlias {node.id}"
        yield f"  User {self.user}"
        if self.identity:
            yield f'  IdentityFile "{self.identity.replace("%", "%%")}"'
        yield "  StrictHostKeyChecking accept-new"
        yield f"  ProxyCommand {shlex.join(words).replace('%', '%%')} %p"


def markers(name: str, region: str) -> tuple[str, str]:
    """Return the lines between which a deployment's entries stand.

    Args:
        name: The deployment's name.
        region: Its Region.
    """
    return f"# trainyard: {name} in {region} begins", f"# trainyard: {name} in {region} ends"


def put(text: str, entries: str) -> str:
    """Return a file with a deployment's entries in the place of those that it has, or at its end.

    Args:
        text: The file.
        entries: The entries, with their markers.

    Raises:
        OperationError: A marker has no other.
    """
    begin, *_, end = entries.splitlines()
    found = _between(text, begin, end)
    if found is None:
        whole = text if text.endswith("\n") or not text else f"{text}\n"
        return f"{whole}{entries}"
    return f"{text[: found[0]]}{entries}{text[found[1] :]}"


def taken(text: str, name: str, region: str) -> str:
    """Return a file without a deployment's entries.

    Args:
        text: The file.
        name: The deployment's name.
        region: Its Region.

    Raises:
        OperationError: A marker has no other.
    """
    found = _between(text, *markers(name, region))
    return text if found is None else text[: found[0]] + text[found[1] :]


def included(text: str) -> str:
    """Return the user's configuration with the line that includes the entries, above the first ``Host``.

    Args:
        text: The configuration.
    """
    for line in text.splitlines():
        if _SECTION.match(line):
            break
        if (found := _INCLUDES.match(line)) and OWN_FILE in found[1].replace("/", " ").replace('"', " ").split():
            return text
    return f"{_INCLUDE}\n{text}"


def not_included(text: str) -> str:
    """Return the user's configuration without that line, as `included` writes it.

    Args:
        text: The configuration.
    """
    return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") != _INCLUDE)


def _between(text: str, begin: str, end: str) -> tuple[int, int] | None:
    """Return where the entries begin and end; None: there are none."""
    place, first, last = 0, [], []
    for line in text.splitlines(keepends=True):
        place += len(line)
        if line.rstrip("\r\n") == begin:
            first.append(place - len(line))
        elif line.rstrip("\r\n") == end:
            last.append(place)
    if not first and not last:
        return None
    if len(first) != 1 or len(last) != 1 or last[0] <= first[0]:
        raise OperationError(f"the lines {begin!r} and {end!r} are not there once each, in this order: remove them")
    return first[0], last[0]
