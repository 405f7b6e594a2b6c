"""How many addresses a cluster takes from its subnet, and whether a given subnet holds them.

A subnet cannot grow once it exists, and a cluster without a free address cannot replace a broken node.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.network.rules import address_count_problems, is_local, parse_cidr
from cdk_trainyard.network.spec import Endpoint, NetworkSpec
from cdk_trainyard.network.subnet_layout import LARGEST_SUBNET, RESERVED_ADDRESSES, SMALLEST_SUBNET, usable_addresses
from cdk_trainyard.problems import Problem, option, sentence
from cdk_trainyard.tokens import unresolved

_LARGEST = usable_addresses(LARGEST_SUBNET)
_NAMED = 8
"""Sorts of nodes, and what else takes addresses, that a sentence names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressUse:
    """Equal nodes of one subnet.

    Attributes:
        name: What they are, as the name of an instance group.
        instance_type: Their type, for the message.
        count: How many there are when the group is at its largest.
        addresses_per_node: Addresses of one node, as from ``InstanceType.hyperpod_addresses`` or
            ``interface_addresses``.
    """

    name: str
    instance_type: str
    count: int
    addresses_per_node: int

    @property
    def addresses(self) -> int:
        """Addresses of all of them."""
        return self.count * self.addresses_per_node


@dataclass(frozen=True, slots=True)
class AddressPlan:
    """The addresses that one subnet must hold.

    Numbers that are Tokens count as 0: what is known may still be too much, which is a sound reason to refuse.

    Args:
        uses: The nodes.
        lustre_file_servers: File servers of FSx for Lustre in the subnet; each takes one address. Default: 0.
        interface_endpoints: Interface endpoints in the subnet; each takes one address. Default: 0.
        other: Further addresses: a database, Lambda functions. Default: 0.
        reserve: Addresses to keep free, for nodes that are replaced before their predecessors are gone. Default: 16.

    Raises:
        ConfigurationError: A number is negative.
    """

    uses: Sequence[AddressUse]
    lustre_file_servers: int = field(default=0, kw_only=True)
    interface_endpoints: int = field(default=0, kw_only=True)
    other: int = field(default=0, kw_only=True)
    reserve: int = field(default=16, kw_only=True)

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "uses", tuple(self.uses))
        keywords = ("lustre_file_servers", "interface_endpoints", "other", "reserve")
        numbers = {f"'{keyword}'": getattr(self, keyword) for keyword in keywords}
        for use in self.uses:
            numbers[f"'count' of {use.name!r}"] = use.count
            numbers[f"'addresses_per_node' of {use.name!r}"] = use.addresses_per_node
        raise_problems("AddressPlan", address_count_problems(numbers))

    @property
    def required(self) -> int:
        """Addresses needed, without the five that AWS reserves in every subnet."""
        return sum(addresses for _, addresses in self._lines())

    @property
    def smallest_prefix(self) -> int:
        """The prefix length of the smallest subnet that holds them: 18 for a /18.

        Raises:
            ConfigurationError: No subnet is large enough.
        """
        if self.required > _LARGEST:
            raise_problems("AddressPlan", [self._too_much()])
        prefixes = range(SMALLEST_SUBNET, LARGEST_SUBNET - 1, -1)
        return next(prefix for prefix in prefixes if usable_addresses(prefix) >= self.required)

    @property
    def arithmetic(self) -> str:
        """What is added up, in one line: the largest, in their order, and how many more there are."""
        lines = [*self._lines()]
        largest = sorted(range(len(lines)), key=lambda index: -lines[index][1])[:_NAMED]
        rest = [each for index, (_, each) in enumerate(lines) if index not in largest]
        named = ", ".join(f"{lines[index][0]} = {lines[index][1]}" for index in sorted(largest))
        return f"{named}, and {len(rest)} more = {sum(rest)}" if rest else named

    @property
    def smallest_subnet(self) -> str:
        """The smallest subnet that holds them, in words."""
        if self.required > _LARGEST:
            return "several networks"
        prefix = self.smallest_prefix
        if prefix == LARGEST_SUBNET:
            return f"a /{prefix}, as {option('secondary_cidr')} of a new network may be"
        return f"a /{prefix} or larger"

    def problems(self, cidr: str, *, keyword: str = "accelerator_cidr") -> list[str]:
        """Say what is wrong with a subnet for this plan: nothing, or one sentence with the arithmetic.

        Args:
            cidr: The subnet's block, ``"10.1.128.0/17"``. A Token passes.
            keyword: The word that the user wrote the block after. Default: ``accelerator_cidr``.
        """
        if self.required > _LARGEST and not unresolved(cidr):
            return [self._too_much()]
        short = self.shortage(cidr)
        return [sentence(Problem((keyword,), short))] if short else []

    def shortage(self, cidr: str, *, remedy: str = "use EFA-only interfaces, or several networks") -> str | None:
        """Say what is wrong with a subnet for this plan, as a sentence without its subject; None when it holds all.

        Args:
            cidr: The subnet's block. A Token passes.
            remedy: What to do where no subnet is large enough. Default: EFA-only interfaces, or several networks.
        """
        if unresolved(cidr):
            return None
        must = f"must hold {self.required} addresses ({self.arithmetic})"
        if self.required > _LARGEST:
            most = f"all that the largest subnet (a /{LARGEST_SUBNET}) has"
            return f"{must}, more than {_LARGEST}, {most}; {remedy}"
        usable = usable_addresses(IPv4Network(cidr).prefixlen)
        if usable >= self.required:
            return None
        return f"{must}, got {cidr} with {usable}; use {self.smallest_subnet}"

    def warnings(self, cidr: str | None) -> list[str]:
        """Say that a subnet holds what is there, and not the reserve: nothing, or one sentence with the arithmetic.

        Args:
            cidr: The subnet's block. A Token passes, and so does None: not known.
        """
        block, there = parse_cidr(cidr), replace(self, reserve=0)
        if block is None or not self.uses:
            return []
        usable = usable_addresses(block.prefixlen)
        if not there.required <= usable < self.required:
            return []
        text = (
            f"the subnet {block} has at most {usable - there.required} of {usable} addresses left when all nodes are "
            f"there ({there.arithmetic}), fewer than {self.reserve} for nodes that are replaced before their "
            f"predecessors are gone, and for whatever else takes addresses; use {self.smallest_subnet}, or fewer nodes"
        )
        return [sentence(Problem((), text))]

    def table(self) -> str:
        """Return the arithmetic as lines of text."""
        rows = [*self._lines(), ("reserved by AWS in every subnet", RESERVED_ADDRESSES)]
        rows.append(("together", self.required + RESERVED_ADDRESSES))
        width = max(len(label) for label, _ in rows)
        text = [f"{label:<{width}}  {addresses:>6}" for label, addresses in rows]
        if self.required > _LARGEST:
            return "\n".join([*text, f"no subnet is that large: the largest is a /{LARGEST_SUBNET}"])
        prefix = self.smallest_prefix
        return "\n".join([*text, f"{f'smallest subnet: a /{prefix} of':<{width}}  {2 ** (32 - prefix):>6}"])

    def _lines(self) -> Iterator[tuple[str, int]]:
        for use in self.uses:
            if not unresolved(use.count, use.addresses_per_node):
                yield f"{use.name} {use.count} x {use.instance_type} x {use.addresses_per_node}", use.addresses
        extras = {
            "Lustre file servers": self.lustre_file_servers,
            "interface endpoints": self.interface_endpoints,
            "other": self.other,
            "reserve": self.reserve,
        }
        yield from (
            (label, addresses) for label, addresses in extras.items() if addresses and not unresolved(addresses)
        )

    def _too_much(self) -> str:
        return (
            f"the nodes must take at most {_LARGEST} addresses, all that the largest subnet (a /{LARGEST_SUBNET}) has, "
            f"got {self.required} ({self.arithmetic}); use EFA-only interfaces, or several networks"
        )


def endpoint_addresses(network: NetworkSpec) -> int:
    """Return how many addresses interface endpoints take from the accelerator subnet; none where that is not known.

    Sources: ``SubnetIds`` of CreateVpcEndpointRequest in botocore's model of EC2, 1.44.5: subnets in which an endpoint
    has a network interface; whitepaper "Amazon VPC Connectivity Options", read 2026-11: with an address of the subnet.
    That subnet is the service subnet of a zone where it has one, and always beside a Local Zone.

    Args:
        network: The new network.
    """
    endpoints, services, zone = network.interface_endpoints, network.service_zones, network.zone
    if unresolved(endpoints, services, *services, zone) or zone in services or (services and is_local(zone)):
        return 0
    return sum(each != Endpoint.DYNAMODB for each in endpoints if not unresolved(each))
