"""The ``network:`` section: a new VPC, or one that exists."""

from typing import Annotated, Literal

from pydantic import Field

from cdk_trainyard.deployment._section import (
    LAX,
    Cidr,
    OrExisting,
    RetentionDays,
    RouteTableId,
    Section,
    SecurityGroupId,
    SubnetId,
    VpcId,
    Zone,
)
from cdk_trainyard.network import Endpoint, Nat


class NetworkSection(Section):
    """A new VPC with one accelerator subnet, in the zone that you name."""

    zone: Zone
    """Zone of the accelerator subnet, where nodes and file systems are: a name or an id, as use1-az4."""
    cidr: Cidr = "10.1.0.0/16"
    """Addresses of the VPC. Default: 10.1.0.0/16."""
    secondary_cidr: Cidr | None = None
    """Further addresses, for the accelerator subnet alone. Default - none."""
    accelerator_mask: Annotated[int | None, Field(examples=[17])] = None
    """Prefix length of the accelerator subnet. Default - half of the VPC."""
    accelerator_cidr: Cidr | None = None
    """Addresses of the accelerator subnet, instead of accelerator_mask. Default - chosen in the VPC."""
    public_zones: tuple[Zone, ...] = ()
    """Zones with a public subnet. Default - the accelerator subnet's, for the NAT gateway."""
    service_zones: tuple[Zone, ...] = ()
    """Zones with a private subnet for services that want several, as databases. Default - none."""
    nat: Annotated[Nat, LAX] = Nat.ONE
    """NAT gateways: one, per-zone or none. Default: one."""
    interface_endpoints: tuple[Annotated[Endpoint, LAX], ...] = ()
    """AWS services that are reached inside the VPC, at a price by the hour. Default - none; S3 always is, for free."""
    public_buckets: tuple[Annotated[str, Field(examples=["a-public-data-set"])], ...] = ()
    """Names of buckets of this Region that nodes read without credentials, as public data sets. Default - none."""
    flow_logs_retention_days: Literal[0, RetentionDays] = 90
    """How long the VPC's flow logs are kept; 0 turns them off. Default: 90."""

    @property
    def has_nat(self) -> bool:
        """Whether the accelerator subnet reaches the internet."""
        return self.nat is not Nat.NONE

    @property
    def zones_of_public_subnets(self) -> tuple[str, ...]:
        """Every zone with a public subnet, the accelerator subnet's first where a NAT gateway stands in it."""
        own = [self.zone] if self.has_nat else []
        return tuple(dict.fromkeys([*own, *self.public_zones]))


class SubnetSection(Section):
    """A subnet that exists already."""

    subnet_id: SubnetId
    """Its id."""
    zone: Zone
    """Its zone."""
    cidr: Cidr | None = None
    """Its addresses. Default - unknown; whether the nodes fit is not checked."""
    route_table_id: RouteTableId | None = None
    """Its route table. Default - unknown; nothing can be routed from here."""


class ExistingNetworkSection(Section):
    """A VPC that exists already."""

    vpc_id: VpcId
    """Its id."""
    accelerator_subnet: SubnetSection
    """The subnet of nodes and file systems."""
    public_subnets: tuple[SubnetSection, ...] = ()
    """Subnets with a route to an internet gateway. Default - none."""
    service_subnets: tuple[SubnetSection, ...] = ()
    """Private subnets for services, in two zones or more. Default - none."""
    cidr: Cidr | None = None
    """Addresses of the VPC. Default - unknown."""
    security_group_id: SecurityGroupId | None = None
    """A security group of yours for nodes and file systems. Default - one is made."""
    self_rules_exist: bool = False
    """Whether that group lets all traffic to and from itself already; otherwise both rules are added.
    Default: false."""

    @property
    def zone(self) -> str:
        """The zone of nodes and file systems."""
        return self.accelerator_subnet.zone

    @property
    def has_nat(self) -> bool:
        """Whether the accelerator subnet reaches the internet: taken for granted, as routes are not looked up."""
        return True


AnyNetwork = Annotated[NetworkSection | ExistingNetworkSection, OrExisting("vpc_id")]
"""A new VPC, or with ``vpc_id`` one that exists."""
