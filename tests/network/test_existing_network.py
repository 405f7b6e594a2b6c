"""A network that exists already."""

from typing import Any

import pytest
from aws_cdk import CfnParameter, CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.network import Nat, Network, TrainingNetwork
from tests.network.parts import new_network, new_stack, resources


def subnet(stack: Stack, name: str, zone: str | None = "us-east-1a", cidr: str | None = None) -> ec2.ISubnet:
    return ec2.Subnet.from_subnet_attributes(
        stack, name, subnet_id=f"subnet-{name.lower()}", availability_zone=zone, ipv4_cidr_block=cidr
    )


def existing(stack: Stack | None = None, **changes: Any) -> Network:
    stack = stack or new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        isolated_subnet_ids=["subnet-isolated"],
    )
    given = {"zone": "us-east-1a", **changes}
    if "accelerator_subnet" not in given:
        given["accelerator_subnet"] = subnet(stack, "Nodes")
    return TrainingNetwork.from_existing(stack, "Network", vpc=vpc, **given)


def test_it_is_taken_as_it_is() -> None:
    stack = new_stack()
    nodes, services = (
        subnet(stack, "Nodes", cidr="10.0.0.0/20"),
        [subnet(stack, "One"), subnet(stack, "Two", "us-east-1b")],
    )
    public, gateway = subnet(stack, "Front"), CfnResource(stack, "Gateway", type="AWS::X::Y")
    network = existing(
        stack, accelerator_subnet=nodes, public_subnets=[public], service_subnets=services, route_out=gateway
    )
    assert isinstance(network, Network)
    assert network.vpc.vpc_id == "vpc-0123456789abcdef0"
    assert network.accelerator_subnet is nodes
    assert network.accelerator_cidr == "10.0.0.0/20"
    assert network.public_subnets == (public,)
    assert network.service_subnets == tuple(services)
    assert network.route_out is gateway
    assert network.has_nat
    assert list(Template.from_stack(stack).to_json()["Resources"]) == ["Gateway"]


def test_what_is_not_known_stays_unknown() -> None:
    stack = new_stack()
    nodes = ec2.Subnet.from_subnet_id(stack, "Nodes", "subnet-nodes")
    network = existing(stack, accelerator_subnet=nodes)
    assert network.accelerator_cidr is None
    assert network.zone == "us-east-1a"
    assert existing(accelerator_cidr="10.0.0.0/17").accelerator_cidr == "10.0.0.0/17"


def test_an_isolated_subnet_has_no_nat() -> None:
    stack = new_stack()
    assert not existing(stack, accelerator_subnet=subnet(stack, "Isolated")).has_nat


@pytest.mark.parametrize("nat", [Nat.ONE, Nat.NONE])
def test_what_is_made_in_the_app_is_waited_for(nat: Nat) -> None:
    stack = new_stack()
    made = new_network(stack, nat=nat, flow_logs_retention=None, restrict_default_security_group=False)
    taken = TrainingNetwork.from_existing(
        stack, "Taken", vpc=made.vpc, accelerator_subnet=made.accelerator_subnet, zone=made.zone
    )
    node = CfnResource(stack, "Node", type="AWS::X::Y")
    node.node.add_dependency(taken.route_out)
    waited_for = Template.from_stack(stack).find_resources("AWS::X::Y")["Node"]["DependsOn"]
    assert any("AcceleratorDefaultRoute" in name for name in waited_for) is (nat is Nat.ONE)
    assert taken.accelerator_cidr == made.accelerator_cidr
    assert taken.has_nat is made.has_nat


def test_tokens_pass() -> None:
    stack = new_stack()
    zone, cidr = (CfnParameter(stack, name).value_as_string for name in ("Zone", "Cidr"))
    network = existing(stack, zone=zone, accelerator_cidr=cidr, accelerator_subnet=subnet(stack, "Nodes", zone, cidr))
    assert (network.zone, network.accelerator_cidr) == (zone, cidr)
    assert resources(stack, "AWS::EC2::Subnet") == {}


def test_an_id_is_not_held_against_a_name() -> None:
    assert existing(zone="use1-az4").zone == "use1-az4"


def refusals(stack: Stack) -> list[tuple[dict[str, Any], str]]:
    front, one, two = subnet(stack, "Front"), subnet(stack, "One"), subnet(stack, "Two", "us-east-1b")
    nodes = subnet(stack, "Nodes", cidr="10.0.0.0/20")
    return [
        ({"zone": ""}, "'zone' must be the name or the id of a zone, as 'us-east-1a' or 'use1-az1', got ''"),
        (
            {"zone": "us-west-2a"},
            "'zone' must be a zone of the stack's Region us-east-1, got 'us-west-2a' of us-west-2",
        ),
        ({"zone": "us-east-1b"}, "'zone' must be that of 'accelerator_subnet', 'us-east-1a', got 'us-east-1b'"),
        (
            {"accelerator_cidr": "10.0.0.0/17"},
            "'accelerator_cidr' must be that of 'accelerator_subnet', '10.0.0.0/20', got '10.0.0.0/17'",
        ),
        ({"accelerator_cidr": "ten"}, "'accelerator_cidr' must be an IPv4 block, as 10.1.128.0/17, got 'ten'"),
        (
            {"public_subnets": [nodes]},
            (
                "'public_subnets[0]' must not be 'accelerator_subnet', got subnet-nodes; an instance with several "
                "interfaces gets no public address, so it needs a private subnet"
            ),
        ),
        (
            {"public_subnets": [front], "service_subnets": [front, two]},
            "'service_subnets[0]' must be private, got subnet-front, which is in 'public_subnets' too",
        ),
        ({"public_subnets": [front, front]}, "'public_subnets[1]' must name each subnet once, got subnet-front again"),
        (
            {"service_subnets": [one, two, two]},
            "'service_subnets[2]' must name each subnet once, got subnet-two again",
        ),
        (
            {"service_subnets": [subnet(Stack(), "Nodes", "us-east-1b"), one]},
            "'service_subnets[0].zone' must be 'us-east-1a', the zone of subnet-nodes above, got 'us-east-1b'",
        ),
        (
            {
                "accelerator_subnet": nodes,
                "service_subnets": [subnet(Stack(), "Nodes", cidr="10.0.16.0/20"), two],
            },
            "'service_subnets[0].cidr' must be '10.0.0.0/20', the block of subnet-nodes above, got '10.0.16.0/20'",
        ),
        (
            {"service_subnets": [one, subnet(stack, "Three", "use1-az6")]},
            (
                "'service_subnets[0].zone' must be an id like 'use1-az6', or that a name like this, got 'us-east-1a'; "
                "which name stands for which id differs from account to account, and they may be one zone"
            ),
        ),
        (
            {"service_subnets": [one]},
            "'service_subnets' must stand in at least 2 zones, got us-east-1a alone; add a subnet, or leave them out",
        ),
    ]


def test_subnets_that_agree_pass() -> None:
    stack = new_stack()
    nodes, front = subnet(stack, "Nodes", cidr="10.0.0.0/20"), subnet(stack, "Front", "use1-az4")
    services = [nodes, subnet(stack, "Two", "us-east-1b"), subnet(stack, "Three", "use1-az6")]
    network = existing(stack, accelerator_subnet=nodes, public_subnets=[front], service_subnets=services)
    assert network.service_subnets == tuple(services)


@pytest.mark.parametrize("number", range(13))
def test_fails_on_what_contradicts_itself(number: int) -> None:
    stack = new_stack()
    changes, problem = refusals(stack)[number]
    nodes = stack.node.find_child("Nodes")
    with pytest.raises(ConfigurationError) as caught:
        existing(stack, **{"accelerator_subnet": nodes, **changes})
    assert caught.value.problems == (problem,)
    assert caught.value.path == "Stack/Network"
