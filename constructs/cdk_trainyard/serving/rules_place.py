"""Where a load balancer and its tasks stand: the zones and sizes of their subnets. Pure, and Tokens are not judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

from cdk_trainyard.instances import is_zone_id
from cdk_trainyard.network.subnet_layout import usable_addresses
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved

LARGEST_PREFIX: Final = 27
LEAST_FREE: Final = 8
"""Of a load balancer's subnets. ELB user guide, "Application Load Balancers", read 2026-11: "at least a /27 bitmask",
"at least eight free IP addresses per subnet"."""
_ZONES: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A subnet that a load balancer or a task stands in.

    Attributes:
        at: Where it was said.
        zone: Its zone, by name or by id.
        of: What it is of, in messages, where the option does not name it. Default - the option names it.
    """

    at: At
    zone: str
    of: str = ""


def zones_problems(at: At, places: Sequence[Place], *, public: bool, tasks: Sequence[str] = ()) -> Iterator[Problem]:
    """Check that a load balancer has one subnet in each zone of the tasks, in two zones or more.

    Sources: ELB's API, ``TargetHealth.Reason`` (``Target.NotInUse``: "the target is in an Availability Zone that is not
    enabled for its load balancer") and ``CreateLoadBalancerInput.Subnets`` ("only one subnet per Availability Zone").

    Args:
        at: The option that says where it stands.
        places: Its subnets.
        public: Whether it is reached from the internet.
        tasks: The zones of the tasks. Default - they are in those subnets.
    """
    zones = [place.zone for place in places]
    if any(unresolved(zone) for zone in zones):
        if len(zones) < _ZONES:
            yield _too_few(at, places, public=public)
        return
    without = _without(zones, tasks)
    if without:
        text = f"must be in {' and '.join(without)}, where the tasks are, got {_listed(places)}: a load balancer sends"
        yield Problem(
            at, f"{text} nothing to a zone that it has no subnet in; add {'it' if len(without) == 1 else 'them'}"
        )
    if len({*zones, *without}) < _ZONES:
        yield _too_few(at, places, public=public)
    for index, place in enumerate(places):
        if place.zone in zones[:index]:
            text = (
                f"must be another than those of the subnets before it, got {shown(place.zone)} again: a load balancer"
            )
            yield Problem(place.at, f"{text} takes one subnet of each zone; leave this one out")


def size_problems(blocks: Mapping[At, IPv4Network]) -> Iterator[Problem]:
    """Check that subnets are large enough for a load balancer.

    Args:
        blocks: Where each block was said, and the block.
    """
    for at, block in blocks.items():
        if block.prefixlen > LARGEST_PREFIX:
            text = f"must be a /{LARGEST_PREFIX} or larger for a load balancer, got {block}"
            yield Problem(at, f"{text}: it asks for {LEAST_FREE} free addresses; name a larger subnet")


@dataclass(frozen=True, kw_only=True, slots=True)
class Addresses:
    """The addresses that a service takes of its subnets at most.

    Attributes:
        hosts: Its hosts, each with one of its own and one of its task, whose network mode is ``awsvpc`` (ECS developer
            guide, "Allocate a network interface for an Amazon ECS task").
        doors: Subnets among them that a load balancer stands in.
        nodes: What a cluster takes of the same subnets. Default - none.
    """

    hosts: int
    doors: int
    nodes: int = 0

    @property
    def needed(self) -> int:
        """All of them."""
        return 2 * self.hosts + LEAST_FREE * self.doors + self.nodes

    @property
    def arithmetic(self) -> str:
        """What is added up."""
        door = f", and a load balancer {LEAST_FREE * self.doors}" if self.doors else ""
        nodes = f", and nodes of the cluster {self.nodes}" if self.nodes else ""
        return f"{self.hosts} hosts take {2 * self.hosts} with their tasks{door}{nodes}"

    @property
    def fewer(self) -> str:
        """What may be lowered."""
        return "lower the tasks, or the cluster's nodes" if self.nodes else "lower the tasks"


def address_problems(
    at: At, blocks: Sequence[IPv4Network | None], addresses: Addresses, *, whose: str
) -> Iterator[Problem]:
    """Check that subnets have the addresses that a service takes, where all of their blocks are known.

    Args:
        at: The option that says which subnets they are.
        blocks: Their blocks. None: not known.
        addresses: What is taken.
        whose: Who takes them, in the message.
    """
    known = [block for block in blocks if block is not None]
    free = sum(usable_addresses(block.prefixlen) for block in known)
    if known and len(known) == len(blocks) and free < addresses.needed:
        text = f"must have {addresses.needed} addresses for {whose}, got {free}: {addresses.arithmetic}"
        yield Problem(at, f"{text}; name more or larger subnets, or {addresses.fewer}")


def _without(zones: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """Return the zones of tasks without a subnet, as far as names are comparable: an account maps them to ids."""
    if unresolved(*tasks) or len({is_zone_id(zone) for zone in (*zones, *tasks)}) > 1:
        return []
    return [zone for zone in dict.fromkeys(tasks) if zone not in zones]


def _too_few(at: At, places: Sequence[Place], *, public: bool) -> Problem:
    kind = "a public" if public else "an internal"
    return Problem(at, f"must be in {_ZONES} zones or more for {kind} load balancer, got {_listed(places)}")


def _listed(places: Sequence[Place]) -> str:
    return ", ".join(sorted({f"{each.zone}{each.of}" for each in places if not unresolved(each.zone)})) or "none"
