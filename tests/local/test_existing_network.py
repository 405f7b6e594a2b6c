"""A network that exists already: its very ids, found as CDK's lookups find them, and stacks in it."""

from typing import Any

import pytest

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, template

_AT = "arn:aws:ec2:us-west-2:123456789012"
_VPC = "vpc-0123456789abcdef0"
_PUBLIC, _PRIVATE = "subnet-0123456789abcdef0", "subnet-0123456789abcdef1"
_GATEWAY, _NAT, _GROUP = "igw-0123456789abcdef0", "nat-0123456789abcdef0", "sg-0123456789abcdef0"
_TABLES = ("rtb-0123456789abcdef0", "rtb-0123456789abcdef1")
_NETWORK = (
    f"{_AT}:vpc/{_VPC},CidrBlock=10.7.0.0/16",
    f"{_AT}:subnet/{_PUBLIC},VpcId={_VPC},CidrBlock=10.7.0.0/20,AvailabilityZone=us-west-2a,MapPublicIpOnLaunch=true",
    f"{_AT}:subnet/{_PRIVATE},VpcId={_VPC},CidrBlock=10.7.16.0/20,AvailabilityZone=us-west-2b",
    f"{_AT}:internet-gateway/{_GATEWAY},VpcId={_VPC}",
    f"{_AT}:natgateway/{_NAT},SubnetId={_PUBLIC}",
    f"{_AT}:route-table/{_TABLES[0]},VpcId={_VPC},SubnetIds={_PUBLIC},GatewayId={_GATEWAY}",
    f"{_AT}:route-table/{_TABLES[1]},VpcId={_VPC},SubnetIds={_PRIVATE},NatGatewayId={_NAT}",
    f"{_AT}:security-group/{_GROUP},VpcId={_VPC},GroupName=nodes",
)


@pytest.fixture(scope="module")
def network(aws: LocalAws) -> Any:
    """A client of EC2, where a network exists that no stack has made."""
    for arn in _NETWORK:
        aws.add_existing(arn)
    return aws.client("ec2")


def test_it_is_found_by_its_ids(network: Any) -> None:
    (vpc,) = network.describe_vpcs(VpcIds=[_VPC])["Vpcs"]
    assert (vpc["CidrBlock"], vpc["IsDefault"], vpc["OwnerId"]) == ("10.7.0.0/16", False, "123456789012")
    assert network.describe_vpc_attribute(VpcId=_VPC, Attribute="enableDnsHostnames")["EnableDnsHostnames"]["Value"]
    found = network.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [_VPC]}])["Subnets"]
    keys = ("SubnetId", "CidrBlock", "AvailabilityZone", "MapPublicIpOnLaunch")
    assert {tuple(subnet[key] for key in keys) for subnet in found} == {
        (_PUBLIC, "10.7.0.0/20", "us-west-2a", True),
        (_PRIVATE, "10.7.16.0/20", "us-west-2b", False),
    }
    (group,) = network.describe_security_groups(GroupIds=[_GROUP])["SecurityGroups"]
    assert (group["VpcId"], group["GroupName"]) == (_VPC, "nodes")


def test_its_routes_tell_public_subnets_from_private_ones(network: Any) -> None:
    """So CDK's ``Vpc.from_lookup`` tells them: by the association of a subnet and the gateway of its default route."""
    tables = network.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [_VPC]}])["RouteTables"]
    ways = {
        association["SubnetId"]: (table["RouteTableId"], route.get("GatewayId") or route.get("NatGatewayId"))
        for table in tables
        for association in table["Associations"]
        for route in table["Routes"]
        if "SubnetId" in association and route.get("DestinationCidrBlock") == "0.0.0.0/0"
    }
    assert ways == {_PUBLIC: (_TABLES[0], _GATEWAY), _PRIVATE: (_TABLES[1], _NAT)}
    (gateway,) = network.describe_internet_gateways(InternetGatewayIds=[_GATEWAY])["InternetGateways"]
    assert gateway["Attachments"][0]["VpcId"] == _VPC


@pytest.mark.usefixtures("network")
def test_stacks_stand_in_it(stacks: Stacks) -> None:
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": _VPC, "GroupDescription": "x"}}
    interface = {
        "Type": "AWS::EC2::NetworkInterface",
        "Properties": {"SubnetId": _PRIVATE, "GroupSet": [{"Ref": "Group"}, _GROUP]},
    }
    name = stacks.deployed(template({"Group": group, "Interface": interface}))
    assert stacks.physical_id(name, "Group") not in ("", _GROUP), "only what was asked for has a chosen id"
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_a_vpc_that_does_not_exist_is_said_so_in_ec2s_words(stacks: Stacks, aws: LocalAws) -> None:
    """InvalidVpcID.NotFound: Amazon EC2 API Reference, "Error codes"."""
    nowhere = {"VpcId": "vpc-0123456789abcdef9", "GroupDescription": "x"}
    rule = {"CidrIp": "10.0.0.0/8", "IpProtocol": "-1"}
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {**nowhere, "SecurityGroupEgress": [rule]}}
    said = "The vpc ID 'vpc-0123456789abcdef9' does not exist"
    assert stacks.failure(template({"Group": group})).startswith(said)
    subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": nowhere["VpcId"], "CidrBlock": "10.0.0.0/24"}}
    failure = stacks.failure(template({"Subnet": subnet}))
    assert failure.startswith(said)
    assert "InvalidVpcID.NotFound" in failure
    ec2 = aws.client("ec2")
    with pytest.raises(ec2.exceptions.ClientError, match=said):
        ec2.describe_vpcs(VpcIds=[nowhere["VpcId"]])


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    ("arn", "problem"),
    [
        (f"{_AT}:vpc/vpc-0123456789abcdef0,CidrBlock=10.0.0.0/16", "exists already"),
        (f"{_AT}:vpc/mine,CidrBlock=10.0.0.0/16", "cannot be made up: the id of a vpc begins with vpc-"),
        (f"{_AT}:vpc/vpc-01", "lacks CidrBlock, which the ARN does not say: "),
        (f"{_AT}:subnet/subnet-01,CidrBlock=10.7.64.0/24", "lacks VpcId and AvailabilityZone, which the ARN does not"),
        (f"{_AT}:vpc/vpc-01,CidrBlock=10.0.0.0/16,Zone=a", "has Zone, but a vpc takes CidrBlock"),
        (f"{_AT}:key-pair/pair,KeyType=rsa", "has KeyType, but its ARN says everything"),
        (f"{_AT}:vpc/vpc-01,CidrBlock=10.0.0.0/8", "cannot be made up: The CIDR '10.0.0.0/8' is invalid"),
        (f"{_AT}:internet-gateway/igw-01,VpcId=vpc-0f", "cannot be made up: The vpc ID 'vpc-0f' does not exist"),
        (
            f"{_AT}:subnet/subnet-01,VpcId={_VPC},CidrBlock=10.8.0.0/20,AvailabilityZone=us-west-2a",
            "cannot be made up: The CIDR '10.8.0.0/20' is invalid",
        ),
    ],
)
def test_what_cannot_be_made_up_is_refused(aws: LocalAws, arn: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^'arn:aws:ec2:") as caught:
        aws.add_existing(arn)
    assert problem in str(caught.value)
