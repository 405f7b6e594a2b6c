"""What runs on nodes, whatever runs it: the one protocol of HyperPod, ParallelCluster, fleets and services."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, Protocol, TypeVar

from cdk_trainyard.account import Answer
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.operations.action import Action
from cdk_trainyard.operations.logs import Streams
from cdk_trainyard.operations.timeline import Event
from cdk_trainyard.problems import either

T_co = TypeVar("T_co", covariant=True)


JOBS: Final = "the jobs that run on them, unless Slurm may queue them again"
"""What is lost with every node."""


class OperationError(Exception):
    """What was asked for cannot be done: one sentence, with the remedy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing(Generic[T_co]):
    """What an account said, and what it did not.

    Attributes:
        rows: What was found.
        refused: The calls that were not answered: what they would have told is missing from the rows.
    """

    rows: tuple[T_co, ...] = ()
    refused: tuple[Answer, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[T_co], answers: Iterable[Answer]) -> "Listing[T_co]":
        """Return rows, with those of the answers that are refusals.

        Args:
            rows: The rows.
            answers: The answers that they were made of.
        """
        return cls(rows=tuple(rows), refused=tuple(answer for answer in answers if answer.refusal is not None))

    @property
    def is_partial(self) -> bool:
        """Whether AWS did not tell all that was asked; that something is not there it told."""
        return any(not answer.absent for answer in self.refused)

    @classmethod
    def joined(cls, listings: "Iterable[Listing[T_co]]") -> "Listing[T_co]":
        """Return several listings as one.

        Args:
            listings: The listings.
        """
        found = list(listings)
        return cls(
            rows=tuple(row for listing in found for row in listing.rows),
            refused=tuple(answer for listing in found for answer in listing.refused),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A node.

    Attributes:
        id: Its instance id; of a node that has none yet, its logical id.
        group: Its group.
        type: Its instance type as EC2 names it.
        state: Its state in the words of what runs it: ``Running``, ``InService``.
        health: What is wrong with it, or what else is known of its health. Empty: nothing is known to be wrong.
        address: Its private IPv4 address. Empty: not known.
        slurm_name: Its name in Slurm. Empty: it is no node of Slurm, or the name is not known.
        since: When it was launched. None: not known.
        zone: Its Availability Zone. Empty: not known.
        target: The target of a session of Session Manager. Empty: no session can be opened.
        system: The kind of what runs on it.
        is_head: Whether the others depend on it: a controller, a head node, a master.
    """

    id: str
    group: str
    type: str
    state: str
    health: str = ""
    address: str = ""
    slurm_name: str = ""
    since: datetime | None = None
    zone: str = ""
    target: str = ""
    system: str = ""
    is_head: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A group of nodes.

    Attributes:
        name: Its name.
        wanted: How many nodes it should have. None: nobody says; Slurm asks for them as jobs come.
        present: How many it has.
        type: The instance type as EC2 names it. Empty: several, or not known.
        state: What is done to it at the moment, in AWS's words. Empty: nothing, or not known.
        is_fixed: Whether no other machine takes the place of one of its nodes.
    """

    name: str
    wanted: int | None
    present: int
    type: str = ""
    state: str = ""
    is_fixed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """How something that runs on nodes is.

    Attributes:
        kind: What it is: ``HyperPod cluster``.
        name: Its name.
        state: Its state in AWS's words.
        failure: Why it failed. Empty: it did not.
        groups: Its groups.
    """

    kind: str
    name: str
    state: str
    failure: str = ""
    groups: tuple[Group, ...] = ()


class System(Protocol):
    """What runs on nodes. Reading and writing are apart: what is read is a listing, what is to be done a value."""

    kind: str
    """What it is: ``HyperPod cluster``."""

    def status(self) -> Listing[Condition]:
        """Return how it is, with its groups."""

    def nodes(self) -> Listing[Node]:
        """Return its nodes."""

    def events(self, since: datetime) -> Listing[Event]:
        """Return what has happened to it and its nodes, and what failed in their provisioning logs.

        Args:
            since: When the oldest event was.
        """

    def streams(self, node: Node) -> Listing[Streams]:
        """Return where a node logs.

        Args:
            node: The node.
        """

    def reboot(self, nodes: Sequence[Node]) -> Action:
        """Return what reboots nodes.

        Args:
            nodes: Nodes of its own.

        Raises:
            OperationError: It cannot be done to one of them.
        """

    def replace(self, nodes: Sequence[Node]) -> Action:
        """Return what puts other machines in the place of nodes.

        Args:
            nodes: Nodes of its own.

        Raises:
            OperationError: It cannot be done to one of them.
        """

    def update_image(self, groups: Sequence[Group]) -> Action:
        """Return what gives the nodes of groups the newest image.

        Args:
            groups: Groups of its own.

        Raises:
            OperationError: It cannot be done to one of them.
        """


def refuse(nodes: Sequence[Node], wrong: Callable[[Node], bool], why: str) -> None:
    """Refuse to do something to nodes, unless it can be done to all of them.

    Args:
        nodes: The nodes.
        wrong: Whether it cannot be done to one.
        why: Why not, and the remedy.

    Raises:
        OperationError: It cannot be done to one.
    """
    if found := [f"{node.id} ({node.group})" for node in nodes if wrong(node)]:
        raise OperationError(f"{', '.join(found)}: {why}")


def listed(nodes: Sequence[Node]) -> str:
    """Return nodes as a sentence lists them: ``3 nodes of workers (i-1, i-2, i-3)``.

    Args:
        nodes: The nodes.
    """
    groups: dict[str, list[str]] = {}
    for node in nodes:
        groups.setdefault(node.group, []).append(node.id)
    return " and ".join(
        f"{len(ids)} {'node' if len(ids) == 1 else 'nodes'} of {group} ({', '.join(ids)})"
        for group, ids in groups.items()
    )


def named(nodes: Sequence[Node], names: Sequence[str], *, what: str) -> list[Node]:
    """Return the nodes that are named by id, Slurm name, address, or by the name of their group.

    Args:
        nodes: The nodes.
        names: The names. None of them: every node.
        what: Whose nodes they are, for the refusal.

    Raises:
        OperationError: There is no such node or group; says which there are.
    """
    if not names:
        return list(nodes)
    found = {name: [node for node in nodes if name in _names_of(node)] for name in names}
    if missing := [name for name, matching in found.items() if not matching]:
        groups = sorted({node.group for node in nodes})
        known = {name for node in nodes for name in _names_of(node)}
        raise OperationError(
            "\n".join(
                f"{what} has no node or group {name!r}{did_you_mean(name, known) or _groups(groups)}"
                for name in missing
            )
        )
    return list(dict.fromkeys(node for matching in found.values() for node in matching))


def _names_of(node: Node) -> set[str]:
    return {node.id, node.group, node.slurm_name, node.address} - {""}


def _groups(names: Sequence[str]) -> str:
    return f"; its groups are {either(names)}" if names else "; it has no nodes"
