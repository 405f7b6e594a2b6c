"""Free addresses in subnets that exist, and networks that a new one's addresses overlap."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check, own, own_calls, place
from cdk_trainyard.doctor.checks.usage import SUBNETS, VPCS
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec

NAME: Final = "addresses"
_INTERFACES: Final = "Network interfaces per Region"


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the subnets of the account, or its VPCs where the deployment makes a new one."""
    if isinstance(deployment.network, ExistingNetworkSpec):
        yield SUBNETS
    else:
        yield VPCS
        yield from own_calls(deployment)


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether a subnet that exists has addresses left, or with which networks the new one could not be peered."""
    network = deployment.network
    if isinstance(network, ExistingNetworkSpec):
        yield _free(deployment, answers, network)
    else:
        yield _apart(deployment, answers, network)


def _free(deployment: DeploymentSpec, answers: Answers, network: ExistingNetworkSpec) -> Finding:
    needs = deployment_needs(deployment).quotas
    wanted = next((need.amount for need in needs if need.quota.name == _INTERFACES), 0)
    subnet, at = network.accelerator_subnet.subnet_id, place(deployment, "network", "accelerator_subnet")
    words = f"{wanted:,} addresses at most, in {subnet}"
    if refused := answers.refused([SUBNETS]):
        return unanswered(NAME, words, refused, at)
    rows = (row for row in answers.items(SUBNETS, "Subnets") if row["SubnetId"] == subnet)
    free = next((int(row["AvailableIpAddressCount"]) for row in rows), None)
    if free is None:
        return Finding(check=NAME, needed=words, has="no such subnet", verdict=Verdict.SHORT, call=SUBNETS, at=at)
    right = free >= wanted
    remedy = "" if right else "a larger subnet: what is deployed already counts among those that are taken"
    verdict = Verdict.OK if right else Verdict.SHORT
    return Finding(check=NAME, needed=words, has=f"{free:,} free", verdict=verdict, call=SUBNETS, remedy=remedy, at=at)


def _apart(deployment: DeploymentSpec, answers: Answers, network: NetworkSpec) -> Finding:
    words, at = f"{network.cidr} for a new network", place(deployment, "network", "cidr")
    if refused := answers.refused([VPCS]):
        return unanswered(NAME, words, refused, at)
    mine, blocks = own(deployment, answers), [network.cidr, *filter(None, [network.secondary_cidr])]
    met = [
        f"{row['VpcId']} ({block['CidrBlock']})"
        for row in answers.items(VPCS, "Vpcs")
        if row["VpcId"] not in mine
        for block in row.get("CidrBlockAssociationSet", [])
        if any(ip_network(block["CidrBlock"]).overlaps(ip_network(each, strict=False)) for each in blocks)
    ]
    has = (
        f"it overlaps {', '.join(met)}: they could never be peered" if met else "no network of the account overlaps it"
    )
    remedy = "network: cidr: another block, where they are to be peered" if met else ""
    return Finding(check=NAME, needed=words, has=has, verdict=Verdict.OK, call=VPCS, remedy=remedy, at=at)


CHECK: Final = Check(
    name=NAME,
    asks=("ec2 DescribeSubnets", "ec2 DescribeVpcs", "cloudformation ListStackResources"),
    calls=calls,
    findings=findings,
)
"""Addresses."""
