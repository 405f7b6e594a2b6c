"""Capacity that is reserved: capacity reservations, blocks and training plans, or the nearest offers of one."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check, own_call, own_calls
from cdk_trainyard.doctor.checks.identity import REGION
from cdk_trainyard.doctor.checks.zones import ids
from cdk_trainyard.doctor.file import Said, node_zone, texts
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.identifiers import stack_name
from cdk_trainyard.instances.kind import UsageClass

NAME: Final = "capacity"
_USABLE: Final = {"active", "scheduled", "Active", "Scheduled"}
_DAY_HOURS: Final = 24
_WEEK_DAYS: Final = 7
_DAYS_ONE_BY_ONE: Final = 14
"""A block is sold by the day up to so many days, and by the week above. Source: botocore's model of EC2,
``DescribeCapacityBlockOfferings``."""
_HYPERPOD: Final = "hyperpod-cluster"
_SHOWN: Final = 3
_WITH_NODES: Final = ("training", "serving")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Reserved capacity that a file names.

    Attributes:
        said: Where: the id of a reservation, or the ARN of a training plan.
        types: The instance types that are to run there.
        count: How many.
    """

    said: Said
    types: tuple[str, ...]
    count: int

    @property
    def plan(self) -> bool:
        """Whether it is a training plan."""
        return self.said.key == "training_plan_arn"

    @property
    def name(self) -> str:
        """Its id, or the plan's name."""
        return str(self.said.value).rpartition("/")[2]

    @property
    def call(self) -> Call:
        """The call that describes it."""
        if self.plan:
            return Call("sagemaker", "DescribeTrainingPlan", {"TrainingPlanName": self.name})
        return Call("ec2", "DescribeCapacityReservations", {"CapacityReservationIds": [self.name]})

    @property
    def offers(self) -> Call:
        """The call that finds offers like it."""
        common = {"InstanceType": self.types[0], "InstanceCount": self.count}
        if self.plan:
            more = {"DurationHours": _DAY_HOURS, "TargetResources": [_HYPERPOD]}
            return Call("sagemaker", "SearchTrainingPlanOfferings", {**common, **more})
        return Call("ec2", "DescribeCapacityBlockOfferings", {**common, "CapacityDurationHours": self._hours})

    @property
    def _hours(self) -> int:
        begin, end = (_time(self.said.around.get(key)) for key in ("starts", "ends"))
        if not begin or not end:
            return _DAY_HOURS
        days = max(1, math.ceil((end - begin).total_seconds() / 3600 / _DAY_HOURS))
        return _DAY_HOURS * (days if days <= _DAYS_ONE_BY_ONE else math.ceil(days / _WEEK_DAYS) * _WEEK_DAYS)


def _time(text: object) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if isinstance(text, str) else None


def _wanted(deployment: DeploymentSpec) -> Iterator[Wanted]:
    for said in texts(deployment, "reservation_id", "training_plan_arn"):
        rows = [each for each in said.around.get("compute", ()) if "reservation_id" not in each] or [said.around]
        types = dict.fromkeys(name for row in rows for name in _types(row))
        yield Wanted(said=said, types=tuple(types), count=sum(map(_count, rows)))


def _types(row: Mapping[str, Any]) -> list[str]:
    return [*filter(None, [row.get("instance_type")]), *(row.get("instance_types") or ())]


def _count(row: Mapping[str, Any]) -> int:
    return int(next((row[key] for key in ("reserved_instances", "max_count", "count") if row.get(key)), 0))


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield a call for each reservation and plan, the zones, which plans name by name, and what runs there already."""
    yield REGION
    wanted = [*_wanted(deployment)]
    yield from (each.call for each in wanted)
    yield from own_calls(deployment) if wanted else ()


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield the search for offers where what is named will not do, and is not an on-demand reservation's place."""
    for each in _wanted(deployment):
        if not answers.refused([each.call]) and _problems(deployment, answers, each) and _is_sold(each):
            yield each.offers


def _is_sold(wanted: Wanted) -> bool:
    """Whether AWS offers such capacity for a time, at a price: on-demand reservations are made and not bought."""
    return wanted.plan or wanted.said.around.get("capacity") == UsageClass.CAPACITY_BLOCK


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether what is reserved is enough, in the right zone, of the right type, at the right time."""
    for each in _wanted(deployment):
        noun = "training plan" if each.plan else "reservation"
        words = f"{each.count} {' or '.join(each.types)} in {node_zone(deployment)}, of the {noun} {each.name}"
        at = each.said.at(deployment)
        if refused := answers.refused([each.call, REGION]):
            yield unanswered(NAME, words, refused, at)
            continue
        problems = _problems(deployment, answers, each)
        yield Finding(
            check=NAME,
            needed=words,
            has="; ".join(problems) or "it is there, and matches",
            verdict=Verdict.SHORT if problems else Verdict.OK,
            call=each.call,
            remedy=_remedy(deployment, answers, each) if problems else "",
            at=at,
        )


def _problems(deployment: DeploymentSpec, answers: Answers, wanted: Wanted) -> list[str]:
    found = (
        answers[wanted.call].value
        if wanted.plan
        else next(iter(answers.items(wanted.call, "CapacityReservations")), {})
    )
    if not found:
        return ["there is none"]
    judge = _of_plan if wanted.plan else _of_reservation
    known = ids(answers)
    zone = known.get(node_zone(deployment), node_zone(deployment))
    problems = [*judge(found, wanted, lambda row: _is_in(row, zone, known))]
    return problems or [*_used_by_others(deployment, answers, found, wanted)]


def _is_in(row: Mapping[str, Any], zone: str, known: Mapping[str, str]) -> bool:
    """Whether something is in a zone: reservations have its id, and older answers its name only."""
    name = str(row.get("AvailabilityZone", ""))
    return zone in {row.get("AvailabilityZoneId"), known.get(name, name)}


def _used_by_others(
    deployment: DeploymentSpec, answers: Answers, row: Mapping[str, Any], wanted: Wanted
) -> Iterator[str]:
    """Yield that too little of it is free, where the deployment itself can have nothing there yet."""
    nodes = [own_call(stack_name(deployment.name, part)) for part in _WITH_NODES]
    may_be_ours = answers.refused(nodes) or any(answers.items(call, "StackResourceSummaries") for call in nodes)
    free = row.get("AvailableInstanceCount")
    if free is not None and free < wanted.count and not may_be_ours:
        yield f"{free} of its {row['TotalInstanceCount']} instances are free"


def _of_reservation(
    row: Mapping[str, Any], wanted: Wanted, is_here: Callable[[Mapping[str, Any]], bool]
) -> Iterator[str]:
    if row.get("State") not in _USABLE:
        yield f"it is {row.get('State')}"
    if row.get("InstanceType") not in wanted.types:
        yield f"it is of {row.get('InstanceType')}"
    if not is_here(row):
        yield f"it is in {row.get('AvailabilityZoneId') or row.get('AvailabilityZone')}"
    if int(row.get("TotalInstanceCount", 0)) < wanted.count:
        yield f"it has {row.get('TotalInstanceCount', 0)} instances"
    begin, end = (_time(wanted.said.around.get(key)) for key in ("starts", "ends"))
    if begin and row.get("StartDate") and row["StartDate"] > begin:
        yield f"it starts at {row['StartDate']:%Y-%m-%d %H:%M} UTC, and the file says {begin:%Y-%m-%d %H:%M}"
    if end and row.get("EndDate") and row["EndDate"] < end:
        yield f"it ends at {row['EndDate']:%Y-%m-%d %H:%M} UTC, and the file says {end:%Y-%m-%d %H:%M}"


def _of_plan(row: Mapping[str, Any], wanted: Wanted, is_here: Callable[[Mapping[str, Any]], bool]) -> Iterator[str]:
    if row.get("Status") not in _USABLE:
        yield f"it is {row.get('Status')}"
    if _HYPERPOD not in row.get("TargetResources", [_HYPERPOD]):
        yield f"it is for {', '.join(row['TargetResources'])}"
    parts = row.get("ReservedCapacitySummaries", [])
    right = [part for part in parts if part.get("InstanceType") in wanted.types]
    if not right:
        yield f"it is of {', '.join(sorted({str(part.get('InstanceType')) for part in parts}))}"
    elif not any(map(is_here, right)):
        zones = {part.get("AvailabilityZoneId") or part["AvailabilityZone"] for part in right}
        yield f"it is in {', '.join(sorted(zones))}"
    if int(row.get("TotalInstanceCount", 0)) < wanted.count:
        yield f"it has {row.get('TotalInstanceCount', 0)} instances"


def _remedy(deployment: DeploymentSpec, answers: Answers, wanted: Wanted) -> str:
    if not _is_sold(wanted):
        return f"a reservation that matches: {wanted.call.command(deployment.region)}"
    if refused := answers.refused([wanted.offers]):
        return f"another one; offers were not told: {refused.refusal}"
    member = "TrainingPlanOfferings" if wanted.plan else "CapacityBlockOfferings"
    offers = [*map(_offer, answers.items(wanted.offers, member))]
    nearest = "; ".join(text for _, text in sorted(offers)[:_SHOWN])
    return f"another one; on offer: {nearest}" if nearest else "another one; none is on offer"


def _offer(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return an offer's start, by which the nearest is first, and what it is."""
    part = next(iter(row.get("ReservedCapacityOfferings", [])), row)
    begin = part.get("StartTime") or part.get("StartDate") or row.get("RequestedStartTimeAfter")
    start = f"{begin:%Y-%m-%d %H:%M}" if begin else "a day that is not said"
    name = row.get("TrainingPlanOfferingId") or row.get("CapacityBlockOfferingId")
    hours = row.get("DurationHours") or row.get("CapacityBlockDurationHours")
    what = f"{part.get('InstanceCount')} {part.get('InstanceType')} in {part.get('AvailabilityZone')}"
    price = f"{row.get('UpfrontFee')} {row.get('CurrencyCode')}"
    return start, f"{what} from {start} UTC for {hours} hours, {price} ({name})"


CHECK: Final = Check(
    name=NAME,
    asks=(
        "ec2 DescribeAvailabilityZones",
        "ec2 DescribeCapacityReservations",
        "ec2 DescribeCapacityBlockOfferings",
        "sagemaker DescribeTrainingPlan",
        "sagemaker SearchTrainingPlanOfferings",
        "cloudformation ListStackResources",
    ),
    calls=calls,
    then=then,
    findings=findings,
)
"""Reserved capacity."""
