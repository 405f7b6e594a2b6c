"""Security groups: what lets out what."""

from typing import Any

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, template

_EVERYTHING = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


def _group(**more: Any) -> dict[str, Any]:
    properties = {"VpcId": {"Ref": "Vpc"}, "GroupDescription": "tried", **more}
    return {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}


def _way_out(group: str) -> dict[str, Any]:
    to = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "DestinationSecurityGroupId": {"Ref": "Silent"}}
    return {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": {"GroupId": {"Ref": group}, **to}}


def test_a_rule_of_its_own_takes_the_place_of_the_one_that_lets_everything_out(aws: LocalAws, stacks: Stacks) -> None:
    """What is said in the group itself stays, also when it is the same rule."""
    body = template({
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.9.0.0/16"}},
        "Silent": _group(), "Narrow": _group(), "Open": _group(SecurityGroupEgress=[_EVERYTHING]),
        "NarrowOut": _way_out("Narrow"), "OpenOut": _way_out("Open"),
    })  # fmt: skip
    stack = stacks.deployed(body)
    ids = {stacks.physical_id(stack, name): name for name in ("Silent", "Narrow", "Open")}
    found = aws.client("ec2").describe_security_groups(GroupIds=list(ids))["SecurityGroups"]
    assert {
        ids[group["GroupId"]]: {rule["IpProtocol"] for rule in group["IpPermissionsEgress"]} for group in found
    } == {
        "Silent": {"-1"},
        "Narrow": {"tcp"},
        "Open": {"-1", "tcp"},
    }
