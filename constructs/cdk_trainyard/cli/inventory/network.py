"""The network: VPC, subnets, the way out, security groups."""

from collections.abc import Iterator
from typing import Any

from cdk_trainyard.cli.inventory.account import Account, Row, row, tag

_NOBODY = "255.255.255.255/32"  # no host has it: a group without any rule would let everything out


def network(aws: Account) -> Iterator[Row]:
    """The VPC, its subnets with their purpose, the way out."""
    for vpc in aws.found("EC2::VPC", "ec2", "describe_vpcs", "VpcIds", "Vpcs"):
        yield row("VPC", vpc["VpcId"], vpc["CidrBlock"])
    for subnet in aws.found("EC2::Subnet", "ec2", "describe_subnets", "SubnetIds", "Subnets"):
        zone = f"{subnet['AvailabilityZone']} ({subnet['AvailabilityZoneId']})"
        free = f"{subnet['AvailableIpAddressCount']} free addresses"
        yield row("  subnet", subnet["SubnetId"], tag(subnet, "Name"), subnet["CidrBlock"], zone, free)
    for gateway in aws.found("EC2::NatGateway", "ec2", "describe_nat_gateways", "NatGatewayIds", "NatGateways"):
        public = [address.get("PublicIp", "?") for address in gateway["NatGatewayAddresses"]]
        yield row("  NAT gateway", gateway["NatGatewayId"], f"in {gateway['SubnetId']}", gateway["State"], *public)
    for endpoint in aws.found("EC2::VPCEndpoint", "ec2", "describe_vpc_endpoints", "VpcEndpointIds", "VpcEndpoints"):
        yield row("  endpoint", endpoint["VpcEndpointId"], endpoint["ServiceName"], endpoint["VpcEndpointType"])
    for flow_log in aws.found("EC2::FlowLog", "ec2", "describe_flow_logs", "FlowLogIds", "FlowLogs"):
        yield row("  flow log", flow_log["FlowLogId"], flow_log.get("LogGroupName", flow_log.get("LogDestination")))


def security_groups(aws: Account) -> Iterator[Row]:
    """Every security group's rules, in words."""
    for group in aws.found("EC2::SecurityGroup", "ec2", "describe_security_groups", "GroupIds", "SecurityGroups"):
        yield row("security group", group["GroupId"], group["Description"])
        for way, side in (("from", "IpPermissions"), ("to", "IpPermissionsEgress")):
            for rule in group[side]:
                for peer in peers(rule):
                    shown = "itself" if peer == group["GroupId"] else peer
                    yield row(f"  {way}", *(["nobody"] if peer == _NOBODY else [shown, ports(rule)]))


def peers(rule: dict[str, Any]) -> Iterator[str]:
    """Who the rule is about; CDK writes a rule about nobody where nothing is let out."""
    yield from (pair["GroupId"] for pair in rule.get("UserIdGroupPairs", []))
    yield from (block["CidrIp"] for block in rule.get("IpRanges", []))
    yield from (block["CidrIpv6"] for block in rule.get("Ipv6Ranges", []))


def ports(rule: dict[str, Any]) -> str:
    """What the rule lets through."""
    if rule["IpProtocol"] == "-1":
        return "all traffic"
    first, last = rule.get("FromPort"), rule.get("ToPort")
    return f"{rule['IpProtocol']} {first if first == last else f'{first}-{last}'}"
