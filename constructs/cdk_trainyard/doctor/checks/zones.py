"""Zones that the account has, and the instance types that EC2 offers in them."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check, place
from cdk_trainyard.doctor.checks.identity import REGION
from cdk_trainyard.doctor.file import Said, all_zones, texts, zones_for
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered

NAME: Final = "zone"
_SAGEMAKER: Final = "ml."


def _types(deployment: DeploymentSpec) -> dict[str, Said]:
    """Return the first place of each instance type, and of each with other zones."""
    found: dict[str, Said] = {}
    for said in texts(deployment, "instance_type", "instance_types"):
        found.setdefault(f"{said.value} {zones_for(deployment, said)}", said)
    return found


def _offers(deployment: DeploymentSpec) -> Call:
    names = sorted({said.value.removeprefix(_SAGEMAKER) for said in _types(deployment).values()})
    filters = [{"Name": "instance-type", "Values": names}]
    return Call("ec2", "DescribeInstanceTypeOfferings", {"LocationType": "availability-zone-id", "Filters": filters})


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the zones of the account, and where the deployment's types are offered."""
    yield REGION
    yield _offers(deployment)


def ids(answers: Answers) -> dict[str, str]:
    """Return the id of each zone that the account may use, by its name and by its id.

    Args:
        answers: What was said.
    """
    rows = answers.items(REGION, "AvailabilityZones")
    named = {row["ZoneName"]: row["ZoneId"] for row in rows}
    return named | {each: each for each in named.values()}


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether the zones are there, and the types in them."""
    known, refused = ids(answers), answers.refused([REGION])
    for zone in all_zones(deployment):
        words, at = f"the zone {zone}", place(deployment, "network")
        if refused:
            yield unanswered(NAME, words, refused, at)
            continue
        there = zone in known
        has = "it is there" if there else f"no such zone: there are {', '.join(sorted(set(known.values())))}"
        remedy = (
            "" if there else "network: another zone; a Local Zone is opted into first (ModifyAvailabilityZoneGroup)"
        )
        verdict = Verdict.OK if there else Verdict.SHORT
        yield Finding(check=NAME, needed=words, has=has, verdict=verdict, call=REGION, remedy=remedy, at=at)
    for said in _types(deployment).values():
        yield _offered(deployment, answers, said, known)


def _offered(deployment: DeploymentSpec, answers: Answers, said: Said, known: dict[str, str]) -> Finding:
    zones, call, at = zones_for(deployment, said), _offers(deployment), said.at(deployment)
    words = f"{said.value} in {' or '.join(zones)}"
    if refused := answers.refused([call, REGION]):
        return unanswered(NAME, words, refused, at)
    kind = said.value.removeprefix(_SAGEMAKER)
    where = {row["Location"] for row in answers.items(call, "InstanceTypeOfferings") if row["InstanceType"] == kind}
    here = sorted({known[zone] for zone in zones if zone in known} & where)
    if here:
        has = f"offered in {', '.join(here)}"
        return Finding(check=NAME, needed=words, has=has, verdict=Verdict.OK, call=call, at=at)
    has = f"EC2 offers it in {', '.join(sorted(where))}" if where else f"EC2 does not offer it in {deployment.region}"
    hint = said.value.startswith(_SAGEMAKER)
    if hint:
        has += "; HyperPod's capacity is SageMaker's own, of which EC2 does not tell"
    remedy = f"network: zone: {min(where)}" if where else "another Region, or another type"
    verdict = Verdict.UNKNOWN if hint else Verdict.SHORT
    return Finding(check=NAME, needed=words, has=has, verdict=verdict, call=call, remedy=remedy, at=at)


CHECK: Final = Check(
    name=NAME,
    asks=("ec2 DescribeAvailabilityZones", "ec2 DescribeInstanceTypeOfferings"),
    calls=calls,
    findings=findings,
)
"""Zones, and types in them."""
