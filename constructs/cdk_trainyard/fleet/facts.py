"""What is around a fleet, as plain facts: constructs and deployment files say the same of it. No CDK."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cdk_trainyard.lifecycle.spec import Exporters
from cdk_trainyard.options.kinds import NOWHERE, Environment
from cdk_trainyard.storage.mount_facts import MountFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetFacts:
    """What is around a fleet.

    Attributes:
        environment: Region and account of its stack.
        zone: The network's zone. None: not known.
        network_region: The network's Region. None: not known, or compared already.
        accelerator_subnet: What tells the nodes' subnet from others. None: not known.
        accelerator_cidr: Its block. None: not known.
        endpoint_addresses: How many of its addresses interface endpoints take, as far as it is known.
        has_nat: Whether the nodes reach the internet.
        endpoints: Services that they have endpoints of without, as far as they are known.
        mounts: File systems that they mount.
        masters: How many masters are made beside them, as far as it is known.
        placement_group: Whether a placement group is given.
        extra_security_groups: Security groups beside the first.
        scrape_seconds: How many seconds lie between two samples of its metrics. None: they go nowhere.
        exporters: What its nodes were said to run for them. None: nothing was said.
    """

    environment: Environment = NOWHERE
    zone: str | None = None
    network_region: str | None = None
    accelerator_subnet: str | None = None
    accelerator_cidr: str | None = None
    endpoint_addresses: int = 0
    has_nat: bool = True
    endpoints: Collection[str] = ()
    mounts: Sequence[MountFacts] = ()
    masters: int = 0
    placement_group: bool = False
    extra_security_groups: int = 0
    scrape_seconds: int | None = None
    exporters: Exporters | None = None
