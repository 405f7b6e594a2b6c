"""The training network: its defaults, everything set, and what it refuses."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import zone_region
from cdk_trainyard.network import HYPERPOD_ENDPOINTS, Endpoint, Nat, Network, TrainingNetwork
from tests.network.parts import ZONE, new_network, new_stack, resources, warnings

SMALL: dict[str, Any] = {"flow_logs_retention": None, "restrict_default_security_group": False}


def subnets(stack: Stack) -> dict[str, dict[str, Any]]:
    """Return name to properties of every subnet."""
    return {
        next(tag["Value"] for tag in subnet["Tags"] if tag["Key"] == "Name").removeprefix("Stack/Network/"): subnet
        for subnet in resources(stack, "AWS::EC2::Subnet").values()
    }


def default_routes(stack: Stack) -> dict[str, str]:
    """Return the subnet's part of the logical id to the logical id of the NAT gateway."""
    return {
        name: route["NatGatewayId"]["Ref"]
        for name, route in resources(stack, "AWS::EC2::Route").items()
        if "NatGatewayId" in route
    }


# ---------------------------------------------------------------- defaults
@pytest.fixture(scope="module")
def minimal() -> TrainingNetwork:
    return new_network()


@pytest.fixture(scope="module")
def template(minimal: TrainingNetwork) -> Template:
    return Template.from_stack(Stack.of(minimal))


def test_the_vpc_resolves_names(template: Template) -> None:
    (properties,) = (vpc["Properties"] for vpc in template.find_resources("AWS::EC2::VPC").values())
    assert properties == {
        "CidrBlock": "10.1.0.0/16",
        "EnableDnsHostnames": True,
        "EnableDnsSupport": True,
        "Tags": [{"Key": "Name", "Value": "Stack/Network"}],
    }


def test_there_are_two_subnets_in_the_named_zone(minimal: TrainingNetwork) -> None:
    found = subnets(Stack.of(minimal))
    assert {name: subnet["CidrBlock"] for name, subnet in found.items()} == {
        "Accelerator": "10.1.128.0/17",
        "Public/us-east-1a": "10.1.0.0/24",
    }
    assert {subnet["AvailabilityZone"] for subnet in found.values()} == {ZONE}
    assert {subnet["MapPublicIpOnLaunch"] for subnet in found.values()} == {False}


def test_its_attributes(minimal: TrainingNetwork) -> None:
    assert isinstance(minimal, Network)
    assert minimal.zone == ZONE
    assert minimal.accelerator_cidr == "10.1.128.0/17"
    assert minimal.accelerator_subnet.availability_zone == ZONE
    assert len(minimal.public_subnets) == 1
    assert minimal.service_subnets == ()
    assert minimal.has_nat
    assert minimal.flow_log_group is not None


def test_one_nat_gateway_waits_for_its_own_way_out(template: Template) -> None:
    template.resource_count_is("AWS::EC2::NatGateway", 1)
    template.has_resource(
        "AWS::EC2::NatGateway",
        {
            "Properties": {"SubnetId": {"Ref": Match.string_like_regexp("NetworkPublicuseast1aSubnet.*")}},
            "DependsOn": Match.array_with([Match.string_like_regexp(".*DefaultRoute.*")]),
        },
    )
    template.has_resource(
        "AWS::EC2::Route",
        {
            "Properties": {"GatewayId": Match.any_value()},
            "DependsOn": [Match.string_like_regexp("NetworkInternetGatewayAttachment.*")],
        },
    )


def test_nothing_is_looked_up_and_no_zone_is_guessed() -> None:
    app = App()
    stack = Stack(app, "Stack", env=Environment(account="111111111111", region="us-east-1"))
    new_network(stack, zone="use1-az4", service_zones=["use1-az5", "use1-az6"])
    manifest = json.loads((Path(app.synth().directory) / "manifest.json").read_text())
    assert "missing" not in manifest
    assert "Fn::GetAZs" not in str(Template.from_stack(stack).to_json())


def test_nothing_is_warned_about(minimal: TrainingNetwork) -> None:
    assert warnings(Stack.of(minimal)) == []


def test_logical_ids_of_subnets_are_pinned(template: Template) -> None:
    """A subnet under another id is a new one, in the way of the old: no refactoring may rename them."""
    assert sorted(template.find_resources("AWS::EC2::Subnet")) == [
        "NetworkAcceleratorSubnet64D484DD",
        "NetworkPublicuseast1aSubnet87E3B588",
    ]
    assert list(template.find_resources("AWS::EC2::VPC")) == ["Network1C6012B5"]


# ---------------------------------------------------------------- zones
def test_a_zone_id_is_given_as_an_id() -> None:
    stack = new_stack()
    network = new_network(stack, zone="use1-az4", **SMALL)
    (name,) = [name for name in resources(stack, "AWS::EC2::Subnet") if "Accelerator" in name]
    for subnet in subnets(stack).values():
        assert subnet["AvailabilityZoneId"] == "use1-az4"
        assert "AvailabilityZone" not in subnet
    assert network.zone == "use1-az4"
    assert stack.resolve(network.accelerator_subnet.availability_zone) == {"Fn::GetAtt": [name, "AvailabilityZone"]}
    assert network.public_subnets[0].availability_zone == network.accelerator_subnet.availability_zone


def test_further_zones_get_further_subnets() -> None:
    stack = new_stack()
    network = new_network(
        stack, public_zones=["us-east-1c", "us-east-1b"], service_zones=["us-east-1a", "us-east-1b"], **SMALL
    )
    assert {name: subnet["CidrBlock"] for name, subnet in subnets(stack).items()} == {
        "Accelerator": "10.1.128.0/17",
        "Public/us-east-1a": "10.1.0.0/24",
        "Public/us-east-1c": "10.1.12.0/24",
        "Public/us-east-1b": "10.1.8.0/24",
        "Service/us-east-1a": "10.1.64.0/22",
        "Service/us-east-1b": "10.1.68.0/22",
    }
    assert [subnet.availability_zone for subnet in network.service_subnets] == ["us-east-1a", "us-east-1b"]
    assert [subnet.availability_zone for subnet in network.public_subnets] == ["us-east-1a", "us-east-1c", "us-east-1b"]


def test_a_zone_added_later_changes_no_other_subnet() -> None:
    templates = []
    for zones in ([], ["us-east-1c", "us-east-1b"], ["us-east-1d", "us-east-1b", "us-east-1c"]):
        stack = new_stack()
        new_network(stack, public_zones=zones, service_zones=zones, **SMALL)
        templates.append(resources(stack, "AWS::EC2::Subnet"))
    for before, after in pairwise(templates):
        assert {name: after[name] for name in before} == before


def test_a_local_zone_announces_its_addresses_itself() -> None:
    for zone in ("us-west-2-lax-1a", "usw2-lax1-az1"):
        stack = new_stack("us-west-2")
        new_network(stack, zone=zone, **SMALL)
        assert [eip["NetworkBorderGroup"] for eip in resources(stack, "AWS::EC2::EIP").values()] == ["us-west-2-lax-1"]


@pytest.mark.parametrize(
    ("zone", "nat", "told"),
    [
        ("us-west-2-lax-1a", Nat.ONE, ["us-west-2-lax-1a"]),
        ("usw2-lax1-az1", Nat.ONE, ["usw2-lax1-az1"]),
        ("us-west-2-lax-1a", Nat.NONE, []),
        ("us-west-2a", Nat.ONE, []),
        ("usw2-az4", Nat.ONE, []),
    ],
)
def test_warns_of_a_nat_gateway_in_a_local_zone(zone: str, nat: Nat, told: list[str]) -> None:
    stack = new_stack("us-west-2")
    new_network(stack, zone=zone, nat=nat, **SMALL)
    said = [text for text in warnings(stack) if "nat-in-local-zone" in text]
    assert [text.partition(",")[0] for text in said] == [
        f"the NAT gateway stands in the Local Zone {zone}" for zone in told
    ]


def test_a_stack_without_a_region_takes_any_zone() -> None:
    stack = new_stack(None)
    assert new_network(stack, zone="eu-north-1b", **SMALL).zone == "eu-north-1b"


def test_an_endpoint_of_prometheus_is_refused_in_china_alone() -> None:
    endpoints = [Endpoint.SSM, Endpoint.PROMETHEUS]
    with pytest.raises(ConfigurationError) as caught:
        new_network(new_stack("cn-north-1"), zone="cn-north-1a", interface_endpoints=endpoints)
    [said] = caught.value.problems
    why = "Amazon Managed Service for Prometheus is not offered in China"
    assert said == f"'interface_endpoints[1]' must be left out in cn-north-1, got aps-workspaces: {why}"
    for region in ("us-gov-west-1", "mx-central-1", None):
        new_network(new_stack(region), zone=f"{region or 'cn-north-1'}a", interface_endpoints=endpoints)


# ---------------------------------------------------------------- NAT
@pytest.mark.parametrize("zone", ["apne1-az3", "usw1-az2", "cac1-az3", "euw1-az4", "eu-west-1d", "us-west-1b"])
def test_a_zone_that_older_accounts_alone_see_is_taken(zone: str) -> None:
    stack = new_stack(str(zone_region(zone)))
    assert new_network(stack, zone=zone).zone == zone


def test_one_nat_gateway_serves_every_private_subnet() -> None:
    stack = new_stack()
    new_network(stack, service_zones=["us-east-1b", "us-east-1c"], **SMALL)
    assert len(resources(stack, "AWS::EC2::NatGateway")) == 1
    assert len(default_routes(stack)) == 3


def test_a_nat_gateway_in_every_zone_serves_its_own() -> None:
    stack = new_stack()
    zones = ["us-east-1b", "us-east-1c"]
    new_network(stack, public_zones=zones, service_zones=zones, nat=Nat.PER_ZONE, **SMALL)
    assert len(resources(stack, "AWS::EC2::NatGateway")) == 3
    for route, gateway in default_routes(stack).items():
        zone = next((letter for letter in "bc" if f"Serviceuseast1{letter}" in route), "a")
        assert f"Publicuseast1{zone}NATGateway" in gateway


def test_a_nat_gateway_in_every_zone_needs_none_where_nothing_is_private() -> None:
    stack = new_stack()
    new_network(stack, public_zones=["us-east-1b"], nat=Nat.PER_ZONE, **SMALL)
    assert len(resources(stack, "AWS::EC2::NatGateway")) == 1


def test_without_nat_the_network_is_closed() -> None:
    stack = new_stack()
    network = new_network(stack, nat=Nat.NONE, interface_endpoints=HYPERPOD_ENDPOINTS, **SMALL)
    for kind in ("NatGateway", "EIP", "InternetGateway", "VPCGatewayAttachment", "Route"):
        assert resources(stack, f"AWS::EC2::{kind}") == {}
    assert not network.has_nat
    assert network.public_subnets == ()
    assert warnings(stack) == []


def test_without_nat_public_zones_are_public_still() -> None:
    stack = new_stack()
    network = new_network(stack, nat=Nat.NONE, public_zones=[ZONE], interface_endpoints=HYPERPOD_ENDPOINTS, **SMALL)
    assert sorted(subnets(stack)) == ["Accelerator", "Public/us-east-1a"]
    assert len(network.public_subnets) == 1
    assert len(resources(stack, "AWS::EC2::InternetGateway")) == 1
    assert default_routes(stack) == {}


# ---------------------------------------------------------------- the way out
@pytest.mark.parametrize(
    ("changes", "waited_for"),
    [
        ({}, {"AcceleratorDefaultRoute", "InternetGatewayAttachment", "Publicuseast1aDefaultRoute", "EndpointsS3"}),
        (
            {"nat": Nat.NONE, "interface_endpoints": [Endpoint.SSM]},
            {"AcceleratorRouteTableAssociation", "EndpointsS3", "EndpointsSsm"},
        ),
    ],
)
def test_nodes_wait_for_the_way_out(changes: dict[str, Any], waited_for: set[str]) -> None:
    stack = new_stack()
    network = new_network(stack, **changes, **SMALL)
    node = CfnResource(stack, "Node", type="AWS::X::Y")
    node.node.add_dependency(network.route_out)
    template = Template.from_stack(stack).to_json()["Resources"]
    waiting, found = list(template["Node"]["DependsOn"]), set()
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting += [each for each in template[name].get("DependsOn", []) if each not in found]
    assert [part for part in waited_for if not any(f"Network{part}" in name for name in found)] == []


# ---------------------------------------------------------------- everything set
def test_everything_can_be_set() -> None:
    stack = new_stack()
    network = new_network(
        stack,
        zone="use1-az4",
        cidr="10.20.0.0/20",
        public_zones=["use1-az5"],
        service_zones=["use1-az4", "use1-az5"],
        accelerator_mask=18,
        secondary_cidr="100.64.0.0/16",
        nat=Nat.PER_ZONE,
        interface_endpoints=[Endpoint.ECR_API, Endpoint.ECR_DKR],
        s3_statements=[
            iam.PolicyStatement(principals=[iam.StarPrincipal()], actions=["s3:GetObject"], resources=["*"])
        ],
        flow_logs_key=kms.Key(stack, "Key"),
    )
    assert network.accelerator_cidr == "100.64.0.0/18"
    assert {name: subnet["CidrBlock"] for name, subnet in subnets(stack).items()} == {
        "Accelerator": "100.64.0.0/18",
        "Public/use1-az4": "10.20.0.0/25",
        "Public/use1-az5": "10.20.2.128/25",
        "Service/use1-az4": "10.20.9.128/25",
        "Service/use1-az5": "10.20.10.0/25",
    }


def test_a_subnet_of_the_second_block_waits_until_the_vpc_has_it() -> None:
    stack = new_stack()
    new_network(stack, secondary_cidr="100.64.0.0/16", **SMALL)
    Template.from_stack(stack).has_resource(
        "AWS::EC2::Subnet",
        {
            "Properties": {"CidrBlock": "100.64.0.0/16"},
            "DependsOn": [Match.string_like_regexp("NetworkSecondaryCidr.*")],
        },
    )


@pytest.mark.parametrize(
    "blocks", [{"cidr": "172.16.0.0/16", "secondary_cidr": "172.17.0.0/16"}, {"cidr": "172.17.128.0/17"}]
)
def test_dockers_own_block_is_warned_about(blocks: dict[str, str]) -> None:
    stack = new_stack()
    new_network(stack, **blocks, **SMALL)
    (warning,) = warnings(stack)
    assert " overlaps 172.17.0.0/16, which Docker takes for its bridge on every node" in warning
    assert warning.endswith("[ack: @cdk-trainyard/network:docker-bridge]")


# ---------------------------------------------------------------- refusals
HALF = "; the other half is for public and service subnets"
MORE = "; 'secondary_cidr' may have more"
PRIVATE = "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10"
WITHOUT_PRINCIPAL = iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"])
FORM = "the name or the id of a zone, as 'us-east-1a' or 'use1-az1'"
OTHERS = "'public_zones' and 'service_zones'"

NONE_THERE = "'zone' us-east-1-bos-1a, a Local Zone, has none; give 'service_zones' for them, or"
REFUSALS: list[tuple[dict[str, Any], str]] = [
    # zones
    ({"zone": ""}, f"'zone' must be {FORM}, got ''"),
    ({"zone": "us-east-1"}, f"'zone' must be {FORM}, got 'us-east-1'"),
    ({"zone": "eu-west-1a"}, "'zone' must be a zone of the stack's Region us-east-1, got 'eu-west-1a' of eu-west-1"),
    ({"zone": "usw2-az4"}, "'zone' must be a zone of the stack's Region us-east-1, got 'usw2-az4' of us-west-2"),
    (
        {"zone": "cnw1-az1"},
        ("'zone' must be a zone of the stack's Region us-east-1, as 'us-east-1a' or 'use1-az1', got 'cnw1-az1'"),
    ),
    (
        {"zone": "use1\u2013az4"},
        (f"'zone' must be {FORM}, got 'use1\u2013az4'; did you mean 'use1-az4' with - in place of U+2013 (EN DASH)?"),
    ),
    (
        {"zone": "use1-az9"},
        (
            "'zone' must be one of use1-az1, use1-az2, use1-az3, use1-az4, use1-az5, use1-az6 (as of 2026-10-27), "
            "got 'use1-az9'"
        ),
    ),
    ({"zone": "us-east-1g"}, "'zone' must be one of us-east-1a to us-east-1f (as of 2026-10-27), got 'us-east-1g'"),
    (
        {"zone": "us-east-1-wl1-bos-wlz-1"},
        "'zone' must be an Availability Zone or a Local Zone, got the Wavelength Zone 'us-east-1-wl1-bos-wlz-1'",
    ),
    (
        {"public_zones": ["us-east-1b", "us-east-1b"]},
        "'public_zones[1]' must be another than those before it, got 'us-east-1b' again",
    ),
    (
        {"public_zones": ["us-east-1-bos-1a"]},
        (
            "'public_zones[0]' must be a zone of the Region itself, got the Local Zone 'us-east-1-bos-1a'; "
            "only 'zone' may be one"
        ),
    ),
    (
        {"public_zones": ["us-west-2a"]},
        "'public_zones[0]' must be a zone of the stack's Region us-east-1, got 'us-west-2a' of us-west-2",
    ),
    (
        {"public_zones": ["use1-az1"]},
        (
            "'public_zones[0]' must be a name like 'zone', 'us-east-1a', got 'use1-az1'; "
            "which name stands for which id differs from account to account"
        ),
    ),
    (
        {"service_zones": ["us-east-1b"]},
        (
            "'service_zones' must be at least 2 zones, got 'us-east-1b' alone; add a zone, or leave them out without "
            "accounting and serving"
        ),
    ),
    (
        {"service_zones": ["us-east-1b", ""]},
        f"'service_zones[1]' must be {FORM}, got ''",
    ),
    (
        {"service_zones": ["us-east-1a", "us-east-1b"], "nat": Nat.PER_ZONE},
        "'nat' must be one without a public subnet in 'us-east-1b', got per-zone; add 'public_zones' there",
    ),
    (
        {"zone": "us-east-1-bos-1a", "interface_endpoints": [Endpoint.DYNAMODB, Endpoint.LOGS]},
        f"'interface_endpoints[1]' must be left out, got logs: {NONE_THERE} let nodes use the NAT gateway",
    ),
    (
        {"zone": "us-east-1-bos-1a", "interface_endpoints": [Endpoint.LOGS], "nat": Nat.NONE},
        f"'interface_endpoints[0]' must be left out, got logs: {NONE_THERE} give the network a NAT gateway",
    ),
    # blocks
    ({"cidr": "10.1.0.0"}, "'cidr' must be an IPv4 block, as 10.1.0.0/16, got '10.1.0.0'"),
    ({"cidr": "10.1.0.0/8"}, "'cidr' must have a mask of /16 to /28, got '10.1.0.0/8'"),
    ({"accelerator_cidr": "10.1.128.0/15"}, "'accelerator_cidr' must have a mask of /16 to /28, got '10.1.128.0/15'"),
    ({"cidr": "172.32.1.0/16"}, f"'cidr' must be private, within one of {PRIVATE}, got '172.32.1.0/16'"),
    ({"cidr": "a/16"}, "'cidr' must be an IPv4 block, as 10.1.0.0/16, got 'a/16'"),
    ({"cidr": "fd00::/64"}, "'cidr' must be an IPv4 block, as 10.1.0.0/16, got 'fd00::/64'"),
    ({"cidr": "10.1.5.0/16"}, "'cidr' must begin where its mask says, got '10.1.5.0/16'; use 10.1.0.0/16"),
    ({"cidr": "10.0.0.0/15"}, "'cidr' must have a mask of /16 to /28, got '10.0.0.0/15'"),
    ({"cidr": "8.8.0.0/16"}, f"'cidr' must be private, within one of {PRIVATE}, got '8.8.0.0/16'"),
    (
        {"cidr": "10.1.0.0/28", "nat": Nat.NONE, "accelerator_mask": 28},
        f"'cidr' must be a /27 or larger without 'secondary_cidr', got 10.1.0.0/28{HALF}",
    ),
    (
        {"cidr": "10.1.0.0/28", "secondary_cidr": "100.64.0.0/24"},
        (
            "'cidr' must be larger for the public subnet of its NAT gateway in us-east-1a, got 10.1.0.0/28 with room "
            "for 0 public and 0 service subnets, which go by letter or number of the zone; use a /27 or larger, or a "
            "/22 or larger where load balancers stand in them"
        ),
    ),
    (
        {"cidr": "10.1.0.0/27"},
        (
            "'cidr' must be larger for the public subnet of its NAT gateway in us-east-1a, got 10.1.0.0/27 with room "
            "for 0 public and 0 service subnets, which go by letter or number of the zone; use a /26 or larger, or a "
            "/21 or larger where load balancers stand in them"
        ),
    ),
    (
        {"cidr": "10.1.0.0/24", "service_zones": ["us-east-1a", "us-east-1f"]},
        (
            "'cidr' must be larger for 'service_zones' in us-east-1f, got 10.1.0.0/24 with room for 4 public "
            "and 4 service subnets, which go by letter or number of the zone; use a /23 or larger, or a /21 or "
            "larger where load balancers stand in them"
        ),
    ),
    ({"accelerator_mask": 16}, f"'accelerator_mask' must be 17 to 28 in 'cidr' 10.1.0.0/16, got 16{HALF}{MORE}"),
    ({"accelerator_mask": 29}, "'accelerator_mask' must be 16 to 28, got 29"),
    (
        {"accelerator_mask": 16, "secondary_cidr": "100.64.0.0/18"},
        "'accelerator_mask' must be 18 to 28 in 'secondary_cidr' 100.64.0.0/18, got 16",
    ),
    (
        {"accelerator_mask": 18, "accelerator_cidr": "10.1.128.0/18"},
        "'accelerator_mask' and 'accelerator_cidr' must not both be given, got 18 and '10.1.128.0/18'; remove one",
    ),
    ({"accelerator_cidr": "10.2.0.0/17"}, "'accelerator_cidr' must be within 'cidr' 10.1.0.0/16, got 10.2.0.0/17"),
    (
        {"accelerator_cidr": "10.1.0.0/16"},
        f"'accelerator_cidr' must be a /17 or smaller in 'cidr' 10.1.0.0/16, got 10.1.0.0/16{HALF}{MORE}",
    ),
    (
        {"accelerator_cidr": "10.1.128.0/17", "secondary_cidr": "100.64.0.0/16"},
        "'accelerator_cidr' must be within 'secondary_cidr' 100.64.0.0/16, got 10.1.128.0/17",
    ),
    (
        {"accelerator_cidr": "10.1.128.0/29"},
        "'accelerator_cidr' must have a mask of /16 to /28, got '10.1.128.0/29'",
    ),
    (
        {"accelerator_cidr": "10.1.128.1/17"},
        "'accelerator_cidr' must begin where its mask says, got '10.1.128.1/17'; use 10.1.128.0/17",
    ),
    ({"secondary_cidr": "10.1.128.0/17"}, "'secondary_cidr' must not overlap 'cidr' 10.1.0.0/16, got 10.1.128.0/17"),
    (
        {"secondary_cidr": "172.16.0.0/16"},
        (
            "'secondary_cidr' must be within 10.0.0.0/8 or 100.64.0.0/10 beside 'cidr' 10.1.0.0/16, got 172.16.0.0/16; "
            "EC2 adds no other private one"
        ),
    ),
    (
        {"cidr": "100.64.0.0/16", "secondary_cidr": "10.0.0.0/16"},
        (
            "'secondary_cidr' must be within 100.64.0.0/10 beside 'cidr' 100.64.0.0/16, got 10.0.0.0/16; "
            "EC2 adds no other private one"
        ),
    ),
    (
        {"secondary_cidr": "10.0.0.0/16"},
        (
            "'secondary_cidr' must not be within 10.0.0.0/16 beside 'cidr' 10.1.0.0/16, got 10.0.0.0/16; "
            "EC2 keeps it for services"
        ),
    ),
    (
        {"cidr": "172.16.0.0/16", "secondary_cidr": "172.31.0.0/20"},
        (
            "'secondary_cidr' must not be within 172.31.0.0/16 beside 'cidr' 172.16.0.0/16, got 172.31.0.0/20; "
            "EC2 keeps it for services"
        ),
    ),
    # the rest
    (
        {"interface_endpoints": [Endpoint.SSM, Endpoint.SSM]},
        "'interface_endpoints[1]' must be another than those before it, got 'ssm' again",
    ),
    (
        {"public_buckets": [f"public-data-set-with-a-long-name-number-{number:04}" for number in range(160)]},
        (
            "'public_buckets' must be at most 155 buckets with names of this length: a policy of an endpoint has 20480 "
            "characters, got 160; leave out those that nodes read with credentials"
        ),
    ),
    (
        {"public_buckets": ["s3://open/data"]},
        (
            "'public_buckets[0]' must be the name of a bucket, 3 to 63 lowercase letters, digits, '-' and '.' that "
            "begin and end with a letter or a digit, without s3:// and path, as my-bucket, got "
            "'s3://open/data'; use 'open'"
        ),
    ),
    (
        {"public_buckets": ["open-data", "open-data"]},
        "'public_buckets[1]' must be another than those before it, got 'open-data' again",
    ),
    (
        {"s3_statements": [WITHOUT_PRINCIPAL]},
        (
            "'s3_statements' must each have a principal, got one without: number 1; "
            "add iam.StarPrincipal() and narrow it by a condition"
        ),
    ),
]


@pytest.mark.parametrize(("changes", "problem"), REFUSALS)
def test_fails_on_what_cannot_work(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        new_network(**changes)
    assert problem in caught.value.problems
    assert caught.value.path == "Stack/Network"


def test_a_second_block_that_cannot_be_is_answered_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        new_network(secondary_cidr="198.19.0.0/16")
    [said] = caught.value.problems
    assert said == f"'secondary_cidr' must be private, within one of {PRIVATE}, got '198.19.0.0/16'"


def test_public_buckets_that_fit_a_policy_pass() -> None:
    new_network(public_buckets=[f"public-data-set-with-a-long-name-number-{number:04}" for number in range(150)])


def test_fails_on_a_key_without_flow_logs() -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError) as caught:
        new_network(stack, flow_logs_retention=None, flow_logs_key=kms.Key(stack, "Key"))
    [said] = caught.value.problems
    text = "'flow_logs_key' must be left out without flow logs, got a key; remove it, or let"
    assert said == f"{text} 'flow_logs_retention' keep some for days"


def test_fails_on_zones_of_several_regions_in_a_stack_without_one() -> None:
    with pytest.raises(ConfigurationError) as caught:
        new_network(new_stack(None), public_zones=["us-west-2a"])
    assert caught.value.problems == (f"'zone' must be of the Region of {OTHERS}, got us-east-1, us-west-2",)


def test_fails_with_every_problem_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        new_network(zone="eu-west-1a", cidr="8.8.0.0/15", service_zones=["us-east-1b"], accelerator_mask=3)
    assert len(caught.value.problems) == 4


@pytest.mark.parametrize("keyword", ["zone", "cidr", "secondary_cidr", "accelerator_cidr", "accelerator_mask"])
def test_fails_on_tokens_where_subnets_are_computed(keyword: str) -> None:
    stack = new_stack()
    kind = "Number" if keyword == "accelerator_mask" else "String"
    parameter = CfnParameter(stack, "Parameter", type=kind)
    value = parameter.value_as_number if kind == "Number" else parameter.value_as_string
    with pytest.raises(ConfigurationError) as caught:
        new_network(stack, **{keyword: value})
    (problem,) = caught.value.problems
    assert problem.startswith(f"'{keyword}' must be written out, as ")
    assert "got a Token" in problem
