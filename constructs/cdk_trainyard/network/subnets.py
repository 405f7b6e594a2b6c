"""The subnets of a network, one at a time, each in a zone given by name or by id, and their routes out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import TypeVar

import jsii
from aws_cdk import IStableStringProducer, Lazy, Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.instances import is_zone_id, zone_region
from cdk_trainyard.network.spec import Nat
from cdk_trainyard.network.subnet_layout import LayoutRequest, SubnetLayout
from cdk_trainyard.network.vpc import SubnetGroup

SERVICE = "Service"
"""The name of the service subnets as a group."""
_ZONE_REASON = "the zone is the user's own choice: capacity and EFA depend on it, so nothing else may pick one"
_INTERNET_REASON = "a public subnet, for NAT gateways, load balancers and head nodes; no address is given out unasked"
_Kind = TypeVar("_Kind", ec2.PublicSubnet, ec2.PrivateSubnet)
_LOCAL_ZONE_ID = re.compile(r"[a-z0-9]+-([a-z]{3})([0-9]+)-az[0-9]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkSubnets:
    """All subnets of a network.

    Attributes:
        accelerator: The accelerator subnet.
        public: Zone to public subnet.
        service: Zone to service subnet.
    """

    accelerator: ec2.PrivateSubnet
    public: Mapping[str, ec2.PublicSubnet]
    service: Mapping[str, ec2.PrivateSubnet]

    def groups(self, nat: Nat) -> list[SubnetGroup]:
        """Return them as groups; service subnets first, so that one subnet of a zone is never the accelerators'."""
        private = ec2.SubnetType.PRIVATE_ISOLATED if nat == Nat.NONE else ec2.SubnetType.PRIVATE_WITH_EGRESS
        return [
            SubnetGroup(name=SERVICE, type=private, subnets=tuple(self.service.values())),
            SubnetGroup(name="Accelerator", type=private, subnets=(self.accelerator,)),
            SubnetGroup(name="Public", type=ec2.SubnetType.PUBLIC, subnets=tuple(self.public.values())),
        ]


def define_subnets(scope: Construct, vpc: ec2.CfnVPC, request: LayoutRequest, layout: SubnetLayout) -> NetworkSubnets:
    """Define the subnets of a network, each with a route table; the private ones still without a route out.

    Args:
        scope: The network.
        vpc: Its VPC.
        request: The zones.
        layout: The blocks.
    """
    zones = _Zones()
    accelerator = ec2.PrivateSubnet(
        scope,
        "Accelerator",
        vpc_id=vpc.ref,
        cidr_block=str(layout.accelerator),
        availability_zone=zones.name(request.zone),
        map_public_ip_on_launch=False,
    )
    zones.place(accelerator, request.zone)
    _tag(accelerator, "Accelerator", "Private")
    if request.secondary_cidr is not None:
        block = ec2.CfnVPCCidrBlock(scope, "SecondaryCidr", vpc_id=vpc.ref, cidr_block=str(request.secondary_cidr))
        accelerator.node.add_dependency(block)
    return NetworkSubnets(
        accelerator=accelerator,
        public=_public(scope, vpc, layout.public, zones) if layout.public else {},
        service=_service(scope, vpc, layout.service, zones) if layout.service else {},
    )


def add_nat(subnets: NetworkSubnets, zone: str, nat: Nat) -> tuple[str, ...]:
    """Give the private subnets their routes to NAT gateways, and return the ids of those.

    Args:
        subnets: The subnets.
        zone: The accelerator subnet's zone.
        nat: How many gateways.
    """
    if nat == Nat.NONE:
        return ()
    private = [(zone, subnets.accelerator), *subnets.service.items()]
    with_gateway = [own if nat == Nat.PER_ZONE else zone for own, _ in private]
    gateways = {own: _nat_gateway(subnets.public[own], own) for own in dict.fromkeys(with_gateway)}
    for own, (_, subnet) in zip(with_gateway, private, strict=True):
        subnet.add_default_nat_route(gateways[own].ref)
    return tuple(gateway.ref for gateway in gateways.values())


def _public(
    scope: Construct, vpc: ec2.CfnVPC, blocks: Mapping[str, IPv4Network], zones: "_Zones"
) -> dict[str, ec2.PublicSubnet]:
    gateway = ec2.CfnInternetGateway(scope, "InternetGateway")
    attachment = ec2.CfnVPCGatewayAttachment(
        scope, "InternetGatewayAttachment", vpc_id=vpc.ref, internet_gateway_id=gateway.ref
    )
    subnets = _one_per_zone(ec2.PublicSubnet, Construct(scope, "Public"), vpc, blocks, zones)
    for subnet in subnets.values():
        _tag(subnet, "Public", "Public")
        subnet.add_default_internet_route(gateway.ref, attachment)
        route = subnet.node.find_child("DefaultRoute")
        acknowledge(route, {"NIST.800.53.R5-VPCNoUnrestrictedRouteToIGW": _INTERNET_REASON})
    return subnets


def _service(
    scope: Construct, vpc: ec2.CfnVPC, blocks: Mapping[str, IPv4Network], zones: "_Zones"
) -> dict[str, ec2.PrivateSubnet]:
    subnets = _one_per_zone(ec2.PrivateSubnet, Construct(scope, "Service"), vpc, blocks, zones)
    for subnet in subnets.values():
        _tag(subnet, SERVICE, "Private")
    return subnets


def _one_per_zone(
    kind: type[_Kind], parent: Construct, vpc: ec2.CfnVPC, blocks: Mapping[str, IPv4Network], zones: "_Zones"
) -> dict[str, _Kind]:
    subnets = {}
    for zone, block in blocks.items():
        subnets[zone] = kind(
            parent,
            zone,
            vpc_id=vpc.ref,
            cidr_block=str(block),
            availability_zone=zones.name(zone),
            map_public_ip_on_launch=False,
        )
        zones.place(subnets[zone], zone)
    return subnets


def _nat_gateway(subnet: ec2.PublicSubnet, zone: str) -> ec2.CfnNatGateway:
    gateway = subnet.add_nat_gateway()
    address = subnet.node.find_child("EIP")
    if isinstance(address, ec2.CfnEIP):
        address.network_border_group = _border_group(zone)
    return gateway


def _border_group(zone: str) -> str | None:
    """Return where the public addresses of a Local Zone are announced, ``us-west-2-lax-1``; None for the Region's."""
    region = zone_region(zone)
    if not is_zone_id(zone):
        return None if zone[:-1] == region else zone[:-1]
    local = _LOCAL_ZONE_ID.fullmatch(zone)
    return f"{region}-{local[1]}-{local[2]}" if local else None


class _Zones:
    """The zones of one VPC's subnets, by name or by id."""

    def __init__(self) -> None:
        self._by_id: dict[str, _ZoneName] = {}

    def name(self, zone: str) -> str:
        """Return the zone's name. Subnets of one zone get one text, so that CDK sees that they share the zone."""
        return self._by_id.setdefault(zone, _ZoneName()).text if is_zone_id(zone) else zone

    def place(self, subnet: ec2.Subnet, zone: str) -> None:
        """Put a subnet into its zone."""
        resource = subnet.node.default_child
        if not isinstance(resource, ec2.CfnSubnet):
            raise TypeError(f"{subnet.node.path} has no L1 subnet")
        if is_zone_id(zone):
            self._by_id[zone].subnets.append(resource)
            resource.availability_zone = None
            resource.availability_zone_id = zone
        else:
            acknowledge(resource, dict.fromkeys(("TemplateValidation::W3010", "W3010"), _ZONE_REASON))


@jsii.implements(IStableStringProducer)
class _ZoneName:
    """The name of a zone that is given by its id: the account knows it, through a subnet that stands there."""

    def __init__(self) -> None:
        self.subnets: list[ec2.CfnSubnet] = []
        self.text = Lazy.string(self)

    def produce(self) -> str:
        return self.subnets[0].attr_availability_zone


def _tag(subnet: ec2.Subnet, group: str, kind: str) -> None:
    """Add the tags that ``ec2.Vpc.from_lookup`` of other apps tells groups by."""
    tags = Tags.of(subnet)
    for key, value in (("aws-cdk:subnet-name", group), ("aws-cdk:subnet-type", kind)):
        tags.add(key, value, include_resource_types=["AWS::EC2::Subnet"])
