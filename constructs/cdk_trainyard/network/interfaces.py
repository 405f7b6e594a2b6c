"""The network interfaces of a node with EFA: which card, which device, which type. One function for all types.

Sources, read 2026-11: EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances with multiple network cards";
ParallelCluster 3.16.1, ``templates/queues_stack.py``; AWS PCS user guide, "Create or update an EC2 launch template",
and the node group templates of awslabs/awsome-distributed-ai, ``architectures/aws-pcs/assets``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.instances import InstanceType, NetworkCard
from cdk_trainyard.network.rules import efa_problems

_ENA = "interface"
_EFA = "efa"
_EFA_ONLY = "efa-only"


class EfaBackend(StrEnum):
    """Who launches the instance: each lays the interfaces out differently."""

    LAUNCH_TEMPLATE = "launch-template"
    """EC2's present recommendation: a plain primary interface, EFA-only interfaces beside it. One address a node."""
    PARALLELCLUSTER = "parallelcluster"
    """What ParallelCluster 3.16.1 renders by itself. One address a node."""
    PCS = "pcs"
    """AWS PCS, which passes only interfaces of type ``efa`` on to the launch. One address a card."""
    LEGACY = "legacy"
    """EC2's former recommendation, ``efa`` on every card. One address a card."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EfaInterface:
    """One network interface.

    Attributes:
        network_card_index: The card.
        device_index: The device on the card.
        interface_type: ``"interface"`` (ENA), ``"efa"`` (EFA with ENA) or ``"efa-only"``.
    """

    network_card_index: int
    device_index: int
    interface_type: str

    @property
    def has_address(self) -> bool:
        """Whether it takes an address of the subnet."""
        return self.interface_type != _EFA_ONLY


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    """How one backend lays interfaces out.

    Attributes:
        type: The type of interfaces other than the primary.
        device: Their device index on a card with room for more than one interface.
        device_beside_ena_card: The same, when card 0 takes no EFA.
        efa_only_cards: Cards made for EFA only: True, they carry it all where there are such; False, they are left
            out; None, they are used like the others.
    """

    type: str
    device: int
    device_beside_ena_card: int
    efa_only_cards: bool | None = None


_LAYOUTS = {
    # p6e-gb200: half of its cards are made for EFA only, and they alone reach the full bandwidth (EC2 user guide)
    EfaBackend.LAUNCH_TEMPLATE: _Layout(type=_EFA_ONLY, device=0, device_beside_ena_card=0, efa_only_cards=True),
    EfaBackend.PARALLELCLUSTER: _Layout(type=_EFA_ONLY, device=1, device_beside_ena_card=1),
    EfaBackend.PCS: _Layout(type=_EFA, device=1, device_beside_ena_card=0, efa_only_cards=False),
    EfaBackend.LEGACY: _Layout(type=_EFA, device=1, device_beside_ena_card=1),
}


def efa_network_interfaces(
    instance_type: InstanceType, backend: EfaBackend = EfaBackend.LAUNCH_TEMPLATE
) -> tuple[EfaInterface, ...]:
    """Return the interfaces of a node that uses all the EFA bandwidth of its type, the primary one first.

    Args:
        instance_type: A type with EFA.
        backend: Who launches the node. Default: LAUNCH_TEMPLATE.

    Raises:
        ConfigurationError: The type has no EFA.
    """
    raise_problems("efa_network_interfaces", [*efa_problems(("instance_type",), instance_type)])
    layout, cards = _LAYOUTS[backend], _efa_cards(instance_type)
    first = instance_type.network_cards[0]
    interfaces = list(_on_first_card(first, layout, efa=first in cards))
    others = [card for card in cards if card != first]
    if layout.efa_only_cards is not None:
        others = [card for card in others if card.efa_only is layout.efa_only_cards] or others
    device = layout.device if first.efa else layout.device_beside_ena_card
    interfaces += [_on_further_card(card, layout, device) for card in others]
    return tuple(interfaces)


def interface_addresses(interfaces: Sequence[EfaInterface]) -> int:
    """Return how many addresses one node with these interfaces takes from its subnet."""
    return sum(interface.has_address for interface in interfaces)


def _efa_cards(instance_type: InstanceType) -> list[NetworkCard]:
    """Cards that carry EFA: not more than the type takes, and the first card is the one to go without."""
    cards = [card for card in instance_type.network_cards if card.efa]
    limit = len(cards) if "max_efa_interfaces" in instance_type.unknown else instance_type.max_efa_interfaces
    return cards[len(cards) - limit :]


def _on_first_card(card: NetworkCard, layout: _Layout, *, efa: bool) -> Iterator[EfaInterface]:
    # an EFA-only interface cannot be the primary one, so a card with room for one interface gets EFA with ENA
    combined = efa and (layout.type == _EFA or card.max_interfaces == 1)
    yield EfaInterface(network_card_index=0, device_index=0, interface_type=_EFA if combined else _ENA)
    if efa and not combined:
        yield EfaInterface(network_card_index=0, device_index=1, interface_type=_EFA_ONLY)


def _on_further_card(card: NetworkCard, layout: _Layout, device: int) -> EfaInterface:
    return EfaInterface(
        network_card_index=card.index,
        device_index=0 if card.max_interfaces == 1 or card.efa_only else device,
        interface_type=_EFA_ONLY if card.efa_only else layout.type,
    )
