"""What synthesized templates say of a network: routes, security groups, endpoints, and where things run."""

from collections.abc import Callable
from copy import deepcopy
from ipaddress import IPv4Network
from typing import Any

import pytest

from cdk_trainyard.reach import Place, Region, Route, read_places
from cdk_trainyard.reach.intrinsics import Writer
from tests.reach.parts import US

IMPORTED = {"Fn::ImportValue": {"Fn::Join": ["", ["network", ":Private"]]}}
NETWORK: dict[str, Any] = {
    "Resources": {
        "Vpc": {
            "Type": "AWS::EC2::VPC",
            "Properties": {"CidrBlock": "10.1.0.0/16", "EnableDnsSupport": True, "EnableDnsHostnames": True},
        },
        "Igw": {"Type": "AWS::EC2::InternetGateway"},
        "Attachment": {
            "Type": "AWS::EC2::VPCGatewayAttachment",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": {"Ref": "Igw"}},
        },
        "Public": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.1.0.0/24"},
        },
        "Private": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.1.128.0/17"},
        },
        "PublicHas": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": "Public"}, "RouteTableId": {"Ref": "PublicTable"}},
        },
        "PrivateHas": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": "Private"}, "RouteTableId": {"Ref": "PrivateTable"}},
        },
        "PublicRoute": {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": {"Ref": "PublicTable"},
                "DestinationCidrBlock": "0.0.0.0/0",
                "GatewayId": {"Ref": "Igw"},
            },
        },
        "Nat": {"Type": "AWS::EC2::NatGateway", "Properties": {"SubnetId": {"Ref": "Public"}}},
        "PrivateRoute": {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": {"Ref": "PrivateTable"},
                "DestinationCidrBlock": "0.0.0.0/0",
                "NatGatewayId": {"Ref": "Nat"},
            },
        },
        "S3": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcEndpointType": "Gateway",
                "ServiceName": {"Fn::Join": ["", ["com.amazonaws.", {"Ref": "AWS::Region"}, ".s3"]]},
                "RouteTableIds": [{"Ref": "PrivateTable"}],
                "VpcId": {"Ref": "Vpc"},
            },
        },
        "Ecr": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcEndpointType": "Interface",
                "ServiceName": "com.amazonaws.us-west-2.ecr.api",
                "PrivateDnsEnabled": True,
                "SecurityGroupIds": [{"Fn::GetAtt": ["Endpoints", "GroupId"]}],
                "VpcId": {"Ref": "Vpc"},
            },
        },
        "Endpoints": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {
                "SecurityGroupIngress": [
                    {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.1.0.0/16"}
                ],
            },
        },
    },
    "Outputs": {"Out": {"Value": {"Ref": "Private"}, "Export": {"Name": "network:Private"}}},
}
TRAINING: dict[str, Any] = {
    "Resources": {
        "Group": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {
                "SecurityGroupEgress": [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}]
            },
        },
        "Cluster": {
            "Type": "AWS::SageMaker::Cluster",
            "Properties": {
                "VpcConfig": {"Subnets": [IMPORTED], "SecurityGroupIds": [{"Fn::GetAtt": ["Group", "GroupId"]}]},
                "InstanceGroups": [{"InstanceGroupName": "workers"}],
            },
        },
    },
}


def places(change: Callable[[dict[str, Any], dict[str, Any]], object] = lambda *_: None) -> list[Place]:
    network, training = deepcopy(NETWORK), deepcopy(TRAINING)
    change(network["Resources"], training["Resources"])
    return read_places({"network": network, "training": training}, US)


def test_a_cluster_stands_in_a_subnet_of_another_stack() -> None:
    (place,) = places()
    assert (place.name, place.room, place.at) == ("training/Cluster (workers)", "hyperpod", "node")
    assert place.address == IPv4Network("10.1.128.0/17")
    assert place.vpc == [IPv4Network("10.1.0.0/16")]
    assert place.route is Route.NAT
    assert place.lets_out(443)
    assert not place.lets_out(80)
    assert list(place.gateways) == ["s3"]
    assert list(place.interfaces) == ["ecr.api"]
    assert place.interfaces["ecr.api"].private_dns
    assert place.interfaces["ecr.api"].from_cidrs == (IPv4Network("10.1.0.0/16"),)


@pytest.mark.parametrize(
    "change",
    [
        lambda network, _: network.pop("PrivateRoute"),
        lambda network, _: network.pop("PublicRoute"),
        lambda network, _: network.pop("Attachment"),
        lambda network, _: network.pop("PublicHas"),
        lambda network, _: network["PrivateRoute"]["Properties"].update(DestinationCidrBlock="10.0.0.0/8"),
    ],
    ids=["no route", "NAT without a route", "no gateway attached", "NAT in a subnet without a table", "a narrow route"],
)
def test_a_nat_gateway_is_a_route_to_the_internet_only_when_it_has_one_itself(change: Any) -> None:
    (place,) = places(change)
    assert place.route is Route.NONE


def test_an_endpoint_of_another_route_table_is_of_no_use() -> None:
    (place,) = places(lambda network, _: network["S3"]["Properties"].update(RouteTableIds=[{"Ref": "PublicTable"}]))
    assert place.gateways == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda network, _: network["Ecr"]["Properties"].update(PrivateDnsEnabled=False),
        lambda network, _: network["Vpc"]["Properties"].update(EnableDnsHostnames=False),
    ],
)
def test_private_names_need_the_endpoint_and_the_vpc(change: Any) -> None:
    (place,) = places(change)
    assert not place.interfaces["ecr.api"].private_dns


def test_an_endpoint_lets_in_by_rules_of_their_own_too() -> None:
    def change(network: dict[str, Any], _: object) -> None:
        del network["Endpoints"]["Properties"]["SecurityGroupIngress"]
        rule = {
            "GroupId": {"Fn::GetAtt": ["Endpoints", "GroupId"]},
            "SourceSecurityGroupId": "sg-1",
            "IpProtocol": "-1",
        }
        network["Rule"] = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule}

    (place,) = places(change)
    assert place.interfaces["ecr.api"].from_cidrs == ()
    assert place.interfaces["ecr.api"].from_groups == ("sg-1",)


def test_the_service_of_an_endpoint_in_china_is_the_same() -> None:
    (place,) = places(
        lambda network, _: network["Ecr"]["Properties"].update(ServiceName="cn.com.amazonaws.us-west-2.ecr.api")
    )
    assert list(place.interfaces) == ["ecr.api"]


def test_a_group_without_rules_lets_everything_out_and_one_that_exists_is_not_known() -> None:
    (everything,) = places(lambda _, training: training["Group"]["Properties"].clear())
    assert everything.lets_out(80)
    (unknown,) = places(
        lambda _, training: training["Cluster"]["Properties"]["VpcConfig"].update(SecurityGroupIds=["sg-1"])
    )
    assert unknown.egress is None


def test_a_subnet_that_exists_has_routes_that_nobody_knows() -> None:
    (place,) = places(lambda _, training: training["Cluster"]["Properties"]["VpcConfig"].update(Subnets=["subnet-1"]))
    assert place.route is Route.UNKNOWN
    assert not place.interfaces
    assert not place.gateways


def test_a_cluster_in_the_services_own_vpc_is_nowhere_here() -> None:
    assert places(lambda _, training: training["Cluster"]["Properties"].pop("VpcConfig")) == []


def test_an_import_that_nobody_exports_is_an_error_that_names_it() -> None:
    network = {**NETWORK, "Outputs": {}}
    with pytest.raises(ValueError, match="no stack exports 'network:Private'"):
        read_places({"network": network, "training": TRAINING}, US)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"Ref": "AWS::Partition"}, "aws-cn"),
        ({"Ref": "AWS::URLSuffix"}, "amazonaws.com.cn"),
        ({"Fn::Join": ["", {"Fn::Split": ["-", {"Ref": "AWS::Region"}]}]}, "cnnorth1"),
        ({"Fn::Select": [1, ["a", "b"]]}, "b"),
        ({"Ref": "Vpc"}, "stack/Vpc"),
        ({"Fn::GetAtt": ["Group", "GroupId"]}, "stack/Group"),
        ({"Ref": "Image"}, "/aws/ami"),
        ({"a": [{"Ref": "AWS::AccountId"}]}, {"a": ["123456789012"]}),
    ],
)
def test_values_are_written_out(value: Any, written: Any) -> None:
    templates = {"stack": {"Resources": {}, "Parameters": {"Image": {"Type": "String", "Default": "/aws/ami"}}}}
    assert Writer(templates, Region(name="cn-north-1")).write(value, "stack") == written


def test_a_function_that_is_not_known_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="stack: Fn::Transform is not known here"):
        Writer({"stack": {"Resources": {}}}, US).write({"Fn::Transform": {}}, "stack")
