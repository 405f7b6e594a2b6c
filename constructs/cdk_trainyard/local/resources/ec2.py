"""EC2's networks: VPCs, subnets, gateways, routes, endpoints, flow logs."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.resources.ec2_common import EC2, RETAG, tagged
from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import answer, constant, identity, nothing

_DESTINATIONS = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")


def _vpc_attributes(it: Resource) -> None:
    for name in ("EnableDnsSupport", "EnableDnsHostnames"):
        if name in it:
            it.call("ec2", "modify_vpc_attribute", {"VpcId": it.id, name: {"Value": it[name]}})


def _vpc(it: Resource) -> Any:
    return it.call("ec2", "describe_vpcs", {"VpcIds": [it.id]})["Vpcs"][0]


def _of_vpc(operation: str, path: str, key: str, more: Mapping[str, str]) -> Any:
    def read(it: Resource) -> Any:
        filters = [{"Name": name, "Values": [value]} for name, value in {"vpc-id": it.id, **more}.items()]
        return it.call("ec2", operation, {"Filters": filters})[path][0][key]

    return read


def _subnet_attributes(it: Resource) -> None:
    for name in ("MapPublicIpOnLaunch", "AssignIpv6AddressOnCreation"):
        if name in it:
            it.call("ec2", "modify_subnet_attribute", {"SubnetId": it.id, name: {"Value": it[name]}})


def _subnet_network_acl(it: Resource) -> Any:
    filters = [{"Name": "association.subnet-id", "Values": [it.id]}]
    acl = it.call("ec2", "describe_network_acls", {"Filters": filters})["NetworkAcls"][0]
    mine = (found for found in acl["Associations"] if found["SubnetId"] == it.id)
    return next(mine)["NetworkAclAssociationId"]


def _attachment(it: Resource) -> dict[str, Any]:
    return it.pick("InternetGatewayId", "VpcId")


def _route(it: Resource) -> dict[str, Any]:
    return it.pick("RouteTableId", *_DESTINATIONS)


def _route_id(it: Resource) -> str:
    return "|".join(str(value) for value in _route(it).values())


def _live_route(it: Resource) -> Mapping[str, Any] | None:
    table = it.call("ec2", "describe_route_tables", {"RouteTableIds": [it["RouteTableId"]]})["RouteTables"][0]
    mine = [
        row for row in table["Routes"] if all(row.get(key) == value for key, value in it.pick(*_DESTINATIONS).items())
    ]
    return {name: mine[0].get(name) for name in ("GatewayId", "NatGatewayId") if name in it} if mine else None


def _endpoint(it: Resource) -> dict[str, Any]:
    return {
        "VpcEndpointType": it.get("VpcEndpointType", "Gateway"),
        **({"PolicyDocument": it["PolicyDocument"]} if "PolicyDocument" in it else {}),
        **tagged(it, "vpc-endpoint"),
    }


_ENDPOINT_LISTS = ("RouteTableIds", "SubnetIds", "SecurityGroupIds")


def _change_endpoint(it: Resource) -> None:
    changes: dict[str, Any] = {"VpcEndpointId": it.id}
    for name in _ENDPOINT_LISTS:
        old, new = set(it.previous.get(name, [])), set(it.get(name, []))
        changes |= {f"Add{name}": sorted(new - old), f"Remove{name}": sorted(old - new)}
    changes |= it.pick("PolicyDocument", "PrivateDnsEnabled")
    it.call("ec2", "modify_vpc_endpoint", {name: value for name, value in changes.items() if value != []})


def _endpoint_entries(it: Resource) -> list[str]:
    return [
        f"{entry.get('HostedZoneId', '')}:{entry['DnsName']}" for entry in answer("VpcEndpoint.DnsEntries")(it) or []
    ]


def _flow_log(it: Resource) -> dict[str, Any]:
    return {"ResourceIds": [it["ResourceId"]], **tagged(it, "vpc-flow-log")}


TYPES = (
    ResourceType(
        name="AWS::EC2::VPC",
        create=EC2.apply("create_vpc", lambda it: tagged(it, "vpc")),
        identity=answer("Vpc.VpcId"),
        settle=_vpc_attributes,
        update=_vpc_attributes,
        retag=RETAG,
        delete=EC2.forget("delete_vpc", lambda it: {"VpcId": it.id}),
        read=EC2.read("describe_vpcs", lambda it: {"VpcIds": [it.id]}, "Vpcs[0].{CidrBlock: CidrBlock}"),
        attributes={
            "VpcId": identity,
            "CidrBlock": answer("Vpc.CidrBlock"),
            "CidrBlockAssociations": lambda it: [row["AssociationId"] for row in _vpc(it)["CidrBlockAssociationSet"]],
            "Ipv6CidrBlocks": lambda it: [
                row["Ipv6CidrBlock"] for row in _vpc(it).get("Ipv6CidrBlockAssociationSet", [])
            ],
            "DefaultNetworkAcl": _of_vpc("describe_network_acls", "NetworkAcls", "NetworkAclId", {"default": "true"}),
            "DefaultSecurityGroup": _of_vpc(
                "describe_security_groups", "SecurityGroups", "GroupId", {"group-name": "default"}
            ),
        },
    ),
    ResourceType(
        name="AWS::EC2::VPCCidrBlock",
        create=EC2.apply("associate_vpc_cidr_block"),
        identity=answer("CidrBlockAssociation.AssociationId || Ipv6CidrBlockAssociation.AssociationId"),
        delete=EC2.forget("disassociate_vpc_cidr_block", lambda it: {"AssociationId": it.id}),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::EC2::Subnet",
        create=EC2.apply("create_subnet", lambda it: tagged(it, "subnet")),
        identity=answer("Subnet.SubnetId"),
        settle=_subnet_attributes,
        update=_subnet_attributes,
        retag=RETAG,
        delete=EC2.forget("delete_subnet", lambda it: {"SubnetId": it.id}),
        read=EC2.read(
            "describe_subnets",
            lambda it: {"SubnetIds": [it.id]},
            "Subnets[0].{CidrBlock: CidrBlock, MapPublicIpOnLaunch: MapPublicIpOnLaunch}",
        ),
        attributes={
            "SubnetId": identity,
            "AvailabilityZone": answer("Subnet.AvailabilityZone"),
            "AvailabilityZoneId": answer("Subnet.AvailabilityZoneId"),
            "CidrBlock": answer("Subnet.CidrBlock"),
            "Ipv6CidrBlocks": constant([]),
            "NetworkAclAssociationId": _subnet_network_acl,
            "OutpostArn": constant(""),
            "VpcId": answer("Subnet.VpcId"),
        },
    ),
    ResourceType(
        name="AWS::EC2::InternetGateway",
        create=EC2.call("create_internet_gateway", lambda it: tagged(it, "internet-gateway")),
        identity=answer("InternetGateway.InternetGatewayId"),
        retag=RETAG,
        delete=EC2.forget("delete_internet_gateway", lambda it: {"InternetGatewayId": it.id}),
        read=EC2.read("describe_internet_gateways", lambda it: {"InternetGatewayIds": [it.id]}),
        attributes={"InternetGatewayId": identity},
    ),
    ResourceType(
        name="AWS::EC2::VPCGatewayAttachment",
        create=EC2.call("attach_internet_gateway", _attachment),
        identity=lambda it: f"IGW|{it['VpcId']}",
        delete=EC2.forget("detach_internet_gateway", _attachment),
        attributes={"AttachmentType": constant("IGW")},
        replace_also=frozenset({"InternetGatewayId"}),
    ),
    ResourceType(
        name="AWS::EC2::NatGateway",
        create=EC2.apply("create_nat_gateway", lambda it: tagged(it, "natgateway")),
        identity=answer("NatGateway.NatGatewayId"),
        retag=RETAG,
        delete=EC2.forget("delete_nat_gateway", lambda it: {"NatGatewayId": it.id}),
        read=EC2.read(
            "describe_nat_gateways",
            lambda it: {"NatGatewayIds": [it.id]},
            "NatGateways[?State=='available'] | [0].{SubnetId: SubnetId}",
        ),
        attributes={"NatGatewayId": identity, "EniId": answer("NatGateway.NatGatewayAddresses[0].NetworkInterfaceId")},
    ),
    ResourceType(
        name="AWS::EC2::RouteTable",
        create=EC2.apply("create_route_table", lambda it: tagged(it, "route-table")),
        identity=answer("RouteTable.RouteTableId"),
        retag=RETAG,
        delete=EC2.forget("delete_route_table", lambda it: {"RouteTableId": it.id}),
        read=EC2.read("describe_route_tables", lambda it: {"RouteTableIds": [it.id]}),
        attributes={"RouteTableId": identity},
    ),
    ResourceType(
        name="AWS::EC2::Route",
        create=EC2.apply("create_route"),
        identity=_route_id,
        update=EC2.put("replace_route"),
        delete=EC2.forget("delete_route", _route),
        read=_live_route,
        attributes={"CidrBlock": lambda it: next(iter(it.pick(*_DESTINATIONS).values()))},
    ),
    ResourceType(
        name="AWS::EC2::SubnetRouteTableAssociation",
        create=EC2.apply("associate_route_table"),
        identity=answer("AssociationId"),
        delete=EC2.forget("disassociate_route_table", lambda it: {"AssociationId": it.id}),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::EC2::VPCEndpoint",
        create=EC2.apply("create_vpc_endpoint", _endpoint),
        identity=answer("VpcEndpoint.VpcEndpointId"),
        update=_change_endpoint,
        retag=RETAG,
        delete=EC2.forget("delete_vpc_endpoints", lambda it: {"VpcEndpointIds": [it.id]}),
        read=EC2.read(
            "describe_vpc_endpoints",
            lambda it: {"VpcEndpointIds": [it.id]},
            "VpcEndpoints[?State!='deleted'] | [0].{ServiceName: ServiceName, RouteTableIds: RouteTableIds}",
        ),
        attributes={
            "Id": identity,
            "CreationTimestamp": lambda it: str(answer("VpcEndpoint.CreationTimestamp")(it)),
            "DnsEntries": _endpoint_entries,
            "NetworkInterfaceIds": answer("VpcEndpoint.NetworkInterfaceIds"),
        },
    ),
    ResourceType(
        name="AWS::EC2::FlowLog",
        create=EC2.apply("create_flow_logs", _flow_log),
        identity=answer("FlowLogIds[0]"),
        retag=RETAG,
        delete=EC2.forget("delete_flow_logs", lambda it: {"FlowLogIds": [it.id]}),
        read=EC2.read(
            "describe_flow_logs", lambda it: {"FlowLogIds": [it.id]}, "FlowLogs[0].{TrafficType: TrafficType}"
        ),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::CDK::Metadata",
        create=lambda it: it.pick("Analytics"),
        identity=lambda it: it.where.logical_id,
        update=lambda it: it.pick("Analytics"),
        delete=nothing,
    ),
)
