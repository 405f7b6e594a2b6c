"""What a ParallelCluster refers to, before any of it is a construct: the rules look at ids, names and ARNs alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, cast

from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.parallelcluster.section import SubnetName
from cdk_trainyard.deployment.storage import ExistingLustreSection, LustreSection
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.parallelcluster import CustomAction, NodeScripts
from cdk_trainyard.parallelcluster.resolved import Place
from cdk_trainyard.storage import Lustre

_ACCELERATOR: Final = "subnet-00000000000000000"
_SECRET: Final = "arn:aws:secretsmanager:us-east-1:111111111111:secret:slurm"  # noqa: S105  an ARN
_UNKNOWN: Final = "subnet-0000000000000000f"


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """The subnets of a network section, those that will be made by made-up ids.

    Attributes:
        accelerator: The accelerator subnet.
        public: The public subnets.
        service: The service subnets.
        zone: Zone of the accelerator subnet, or None when it is not known.
        gives_addresses: Whether instances in the public subnets get a public address. None: not known.
        has_nat: Whether the accelerator subnet reaches the internet.
    """

    accelerator: str = _ACCELERATOR
    public: tuple[str, ...] = (_UNKNOWN,)
    service: tuple[str, ...] = (_UNKNOWN,)
    zone: str | None = None
    gives_addresses: bool | None = None
    has_nat: bool = True

    @classmethod
    def of(cls, section: NetworkSpec | ExistingNetworkSpec | None) -> "Network":
        """Return the network of a section; without one, a network of which nothing is known.

        Args:
            section: The section, or None when it has not the right form.
        """
        match section:
            case NetworkSpec():
                return cls(
                    public=_made_up(1, section.zones_of_public_subnets),
                    service=_made_up(2, section.service_zones),
                    zone=section.zone,
                    gives_addresses=False,
                    has_nat=section.has_nat,
                )
            case ExistingNetworkSpec():
                return cls(
                    accelerator=section.accelerator_subnet.subnet_id,
                    public=tuple(subnet.subnet_id for subnet in section.public_subnets),
                    service=tuple(subnet.subnet_id for subnet in section.service_subnets),
                    zone=section.zone,
                )
        return cls()

    @property
    def place(self) -> Place:
        """Where nodes are put. Whether they have addresses enough is seen when the network is made."""
        return Place(
            accelerator_subnet=self.accelerator,
            accelerator_cidr=None,
            public_subnets=self.public,
            zone=self.zone,
            has_nat=self.has_nat,
            gives_addresses=self.gives_addresses,
        )


class StandIns:
    """Everything that sections refer to, as values with the one attribute that is looked at.

    Args:
        network: The subnets.
        own_scripts: Whether the scripts folder is the project's own.
    """

    def __init__(self, network: Network, *, own_scripts: bool) -> None:
        self._network = network
        self._scripts = SimpleNamespace(is_own=own_scripts)

    def key(self, arn: str | None) -> Any:
        """Return a key, if one is named."""
        return None if arn is None else SimpleNamespace(key_arn=arn)

    def policy(self, arn: str) -> Any:
        """Return a managed policy."""
        return SimpleNamespace(managed_policy_arn=arn)

    def role(self, arn: str) -> Any:
        """Return a role."""
        return SimpleNamespace(role_arn=arn)

    def secret(self, arn: str) -> Any:
        """Return a secret."""
        return SimpleNamespace(secret_arn=arn)

    def key_pair(self, name: str) -> Any:
        """Return a key pair, of which nobody knows the kind."""
        return SimpleNamespace(key_pair_name=name, type=None)

    def file_system(self, file_system_id: str, security_group_id: str) -> Any:
        """Return an EFS file system."""
        return SimpleNamespace(file_system_id=file_system_id, security_group_id=security_group_id)

    def database(self, security_group_id: str, port: int) -> Any:
        """Return a database."""
        return SimpleNamespace(security_group_id=security_group_id, port=port)

    def new_database(self, section: AccountingSection) -> Any:
        """Return a database that will be made; its own rules are asked when it is."""
        return SimpleNamespace(
            endpoint="database",
            port=3306,
            user="slurm",
            schema_name=section.schema_name,
            password_secret=self.secret(_SECRET),
        )

    def subnets(self, name: SubnetName) -> Any:
        """Return the subnets of a kind."""
        network = self._network
        ids = {"accelerator": (network.accelerator,), "public": network.public, "service": network.service}[name]
        return [SimpleNamespace(subnet_id=one) for one in ids]

    def run(self, script: str, args: Sequence[str]) -> CustomAction:
        """Return the action that runs a file of the scripts folder, whether it is there or not."""
        return CustomAction(args=args, scripts=cast("NodeScripts", self._scripts), entry=script)


def lustre(section: LustreSection | ExistingLustreSection | None, network: Network) -> dict[str, Lustre]:
    """Return the deployment's own file system, by where it is mounted.

    Args:
        section: What the file says of it, if anything.
        network: Where nodes and new file systems are.
    """
    match section:
        case ExistingLustreSection(file_system_id=file_system_id, zone=zone):
            pass
        case LustreSection():
            file_system_id, zone = "fs-00000000000000000", network.zone
        case None:
            return {}
    known = SimpleNamespace(file_system_id=file_system_id, efa_enabled=section.efa_enabled, zone=zone)
    return {section.at: cast("Lustre", known)}


def _made_up(kind: int, zones: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"subnet-{kind:01x}{index:016x}" for index in range(len(zones)))
