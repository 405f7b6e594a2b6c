"""What a subnet and its security groups let out: the facts that decide whether a fetch arrives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network
from typing import Any

_ALL = "-1"
ANYWHERE = IPv4Network("0.0.0.0/0")


class Route(StrEnum):
    """Where a subnet's route table leads what is not in the VPC."""

    NAT = "a NAT gateway"
    """To a NAT gateway that itself stands in a subnet with a route to the internet."""
    INTERNET = "an internet gateway"
    """To an internet gateway; only for what has a public address."""
    UNKNOWN = "the routes of a VPC that exists, which are taken for granted"
    """Nobody has looked."""
    NONE = "nothing"
    """Nowhere."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Egress:
    """A rule of a security group that lets out.

    Attributes:
        protocol: ``-1`` for all, or ``tcp``.
        first: First port.
        last: Last port.
        cidr: Where to. None: to a group or a prefix list.
        group: The group it leads to. None: to addresses.
    """

    protocol: str = _ALL
    first: int = 0
    last: int = 65535
    cidr: IPv4Network | None = ANYWHERE
    group: str | None = None

    def opens(self, port: int) -> bool:
        """Return whether it is about TCP and a port."""
        return self.protocol == _ALL or (self.protocol in {"tcp", "6"} and self.first <= port <= self.last)


@dataclass(frozen=True, kw_only=True, slots=True)
class Gateway:
    """A gateway endpoint in the subnet's route table.

    Attributes:
        policy: Its policy. None: everything passes.
    """

    policy: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """An interface endpoint of the VPC.

    Attributes:
        policy: Its policy. None: everything passes.
        private_dns: Whether the service's own name leads to it; otherwise nobody here asks it.
        groups: Its security groups.
        from_cidrs: Blocks that its groups let in on port 443.
        from_groups: Security groups that they let in.
    """

    policy: Mapping[str, Any] | None = None
    private_dns: bool = True
    groups: tuple[str, ...] = ()
    from_cidrs: tuple[IPv4Network, ...] = (ANYWHERE,)
    from_groups: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where something runs.

    Attributes:
        name: What it is, for messages.
        room: The room of the house that it belongs to.
        at: What it is there, as the table of fetches says it.
        route: Where its route table leads.
        address: The subnet's block. None: not known.
        vpc: The VPC's blocks.
        public_address: Whether it has a public address.
        groups: Its security groups.
        egress: What these let out. None: not known, and taken for granted.
        gateways: Gateway endpoints by service.
        interfaces: Interface endpoints by service.
    """

    name: str
    room: str = ""
    at: str = "node"
    route: Route = Route.NONE
    address: IPv4Network | None = None
    vpc: Sequence[IPv4Network] = ()
    public_address: bool = False
    groups: tuple[str, ...] = ()
    egress: tuple[Egress, ...] | None = (Egress(),)
    gateways: Mapping[str, Gateway] = field(default_factory=dict)
    interfaces: Mapping[str, Interface] = field(default_factory=dict)

    @property
    def route_to_internet(self) -> Route:
        """The route to the internet that this machine has: a gateway is of no use without a public address."""
        return Route.NONE if self.route is Route.INTERNET and not self.public_address else self.route

    def lets_out(self, port: int, to: Sequence[IPv4Network] = (ANYWHERE,), groups: Sequence[str] = ()) -> bool:
        """Return whether a security group lets TCP to a port out, to one of these blocks as a whole or of these groups.

        Args:
            port: The port.
            to: The blocks.
            groups: The security groups.
        """
        if self.egress is None:
            return True
        return any(
            rule.opens(port)
            and (
                rule.group in groups
                if rule.group is not None
                else rule.cidr is not None and any(block.subnet_of(rule.cidr) for block in to)
            )
            for rule in self.egress
        )
