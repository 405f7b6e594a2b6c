"""What was asked for, with every default filled in: what the rules judge and the template is rendered from."""

from collections.abc import Sequence
from dataclasses import dataclass

from cdk_trainyard.fleet.capacity import FleetCapacity, FleetPlacement, FleetSize
from cdk_trainyard.fleet.image import NodeImage
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import EfaBackend, EfaInterface, EfaSecurityGroup, Network, efa_network_interfaces
from cdk_trainyard.storage import Lustre

_PLAIN = (EfaInterface(network_card_index=0, device_index=0, interface_type="interface"),)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedTemplate:
    """A launch template with its defaults.

    Attributes:
        given: The instance type as it was written.
        type: Its facts. None: unknown, or a Token.
        backend: Who launches.
        image: The machine image. None: whoever launches chooses it.
        capacity: Where the instances come from.
        placement_group: Whether a placement group was given.
        public_address: Whether instances get a public address.
        volume_gib: Size of the root volume.
        threads_per_core: Threads per core. None: the type's default.
        efa_needed: Whether a type without EFA is refused.
    """

    given: str | InstanceType
    type: InstanceType | None
    backend: EfaBackend
    image: NodeImage | None
    capacity: FleetCapacity
    placement_group: bool
    public_address: bool
    volume_gib: int
    threads_per_core: int | None
    efa_needed: bool = True

    @property
    def interfaces(self) -> tuple[EfaInterface, ...]:
        """The interfaces of an instance; a plain one for a type without EFA."""
        return interfaces_of(self.type, self.backend)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedFleet:
    """A fleet with its defaults.

    Attributes:
        name: Its name, with which its members know one another.
        region: Its Region. None: not known at synthesis.
        network: The network.
        given: The instance types as they were written.
        types: The facts of those that are known.
        one_type: Whether ``instance_type`` was given.
        size: How many nodes.
        capacity: Where they come from.
        placement: How close together.
        backend: How interfaces are laid out.
        image: The machine image.
        lustre: The shared file system. None: none.
        mount_at: Where it is mounted.
        security_groups: Security groups of the nodes.
    """

    name: str
    region: str | None
    network: Network
    given: tuple[str | InstanceType, ...]
    types: tuple[InstanceType, ...]
    one_type: bool
    size: FleetSize
    capacity: FleetCapacity
    placement: FleetPlacement
    backend: EfaBackend
    image: NodeImage
    lustre: Lustre | None
    mount_at: str
    security_groups: tuple[EfaSecurityGroup, ...]

    @property
    def addresses_per_node(self) -> int:
        """Addresses of the node that takes most."""
        return max(
            (sum(one.has_address for one in interfaces_of(kind, self.backend)) for kind in self.types), default=1
        )

    @property
    def interfaces_per_node(self) -> int:
        """Network interfaces of the node that has most."""
        return max((len(interfaces_of(kind, self.backend)) for kind in self.types), default=1)


def find_types(given: Sequence[str | InstanceType]) -> tuple[InstanceType, ...]:
    """Return the facts of the types that are known; of others a rule says that they are not."""
    return tuple(kind for kind in map(InstanceType.find, given) if kind)


def interfaces_of(kind: InstanceType | None, backend: EfaBackend) -> tuple[EfaInterface, ...]:
    """Return the interfaces of a node: with all its EFA, or a plain one for a type without (or a Token)."""
    return efa_network_interfaces(kind, backend) if kind is not None and kind.efa_supported else _PLAIN
