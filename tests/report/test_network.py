"""Security groups in plain words, who can reach whom, and what the internet can reach."""

from typing import Any

import pytest

from cdk_trainyard.report import review
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.network import Network
from cdk_trainyard.report.openings import exits, openings


def group(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "x", "VpcId": "vpc-1", **properties}}


def rule(
    peer: str = "0.0.0.0/0", first: int | str = 443, last: int | str = 443, protocol: str | int = "tcp"
) -> dict[str, Any]:
    return {"CidrIp": peer, "IpProtocol": protocol, "FromPort": first, "ToPort": last}


def joined(kind: str, of: str, peer: str, first: int = 0, last: int = 65535, protocol: str = "-1") -> dict[str, Any]:
    side = "Source" if kind == "Ingress" else "Destination"
    return {
        "Type": f"AWS::EC2::SecurityGroup{kind}",
        "Properties": {
            "GroupId": {"Fn::GetAtt": [of, "GroupId"]},
            f"{side}SecurityGroupId": {"Fn::GetAtt": [peer, "GroupId"]},
            "IpProtocol": protocol,
            "FromPort": first,
            "ToPort": last,
        },
    }


def instance(group: str, subnet: str = "", **properties: Any) -> dict[str, Any]:
    given = {"SecurityGroupIds": [{"Fn::GetAtt": [group, "GroupId"]}], **properties}
    return {"Type": "AWS::EC2::Instance", "Properties": given | ({"SubnetId": {"Ref": subnet}} if subnet else {})}


NOBODY = rule("255.255.255.255/32", 252, 86, "icmp")


@pytest.fixture
def services(graph: Any) -> Network:
    """A door that reaches a service on 8080, in two groups, and a stranger."""
    return Network(
        graph(
            S={
                "DoorGroup": group(SecurityGroupIngress=[rule("10.0.0.0/8")], SecurityGroupEgress=[NOBODY]),
                "ServiceGroup": group(SecurityGroupEgress=[NOBODY]),
                "StrangerGroup": group(),
                "Out": joined("Egress", "DoorGroup", "ServiceGroup", 8080, 8080, "tcp"),
                "In": joined("Ingress", "ServiceGroup", "DoorGroup", 8000, 9000, "tcp"),
                "Door": instance("DoorGroup"),
                "Service": instance("ServiceGroup"),
                "Stranger": instance("StrangerGroup"),
            }
        )
    )


def member(network: Network, name: str) -> Any:
    return next(each for each in network.members if each.resource.name == name)


@pytest.mark.parametrize(
    ("start", "end", "port", "reached"),
    [
        ("Door", "Service", 8080, True),
        ("Door", "Service", 8081, False),  # the door may not send it
        ("Service", "Door", 443, False),  # nothing may leave the service
        ("Stranger", "Service", 8080, False),  # not let in
        ("Stranger", "Door", 443, False),  # the door lets in addresses of 10/8, and nobody knows the stranger's
    ],
)
def test_who_can_reach_whom(services: Network, start: str, end: str, port: int, reached: bool) -> None:
    way = services.can_reach(member(services, start), member(services, end), port)
    assert (way is not None) is reached
    if way:
        assert way.ports == "TCP 8080"


def test_rules_are_sentences(services: Network) -> None:
    said = {services.sentence(each) for each in services.rules}
    assert said == {
        "10.0.0.0/8 may reach S/DoorGroup by TCP 443.",
        "Nothing may leave S/DoorGroup: its one egress rule is for an address that nobody has.",
        "Nothing may leave S/ServiceGroup: its one egress rule is for an address that nobody has.",
        "S/DoorGroup may reach S/ServiceGroup by TCP 8080.",
        "S/DoorGroup may reach S/ServiceGroup by TCP 8000 to 9000.",
        "S/StrangerGroup may reach any address by all traffic.",
    }


def test_a_cidr_lets_in_whoever_stands_in_it(graph: Any) -> None:
    subnets = {
        name: {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": block}}
        for name, block in (("Near", "10.0.1.0/24"), ("Far", "10.9.0.0/24"))
    }
    network = Network(
        graph(
            S=subnets
            | {
                "Out": group(),
                "In": group(SecurityGroupIngress=[rule("10.0.0.0/16", "22", "22", 6)]),
                "A": instance("Out", "Near"),
                "B": instance("Out", "Far"),
                "C": instance("In", "Near"),
            }
        )
    )
    a, b, c = (member(network, name) for name in "ABC")
    assert network.can_reach(a, c, 22)
    assert network.can_reach(b, c, 22) is None


def test_instances_of_a_launch_template_stand_behind_its_groups(graph: Any) -> None:
    data = {"NetworkInterfaces": [{"Groups": [{"Fn::GetAtt": ["Efa", "GroupId"]}], "InterfaceType": "efa"}]}
    network = Network(
        graph(
            S={
                "Efa": group(),
                "Self": joined("Ingress", "Efa", "Efa"),
                "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
                "Nodes": {
                    "Type": "AWS::AutoScaling::AutoScalingGroup",
                    "Properties": {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}}},
                },
            }
        )
    )
    assert [each.resource.name for each in network.members] == ["Nodes"]
    itself = next(each for each in network.rules if each.peer_is_group)
    assert network.explains_efa(itself)
    assert network.sentence(itself) == "Members of S/Efa accept all traffic from one another."


PUBLIC = {
    "Gateway": {"Type": "AWS::EC2::InternetGateway"},
    "Table": {"Type": "AWS::EC2::RouteTable"},
    "Route": {
        "Type": "AWS::EC2::Route",
        "Properties": {
            "RouteTableId": {"Ref": "Table"},
            "DestinationCidrBlock": "0.0.0.0/0",
            "GatewayId": {"Ref": "Gateway"},
        },
    },
    "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/24", "MapPublicIpOnLaunch": True}},
    "Joined": {
        "Type": "AWS::EC2::SubnetRouteTableAssociation",
        "Properties": {"RouteTableId": {"Ref": "Table"}, "SubnetId": {"Ref": "Subnet"}},
    },
}


def said(graph: Graph) -> list[tuple[str, str, str]]:
    return [(each.resource.name, each.ports, each.who) for each in openings(Network(graph))]


LISTENER = {
    "Type": "AWS::ElasticLoadBalancingV2::Listener",
    "Properties": {"LoadBalancerArn": {"Ref": "Door"}, "Port": 443, "Protocol": "HTTPS"},
}


def door(**properties: Any) -> dict[str, Any]:
    groups = {"SecurityGroups": [{"Fn::GetAtt": ["Group", "GroupId"]}]}
    return {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": {**groups, **properties}}


def classic(**properties: Any) -> dict[str, Any]:
    listeners = [{"LoadBalancerPort": "80", "Protocol": "HTTP"}]
    groups = {"SecurityGroups": [{"Fn::GetAtt": ["Group", "GroupId"]}], "Listeners": listeners}
    return {"Type": "AWS::ElasticLoadBalancing::LoadBalancer", "Properties": {**groups, **properties}}


def head(**ssh: Any) -> dict[str, Any]:
    config = {"HeadNode": {"Networking": {"SubnetId": {"Ref": "Subnet"}}, "Ssh": ssh}}
    return {"Type": "Custom::PclusterCluster", "Properties": {"ClusterConfiguration": config}}


NODE = ("Node", "TCP 443", "anybody")
READ = ("B", "s3:GetObject", "anybody")
LIST = ("B", "s3:ListBucket", "anybody")
PRIVATE = {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.1.0/24"}}
SUBNET_6 = {"Type": "AWS::EC2::Subnet", "Properties": {"AssignIpv6AddressOnCreation": True}}
SIX = {"CidrIpv6": "::/0", "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
OTHER_GROUP = {"SourceSecurityGroupId": "sg-1", "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22}


def bucket(**block: Any) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", "Properties": {"PublicAccessBlockConfiguration": block}}


def when(operator: str, key: str, value: str) -> dict[str, Any]:
    return {"Condition": {operator: {key: value}}}


def policy(principal: Any, **more: Any) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": principal, "Action": "s3:GetObject", **more}
    properties = {"Bucket": {"Ref": "B"}, "PolicyDocument": {"Statement": statement}}
    return {"Type": "AWS::S3::BucketPolicy", "Properties": properties}


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        (
            {"G": group(SecurityGroupIngress=[rule(first=22, last=22)]), "Node": instance("G", "Subnet")},
            [("Node", "TCP 22", "anybody")],
        ),
        ({"G": group(SecurityGroupIngress=[rule("10.0.0.0/8")]), "Node": instance("G", "Subnet")}, []),
        ({"G": group(SecurityGroupIngress=[rule("192.168.1.0/0")]), "Node": instance("G", "Subnet")}, [NODE]),
        (
            {"G": group(SecurityGroupIngress=[rule("52.1.2.0/24")]), "Node": instance("G", "Subnet")},
            [("Node", "TCP 443", "52.1.2.0/24")],
        ),
        ({"G": group(SecurityGroupIngress=[rule()]), "Node": instance("G")}, [("Node", "TCP 443", "anybody")]),
        ({"G": group(SecurityGroupIngress=[rule()]), "Node": instance("G", SubnetId="subnet-1")}, [NODE]),
        ({"G": group(SecurityGroupIngress=[rule()]), "Private": PRIVATE, "Node": instance("G", "Private")}, []),
        (
            {
                "G": group(SecurityGroupIngress=[rule()]),
                "Private": PRIVATE,
                "Node": instance("G", "Private"),
                "Ip": {"Type": "AWS::EC2::EIP", "Properties": {"InstanceId": {"Ref": "Node"}}},
            },
            [NODE],
        ),
        (
            {"G": group(SecurityGroupIngress=[SIX, rule()]), "Subnet": SUBNET_6, "Node": instance("G", "Subnet")},
            [("Node", "TCP 443", "anybody")],
        ),
        ({"G": group(SecurityGroupIngress=[OTHER_GROUP]), "Node": instance("G", "Subnet")}, []),
        (
            {"Group": group(SecurityGroupIngress=[rule()]), "Door": door(Scheme="internet-facing"), "L": LISTENER},
            [("Door", "TCP 443 (HTTPS)", "anybody")],
        ),
        (
            {"Group": group(SecurityGroupIngress=[rule()]), "Door": door(), "L": LISTENER},
            [("Door", "TCP 443 (HTTPS)", "anybody")],
        ),
        ({"Group": group(SecurityGroupIngress=[rule()]), "Door": door(Scheme="internal"), "L": LISTENER}, []),
        (
            {"Group": group(SecurityGroupIngress=[rule()]), "Door": door(Scheme={"Ref": "Unknown"}), "L": LISTENER},
            [("Door", "TCP 443 (HTTPS)", "anybody")],
        ),
        ({"Group": group(SecurityGroupIngress=[rule(first=80, last=80)]), "Door": door(), "L": LISTENER}, []),
        (
            {"Group": group(SecurityGroupIngress=[rule(first=80, last=80)]), "Door": classic()},
            [("Door", "TCP 80 (HTTP)", "anybody")],
        ),
        ({"Group": group(SecurityGroupIngress=[rule(first=80, last=80)]), "Door": classic(Scheme="internal")}, []),
        ({"Head": head()}, [("Head", "TCP 22 (SSH to the head node)", "anybody")]),
        ({"Head": head(AllowedIps="127.0.0.1/32")}, []),
        (
            {"Url": {"Type": "AWS::Lambda::Url", "Properties": {"AuthType": "NONE"}}},
            [("Url", "TCP 443 (HTTPS)", "anybody")],
        ),
        ({"Eks": {"Type": "AWS::EKS::Cluster"}}, [("Eks", "TCP 443 (the Kubernetes API)", "anybody")]),
        (
            {
                "Api": {
                    "Type": "AWS::ApiGateway::RestApi",
                    "Properties": {"EndpointConfiguration": {"Types": ["PRIVATE"]}},
                }
            },
            [],
        ),
        ({"B": {"Type": "AWS::S3::Bucket"}, "P": policy("*")}, [READ]),
        ({"B": {"Type": "AWS::S3::Bucket"}, "P": policy({"AWS": ["*", "arn:aws:iam::1:root"]})}, [READ]),
        (
            {"B": bucket(BlockPublicPolicy=False), "P": policy("*", **when("Bool", "aws:SecureTransport", "true"))},
            [READ],
        ),
        (
            {"B": bucket(BlockPublicPolicy=False), "P": policy("*", **when("StringEquals", "aws:SourceVpc", "vpc-1"))},
            [],
        ),
        ({"B": bucket(), "P": policy("*", **when("StringNotEquals", "aws:SourceVpc", "vpc-1"))}, [READ]),
        ({"B": bucket(), "P": policy("*", **when("IpAddress", "aws:SourceIp", "0.0.0.0/0"))}, [READ]),
        ({"B": bucket(RestrictPublicBuckets=True), "P": policy("*")}, []),
        ({"B": bucket(), "P": policy(None, NotPrincipal={"AWS": "arn:aws:iam::1:root"})}, [READ]),
        ({"B": {"Type": "AWS::S3::Bucket", "Properties": {"AccessControl": "PublicRead"}}}, [LIST]),
        ({"B": bucket(IgnorePublicAcls="true") | {"AccessControl": "PublicRead"}}, []),
        (
            {
                "Queue": {"Type": "AWS::SQS::Queue"},
                "P": {
                    "Type": "AWS::SQS::QueuePolicy",
                    "Properties": {
                        "Queues": [{"Ref": "Queue"}],
                        "PolicyDocument": {"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sqs:*"}},
                    },
                },
            },
            [("Queue", "sqs:*", "anybody")],
        ),
        ({"B": {"Type": "AWS::S3::Bucket"}, "P": policy({"AWS": "arn:aws:iam::1:root"})}, []),
    ],
)
def test_ways_in_from_the_internet(graph: Any, resources: dict[str, Any], found: list[tuple[str, str, str]]) -> None:
    assert said(graph(S=PUBLIC | resources)) == found


def test_ways_out(graph: Any) -> None:
    endpoint = {"Type": "AWS::EC2::VPCEndpoint", "Properties": {"ServiceName": "com.amazonaws.us-west-2.s3"}}
    found = exits(Network(graph(S=PUBLIC | {"S3": endpoint})))
    assert [(each.who, each.where) for each in found] == [
        ("S/Subnet", "0.0.0.0/0 by an internet gateway"),
        ("the VPC", "com.amazonaws.us-west-2.s3 by a gateway endpoint, not over the internet"),
    ]


def test_of_very_many_members_nobody_is_judged_and_the_review_says_so(assembly: Any) -> None:
    resources = {"Group": group()} | {f"N{number}": instance("Group") for number in range(41)}
    found = review(assembly(S=resources))
    assert found["network"]["ways"] == []
    assert "who can reach whom among 41 members of security groups: more than 40" in found["not_checked"]


def test_a_virtual_private_gateway_is_no_internet_gateway(graph: Any) -> None:
    route = {**PUBLIC["Route"]["Properties"], "DestinationCidrBlock": "10.0.0.0/8", "GatewayId": {"Ref": "Vpn"}}
    vpn = {"Vpn": {"Type": "AWS::EC2::VPNGateway"}, "Route": {"Type": "AWS::EC2::Route", "Properties": route}}
    assert [each.where for each in exits(Network(graph(S=PUBLIC | vpn)))] == ["10.0.0.0/8 by a virtual private gateway"]


def test_a_group_from_elsewhere_is_said_to_be_one(graph: Any) -> None:
    network = Network(graph(S={"G": group(SecurityGroupIngress=[OTHER_GROUP])}))
    assert network.sentence(next(each for each in network.rules if each.inward)) == (
        "Members of sg-1 may reach S/G by TCP 22."
    )
