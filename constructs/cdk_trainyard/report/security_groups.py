"""Rules of security groups, and what two of them let through together."""

from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

ANYWHERE: Final = {"0.0.0.0/0", "::/0"}
"""Every address, of either version."""
PORTS: Final = 65535
"""The last port."""
WITH_PORTS: Final = {"tcp", "udp"}
"""Protocols that have ports."""
_NOBODY: Final = "255.255.255.255/32"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One rule of a security group.

    Attributes:
        group: The group's key.
        inward: Whether it is an ingress rule.
        protocol: ``tcp``, ``udp``, ``icmp``, a number, or ``all``.
        first: The first port.
        last: The last port.
        peer: A CIDR block, a prefix list, or the key of a group.
        peer_is_group: Whether the peer is a group of this assembly.
        description: What the template says of it.
        is_foreign: Whether the peer is a group that is not of this assembly.
    """

    group: str
    inward: bool
    protocol: str
    first: int
    last: int
    peer: str
    peer_is_group: bool = False
    description: str = ""
    is_foreign: bool = False

    @property
    def ports(self) -> str:
        """Protocol and ports in words."""
        return ports_said(self.protocol, self.first, self.last)

    @property
    def is_anywhere(self) -> bool:
        """Whether the peer is every address."""
        return self.peer in ANYWHERE or self.peer.endswith("/0")

    @property
    def allows_nothing(self) -> bool:
        """Whether it is the rule that CDK writes for no egress at all: to an address that nobody has."""
        return self.peer == _NOBODY


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """A way from one member to another.

    Attributes:
        protocol: Protocol.
        first: The first port.
        last: The last port.
        out: The rule that lets it out.
        into: The rule that lets it in.
    """

    protocol: str
    first: int
    last: int
    out: Rule
    into: Rule

    @property
    def ports(self) -> str:
        """Protocol and ports in words."""
        return ports_said(self.protocol, self.first, self.last)


def ports_said(protocol: str, first: int, last: int) -> str:
    """Return protocol and ports in words.

    Args:
        protocol: Protocol.
        first: The first port.
        last: The last port.
    """
    if protocol == "all":
        return "all traffic"
    if protocol not in WITH_PORTS:
        return protocol.upper() if protocol.startswith("icmp") else f"IP protocol {protocol}"
    if (first, last) == (0, PORTS):
        return f"all of {protocol.upper()}"
    return f"{protocol.upper()} {first}" if first == last else f"{protocol.upper()} {first} to {last}"


def common(out: Rule, into: Rule) -> Way | None:
    """Return what two rules let through together; None where that is nothing.

    Args:
        out: The rule that lets it out.
        into: The rule that lets it in.
    """
    if "all" not in {out.protocol, into.protocol} and out.protocol != into.protocol:
        return None
    protocol = into.protocol if out.protocol == "all" else out.protocol
    first, last = max(out.first, into.first), min(out.last, into.last)
    return Way(protocol=protocol, first=first, last=last, out=out, into=into) if first <= last else None


def is_within(way: Way, other: Way) -> bool:
    """Return whether a way is a part of another one.

    Args:
        way: The way.
        other: The other one.
    """
    if way is other or other.protocol not in {way.protocol, "all"}:
        return False
    return other.first <= way.first and way.last <= other.last


def overlap(one: str, other: str) -> bool:
    """Return whether two blocks of addresses have some in common; what is none has none.

    Args:
        one: A CIDR block.
        other: The other one.
    """
    try:
        return ip_network(one, strict=False).overlaps(ip_network(other, strict=False))
    except (TypeError, ValueError):
        return False
