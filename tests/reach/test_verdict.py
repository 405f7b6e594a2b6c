"""Whether a fetch arrives: one case for each thing that lets it, or stands in its way."""

from ipaddress import IPv4Network
from typing import Any

import pytest

from cdk_trainyard.reach import (
    Egress,
    Gateway,
    Interface,
    Need,
    Place,
    Region,
    Route,
    Signer,
    Target,
    addresses,
    fetches,
    judge,
    judge_target,
)
from tests.reach.parts import EAST, US

SUBNET = IPv4Network("10.1.128.0/17")
VPC = [IPv4Network("10.1.0.0/16")]
INTERNET = Target(host="efa-installer.example.com")
LOGS = Target(host="logs.{region}.{suffix}", service="logs", signed=Signer.ACCOUNT)
OPEN_BUCKET = Target(host="open.s3.{region}.{suffix}", bucket="open", action="s3:GetObject")
OWN_BUCKET = Target(host="own.s3.{region}.{suffix}", bucket="own", action="s3:GetObject", signed=Signer.ACCOUNT)
THIS_ACCOUNT = {
    "Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*",
    "Condition": {"StringEquals": {"aws:PrincipalAccount": US.account}},
}  # fmt: skip
EVERYBODY = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::open/*"}


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def place(**changes: Any) -> Place:
    return Place(**{"name": "nodes", "address": SUBNET, "vpc": VPC, **changes})


def why(target: Target, where: Place, region: Region = US) -> tuple[bool, str]:
    verdict = judge_target(target, where, region)
    return verdict.reached, verdict.why


def test_the_internet_is_reached_through_nat() -> None:
    assert why(INTERNET, place(route=Route.NAT)) == (True, "by a NAT gateway")


def test_without_a_route_nothing_of_the_internet_is_reached() -> None:
    assert why(INTERNET, place()) == (False, "the subnet has no route to the internet, and no endpoint")


def test_an_internet_gateway_is_of_no_use_without_a_public_address() -> None:
    assert not why(INTERNET, place(route=Route.INTERNET))[0]
    assert why(INTERNET, place(route=Route.INTERNET, public_address=True)) == (True, "by an internet gateway")


def test_the_routes_of_a_vpc_that_exists_are_taken_for_granted() -> None:
    assert why(INTERNET, place(route=Route.UNKNOWN)) == (
        True,
        "by the routes of a VPC that exists, which are taken for granted",
    )


@pytest.mark.parametrize(
    ("rule", "port", "reached"),
    [
        (Egress(), 80, True),
        (Egress(protocol="tcp", first=443, last=443), 443, True),
        (Egress(protocol="tcp", first=443, last=443), 80, False),
        (Egress(protocol="udp", first=443, last=443), 443, False),
        (Egress(cidr=IPv4Network("10.0.0.0/8")), 443, False),
        (Egress(cidr=None, group="own"), 443, False),
        (Egress(protocol="icmp", cidr=IPv4Network("255.255.255.255/32")), 443, False),
    ],
)
def test_a_security_group_lets_out_what_its_rules_say(rule: Egress, port: int, reached: bool) -> None:
    asked = Target(host="x.example.com", port=port)
    assert why(asked, place(route=Route.NAT, egress=(rule,)))[0] is reached


def test_a_security_group_that_exists_is_taken_for_granted() -> None:
    assert why(INTERNET, place(route=Route.NAT, egress=None))[0]


def test_a_service_is_reached_through_its_endpoint_without_nat() -> None:
    assert why(LOGS, place(interfaces={"logs": Interface()})) == (True, "by an interface endpoint")
    assert not why(LOGS, place(interfaces={"ec2": Interface()}))[0]


def test_an_endpoint_without_private_dns_is_not_asked() -> None:
    """The service's name then leads to its public addresses."""
    hidden = {"logs": Interface(private_dns=False)}
    assert not why(LOGS, place(interfaces=hidden))[0]
    assert why(LOGS, place(interfaces=hidden, route=Route.NAT)) == (True, "by a NAT gateway")


def test_an_endpoint_that_lets_nobody_in_is_not_gone_round_by_nat() -> None:
    closed = {"logs": Interface(from_cidrs=(IPv4Network("10.2.0.0/16"),))}
    assert why(LOGS, place(interfaces=closed, route=Route.NAT)) == (
        False,
        "the endpoint's security group lets no HTTPS in from the subnet",
    )
    by_group = {"logs": Interface(from_cidrs=(), from_groups=("nodes",))}
    assert why(LOGS, place(interfaces=by_group, groups=("nodes",)))[0]


@pytest.mark.parametrize(
    ("rule", "reached"),
    [
        (Egress(cidr=IPv4Network("10.1.0.0/16")), True),
        (Egress(cidr=IPv4Network("10.2.0.0/16")), False),
        (Egress(cidr=None, group="endpoints"), True),
        (Egress(cidr=None, group="others"), False),
    ],
)
def test_an_endpoint_has_addresses_of_the_vpc(rule: Egress, reached: bool) -> None:
    found = place(interfaces={"logs": Interface(groups=("endpoints",))}, egress=(rule,))
    assert why(LOGS, found)[0] is reached


def test_an_interface_endpoints_policy_counts() -> None:
    denied = policy({"Effect": "Allow", "Principal": "*", "Action": "ec2:*", "Resource": "*"})
    reached, reason = why(LOGS, place(interfaces={"logs": Interface(policy=denied)}))
    assert not reached
    assert reason.startswith("the endpoint's policy refuses it: ")


def test_s3_of_the_region_always_goes_through_its_gateway_whose_policy_counts_with_nat_too() -> None:
    gateways = {"s3": Gateway(policy=policy(THIS_ACCOUNT))}
    assert why(OWN_BUCKET, place(gateways=gateways)) == (True, "by the gateway endpoint")
    assert not why(OPEN_BUCKET, place(gateways=gateways, route=Route.NAT))[0]


def test_an_anonymous_request_has_no_account() -> None:
    gateways = {"s3": Gateway(policy=policy(THIS_ACCOUNT))}
    reached, reason = why(OPEN_BUCKET, place(gateways=gateways))
    assert not reached
    assert "aws:PrincipalAccount" in reason
    assert why(OPEN_BUCKET, place(gateways={"s3": Gateway(policy=policy(THIS_ACCOUNT, EVERYBODY))}))[0]


def test_a_link_that_aws_has_signed_is_of_another_account() -> None:
    signed = Target(host="x", bucket="layers", action="s3:GetObject", signed=Signer.SERVICE)
    assert not why(signed, place(gateways={"s3": Gateway(policy=policy(THIS_ACCOUNT))}))[0]


def test_a_bucket_of_another_region_needs_nat_and_no_policy() -> None:
    """The gateway's prefix list has the addresses of its own Region."""
    far = Target(host="s3.amazonaws.com", bucket="tools", bucket_region="us-east-1", action="s3:GetObject")
    gateways = {"s3": Gateway(policy=policy(THIS_ACCOUNT))}
    assert why(far, place(gateways=gateways, route=Route.NAT)) == (True, "by a NAT gateway")
    reached, reason = why(far, place(gateways=gateways))
    assert not reached
    assert reason.endswith("the bucket is in us-east-1, and an endpoint leads to its own Region alone")
    assert not why(far, place(gateways=gateways, route=Route.NAT), EAST)[0]


def test_a_bucket_of_which_nobody_says_the_region_needs_both_ways() -> None:
    anywhere = Target(host="x", bucket="open", bucket_region="unknown", action="s3:GetObject")
    closed, opened = Gateway(policy=policy(THIS_ACCOUNT)), Gateway(policy=policy(EVERYBODY))
    assert not why(anywhere, place(gateways={"s3": closed}, route=Route.NAT))[0]
    assert not why(anywhere, place(gateways={"s3": opened}))[0]
    assert why(anywhere, place(gateways={"s3": opened}, route=Route.NAT))[0]


def test_dynamodb_has_a_gateway_and_its_policy_names_tables() -> None:
    (address,) = [each for each in addresses().values() if each.name == "dynamodb"]
    (table,) = address.targets
    tables = {
        "Effect": "Allow", "Principal": "*", "Action": ["dynamodb:GetItem"],
        "Resource": f"arn:aws:dynamodb:us-west-2:{US.account}:table/parallelcluster-*",
    }  # fmt: skip
    assert why(table, place(gateways={"dynamodb": Gateway(policy=policy(tables))}))[0]
    others = {**tables, "Resource": str(tables["Resource"]).replace("parallelcluster", "other")}
    assert not why(table, place(gateways={"dynamodb": Gateway(policy=policy(others))}))[0]


def test_what_is_outside_the_vpc_or_on_the_machine_is_always_reached() -> None:
    assert why(INTERNET, place(at="outside"))[0]
    assert why(Target(host="169.254.169.254", local=True), place(egress=()))[0]


def test_a_fetch_is_judged_server_by_server() -> None:
    (environment,) = [each for each in fetches() if each.option == "neuron_environment" and each.need is Need.ALWAYS]
    judged = judge(environment, place(), US)
    assert [verdict.target.host for verdict in judged] == [
        "pip.repos.neuron.amazonaws.com",
        "the index that pip is configured for",
    ]
    assert not any(verdict.reached for verdict in judged)


def test_china_has_names_of_its_own() -> None:
    assert Region(name="cn-north-1").write("s3.{region}.{suffix}") == "s3.cn-north-1.amazonaws.com.cn"
    assert Region(name="us-gov-west-1").partition == "aws-us-gov"
