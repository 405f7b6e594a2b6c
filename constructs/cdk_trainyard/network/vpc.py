"""The VPC as other constructs see it: an ``ec2.IVpc`` over subnets that differ from zone to zone.

``ec2.Vpc`` makes the same subnets in every zone and picks the zones itself, by looking them up in the account or by
their place in a list. A training network names one zone and puts other subnets elsewhere, so its subnets are made one
by one, and this class answers for them. CDK's own constructs take it like any other VPC.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import jsii
from aws_cdk import Aspects, IAspect, RemoveTag, Resource, Tag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, DependencyGroup, IConstruct, IDependable

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.network.rules_resources import subnet_selection_problems

if TYPE_CHECKING:  # a large module, needed for its name alone
    from aws_cdk.interfaces.aws_ec2 import VPCReference


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetGroup:
    """Subnets of one purpose.

    Attributes:
        name: The name that ``ec2.SubnetSelection(subnet_group_name=...)`` selects them by.
        type: PUBLIC, PRIVATE_WITH_EGRESS or PRIVATE_ISOLATED.
        subnets: The subnets.
    """

    name: str
    type: ec2.SubnetType
    subnets: tuple[ec2.ISubnet, ...]


@jsii.implements(ec2.IVpc)
class NetworkVpc(Resource):
    """An ``ec2.IVpc`` over a VPC and its subnets. Defines nothing itself.

    ``Tags.of(vpc)`` reaches the VPC, its subnets, their route tables and gateways, as that of an ``ec2.Vpc`` does.

    Args:
        vpc: The VPC.
        cidr: Its block, written out: rules that use it stay readable to reviewers' tools.
        groups: Its subnets. Selections return them in this order.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, vpc: ec2.CfnVPC, cidr: str, groups: Sequence[SubnetGroup]
    ) -> None:
        super().__init__(scope, construct_id)
        self._vpc = vpc
        self._cidr = cidr
        self._groups = [group for group in groups if group.subnets]
        self._vpn_gateway_id: str | None = None
        Aspects.of(self).add(_TagsOnward(self))

    @property
    def vpc_id(self) -> str:
        """Its id."""
        return self._vpc.ref

    @property
    def vpc_arn(self) -> str:
        """Its ARN."""
        return self.stack.format_arn(service="ec2", resource="vpc", resource_name=self._vpc.ref)

    @property
    def vpc_ref(self) -> "VPCReference":
        """Its reference."""
        return self._vpc.vpc_ref

    @property
    def vpc_cidr_block(self) -> str:
        """Its block, without the secondary one."""
        return self._cidr

    @property
    def availability_zones(self) -> list[str]:
        """The zones with a subnet."""
        return list(dict.fromkeys(subnet.availability_zone for group in self._groups for subnet in group.subnets))

    @property
    def public_subnets(self) -> list[ec2.ISubnet]:
        """Subnets with a route to the internet gateway."""
        return self._of_type(ec2.SubnetType.PUBLIC.name)

    @property
    def private_subnets(self) -> list[ec2.ISubnet]:
        """Subnets with a route to a NAT gateway."""
        return self._of_type(ec2.SubnetType.PRIVATE_WITH_EGRESS.name)

    @property
    def isolated_subnets(self) -> list[ec2.ISubnet]:
        """Subnets without a route out."""
        return self._of_type(ec2.SubnetType.PRIVATE_ISOLATED.name)

    @property
    def internet_connectivity_established(self) -> IDependable:
        """The routes out of all subnets."""
        return _routes([subnet for group in self._groups for subnet in group.subnets])

    @property
    def vpn_gateway_id(self) -> str | None:
        """The VPN gateway's id, when there is one."""
        return self._vpn_gateway_id

    def select_subnets(
        self,
        *,
        availability_zones: Sequence[str] | None = None,
        one_per_az: bool | None = None,
        subnet_filters: Sequence[ec2.SubnetFilter] | None = None,
        subnet_group_name: str | None = None,
        subnets: Sequence[ec2.ISubnet] | None = None,
        subnet_type: ec2.SubnetType | None = None,
    ) -> ec2.SelectedSubnets:
        """Select subnets as ``ec2.Vpc`` does: by group, by type, or the private ones. See ``ec2.SubnetSelection``."""
        chosen = self._select(
            ec2.SubnetSelection(
                availability_zones=availability_zones,
                one_per_az=one_per_az,
                subnet_filters=subnet_filters,
                subnet_group_name=subnet_group_name,
                subnets=subnets,
                subnet_type=subnet_type,
            )
        )
        public = {subnet.subnet_id for subnet in self.public_subnets}
        return ec2.SelectedSubnets(
            availability_zones=[subnet.availability_zone for subnet in chosen],
            has_public=any(subnet.subnet_id in public for subnet in chosen),
            internet_connectivity_established=_routes(chosen),
            subnet_ids=[subnet.subnet_id for subnet in chosen],
            subnets=chosen,
        )

    def add_gateway_endpoint(self, id: str, **options: Any) -> ec2.GatewayVpcEndpoint:  # noqa: A002
        """Add a gateway endpoint to all route tables. See ``ec2.GatewayVpcEndpointOptions``."""
        return ec2.GatewayVpcEndpoint(self, id, vpc=self, **options)

    def add_interface_endpoint(self, id: str, **options: Any) -> ec2.InterfaceVpcEndpoint:  # noqa: A002
        """Add an interface endpoint. See ``ec2.InterfaceVpcEndpointOptions``."""
        return ec2.InterfaceVpcEndpoint(self, id, vpc=self, **options)

    def add_flow_log(self, id: str, **options: Any) -> ec2.FlowLog:  # noqa: A002
        """Add a further flow log. See ``ec2.FlowLogOptions``."""
        return ec2.FlowLog(self, id, resource_type=ec2.FlowLogResourceType.from_vpc(self), **options)

    def add_client_vpn_endpoint(self, id: str, **options: Any) -> ec2.ClientVpnEndpoint:  # noqa: A002
        """Add a client VPN endpoint. See ``ec2.ClientVpnEndpointOptions``."""
        return ec2.ClientVpnEndpoint(self, id, vpc=self, **options)

    def add_vpn_connection(self, id: str, **options: Any) -> ec2.VpnConnection:  # noqa: A002
        """Add a site-to-site VPN connection, and a VPN gateway if there is none. See ``ec2.VpnConnectionOptions``."""
        return ec2.VpnConnection(self, id, vpc=self, **options)

    def enable_vpn_gateway(
        self,
        *,
        vpn_route_propagation: Sequence[ec2.SubnetSelection | dict[str, Any]] | None = None,
        type: str,  # noqa: A002
        amazon_side_asn: float | None = None,
    ) -> None:
        """Add a VPN gateway, its routes propagated to the selected subnets. See ``ec2.EnableVpnGatewayOptions``."""
        gateway = ec2.VpnGateway(self, "VpnGateway", type=type, amazon_side_asn=amazon_side_asn)
        self._vpn_gateway_id = gateway.gateway_id
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "VpnGatewayAttachment", vpc_id=self.vpc_id, vpn_gateway_id=gateway.gateway_id
        )
        selections = [
            given if isinstance(given, ec2.SubnetSelection) else ec2.SubnetSelection(**given)
            for given in vpn_route_propagation or [{}]
        ]
        subnets = [subnet for selection in selections for subnet in self._select(selection)]
        ec2.CfnVPNGatewayRoutePropagation(
            self,
            "VpnRoutePropagation",
            route_table_ids=list(dict.fromkeys(subnet.route_table.route_table_id for subnet in subnets)),
            vpn_gateway_id=gateway.gateway_id,
        ).add_dependency(attachment)

    def _select(self, selection: ec2.SubnetSelection) -> list[ec2.ISubnet]:
        types = {group.name: group.type.name for group in self._groups}
        wanted = _TYPE_NAMES.get(selection.subnet_type.name) if selection.subnet_type else None
        raise_problems(
            self,
            subnet_selection_problems(
                subnets_given=selection.subnets is not None,
                group_name=selection.subnet_group_name,
                type_name=wanted,
                groups=types,
            ),
        )
        if selection.subnets is not None:
            return list(selection.subnets)
        chosen = self._of_group(selection.subnet_group_name) if selection.subnet_group_name else self._of_type(wanted)
        for subnet_filter in _filters(selection):
            chosen = subnet_filter.select_subnets(chosen)
        return chosen

    def _of_group(self, name: str) -> list[ec2.ISubnet]:
        return [subnet for group in self._groups if group.name == name for subnet in group.subnets]

    def _of_type(self, name: str | None) -> list[ec2.ISubnet]:
        if name is None:
            return self.private_subnets or self.isolated_subnets or self.public_subnets
        return [subnet for group in self._groups if group.type.name == name for subnet in group.subnets]


@jsii.implements(IAspect)
class _TagsOnward:
    """Carries tags of the VPC to what is made beside it: CDK carries them to what is made inside it, which is nothing.

    A tag of a subnet still counts more than one of the VPC.
    """

    def __init__(self, vpc: NetworkVpc) -> None:
        self._vpc = vpc

    def visit(self, node: IConstruct) -> None:
        network = self._vpc.node.scope if node is self._vpc else None
        if network is not None and (tags := _tags_of(node)):
            # what comes later, as endpoints, is no part of the VPC, and has yet to get the tags of the stack
            for child in takewhile(lambda child: child is not self._vpc, network.node.children):
                _carry(child, tags)


def _carry(construct: IConstruct, inherited: Sequence[Tag | RemoveTag]) -> None:
    tags = [*inherited, *_tags_of(construct)]
    for tag in tags:
        tag.visit(construct)
    for child in construct.node.children:
        _carry(child, tags)


def _tags_of(construct: IConstruct) -> list[Tag | RemoveTag]:
    return [aspect for aspect in Aspects.of(construct).all if isinstance(aspect, Tag | RemoveTag)]


# ISOLATED, PRIVATE and PRIVATE_WITH_NAT are former names that CDK still takes
_TYPE_NAMES = {
    "PUBLIC": "PUBLIC",
    "PRIVATE_WITH_EGRESS": "PRIVATE_WITH_EGRESS",
    "PRIVATE_WITH_NAT": "PRIVATE_WITH_EGRESS",
    "PRIVATE": "PRIVATE_WITH_EGRESS",
    "PRIVATE_ISOLATED": "PRIVATE_ISOLATED",
    "ISOLATED": "PRIVATE_ISOLATED",
}


def _filters(selection: ec2.SubnetSelection) -> list[ec2.SubnetFilter]:
    filters = list(selection.subnet_filters or ())
    if selection.availability_zones is not None:
        filters.append(ec2.SubnetFilter.availability_zones(selection.availability_zones))
    if selection.one_per_az:
        filters.append(ec2.SubnetFilter.one_per_az())
    return filters


def _routes(subnets: Sequence[ec2.ISubnet]) -> DependencyGroup:
    return DependencyGroup(*(subnet.internet_connectivity_established for subnet in subnets))
