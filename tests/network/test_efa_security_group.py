"""EFA's two rules: in every template, once, whatever else is said to the group."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from cdk_trainyard.network import EfaSecurityGroup
from tests.network.parts import new_network, new_stack, resources

INGRESS, EGRESS = "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"
EVERYWHERE = {"CidrIp": "0.0.0.0/0", "Description": "Allow all outbound traffic by default", "IpProtocol": "-1"}
ALL = ec2.Port.all_traffic()

Change = Callable[[EfaSecurityGroup], None]


def nothing(_: EfaSecurityGroup) -> None:
    """Leave the group as it is."""


def internal_traffic(group: EfaSecurityGroup) -> None:
    group.connections.allow_internally(ALL)
    group.connections.allow_from(group, ALL)


def traffic_out(group: EfaSecurityGroup) -> None:
    group.connections.allow_to_any_ipv4(ec2.Port.tcp(443))


def new_group(**settings: Any) -> EfaSecurityGroup:
    stack = new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-1a"])
    return EfaSecurityGroup(stack, "Efa", vpc=vpc, **settings)


def self_rules(group: EfaSecurityGroup) -> list[dict[str, Any]]:
    """Return the rules for all traffic between the group and itself, as (id of the group, id of the peer)."""
    stack = group.node.scope
    found = [*resources(stack, INGRESS).values(), *resources(stack, EGRESS).values()]
    own = stack.resolve(group.security_group_id)
    return [
        rule for rule in found
        if rule["GroupId"] == own and rule["IpProtocol"] == "-1"
        and own in (rule.get("SourceSecurityGroupId"), rule.get("DestinationSecurityGroupId"))
    ]  # fmt: skip


@pytest.mark.parametrize("outbound", [True, False])
@pytest.mark.parametrize("change", [nothing, internal_traffic, traffic_out])
def test_each_self_rule_is_there_once(outbound: bool, change: Change) -> None:
    group = new_group(outbound=outbound)
    change(group)
    rules = self_rules(group)
    assert len(rules) == 2
    assert [sorted(rule.keys() & {"SourceSecurityGroupId", "DestinationSecurityGroupId"}) for rule in rules] == [
        ["SourceSecurityGroupId"],
        ["DestinationSecurityGroupId"],
    ]


def test_defaults() -> None:
    group = new_group()
    (properties,) = resources(group.node.scope, "AWS::EC2::SecurityGroup").values()
    assert properties["GroupDescription"] == "Nodes and file systems that reach each other over EFA"
    assert properties["SecurityGroupEgress"] == [EVERYWHERE]
    assert "SecurityGroupIngress" not in properties


def test_without_outbound_nothing_else_gets_out() -> None:
    group = new_group(outbound=False, description="Closed")
    (properties,) = resources(group.node.scope, "AWS::EC2::SecurityGroup").values()
    assert properties["GroupDescription"] == "Closed"
    assert EVERYWHERE not in properties["SecurityGroupEgress"]


def test_another_outbound_setting_keeps_both_rules_in_place() -> None:
    """A rule under another logical id would be made before the old one is deleted, and refused as a duplicate."""
    names = [
        {name for kind in (INGRESS, EGRESS) for name in resources(new_group(outbound=outbound).node.scope, kind)}
        for outbound in (True, False)
    ]
    assert names[0] == names[1]


def test_synthesis_is_the_same_every_time() -> None:
    assert (
        Template.from_stack(new_group().node.scope).to_json() == Template.from_stack(new_group().node.scope).to_json()
    )


def test_every_rule_says_what_it_is_for() -> None:
    assert all(rule["Description"] for rule in self_rules(new_group()))


def test_what_waits_for_the_self_rules_waits_for_both() -> None:
    group = new_group()
    waiting = CfnResource(group.node.scope, "Waiting", type="AWS::X::Y")
    waiting.node.add_dependency(group.self_rules)
    found = Template.from_stack(group.node.scope).find_resources("AWS::X::Y")["Waiting"]["DependsOn"]
    assert set(found) == {*resources(group.node.scope, INGRESS), *resources(group.node.scope, EGRESS)}


def test_it_connects_like_any_security_group() -> None:
    stack = new_stack()
    network = new_network(stack)
    nodes = EfaSecurityGroup(stack, "Efa", vpc=network.vpc)
    ec2.SecurityGroup(stack, "Database", vpc=network.vpc).connections.allow_from(nodes, ec2.Port.tcp(3306))
    assert [rule["FromPort"] for rule in resources(stack, INGRESS).values() if rule["IpProtocol"] == "tcp"] == [3306]


@pytest.mark.parametrize(("exist", "rules"), [(False, 2), (True, 0)])
def test_an_existing_group_gets_what_it_lacks(exist: bool, rules: int) -> None:
    stack = new_stack()
    imported = ec2.SecurityGroup.from_security_group_id(stack, "Imported", "sg-0123456789abcdef0")
    group = EfaSecurityGroup.from_security_group(stack, "Efa", imported, self_rules_exist=exist)
    waiting = CfnResource(stack, "Waiting", type="AWS::X::Y")
    waiting.node.add_dependency(group.self_rules)
    assert isinstance(group, EfaSecurityGroup)
    assert group.security_group_id == "sg-0123456789abcdef0"
    assert group.security_group is imported
    assert len(self_rules(group)) == rules
    assert len(Template.from_stack(stack).find_resources("AWS::X::Y")["Waiting"].get("DependsOn", [])) == rules
