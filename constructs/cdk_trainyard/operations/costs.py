"""What a deployment has cost, by Cost Explorer, which knows costs by tags.

Sources: botocore's model of Cost Explorer; AWS Billing user guide, "Organizing and tracking costs using AWS cost
allocation tags" (a tag counts from when it is activated, a day later); "AWS Cost Management pricing" (a request is 0.01
USD); read 2026-11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from cdk_trainyard.account import Account, Call
from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE, stack_name
from cdk_trainyard.operations.deployed import PARTS, Deployed
from cdk_trainyard.operations.protocol import Listing

_METRIC: Final = "UnblendedCost"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a service has cost.

    Attributes:
        service: The service as bills name it.
        amount: How much.
        unit: The currency.
        is_estimated: Whether the bill is not closed yet.
    """

    service: str
    amount: Decimal
    unit: str
    is_estimated: bool


def stacks_of(deployed: Deployed) -> list[str]:
    """Return the names of all stacks that a deployment has or had: what is gone has cost something all the same.

    A ParallelCluster is a stack of its own name.

    Args:
        deployed: The deployment.
    """
    return [*(stack_name(deployed.name, part) for part in PARTS), *deployed.ids(PARALLELCLUSTER_TYPE)]


def costs_of(account: Account, tag: str, values: Sequence[str], since: date, until: date) -> Listing[Cost]:
    """Return what has cost something by service, the most expensive first.

    Args:
        account: The account.
        tag: The cost allocation tag by which costs are told apart.
        values: Its values.
        since: The first day.
        until: The day after the last.
    """
    asked: dict[str, Any] = {
        "TimePeriod": {"Start": since.isoformat(), "End": until.isoformat()},
        "Granularity": "MONTHLY",
        "Metrics": [_METRIC],
        "GroupBy": [{"Type": "DIMENSION", "Key": "SERVICE"}],
        "Filter": {"Tags": {"Key": tag, "Values": list(values), "MatchOptions": ["EQUALS"]}},
    }
    answer = account.ask(Call("ce", "GetCostAndUsage", asked))
    answers, periods = [answer], answer.items("ResultsByTime")
    while token := answer.value.get("NextPageToken"):  # botocore knows no pages of it
        answer = account.ask(Call("ce", "GetCostAndUsage", {**asked, "NextPageToken": token}))
        answers.append(answer)
        periods += answer.items("ResultsByTime")
    return Listing.of(_summed(periods), answers)


def _summed(periods: Sequence[Mapping[str, Any]]) -> list[Cost]:
    found: dict[str, Cost] = {}
    for period in periods:
        for group in period.get("Groups", []):
            service, said = group["Keys"][0], group["Metrics"][_METRIC]
            before = found.get(service)
            found[service] = Cost(
                service=service,
                amount=Decimal(said["Amount"]) + (before.amount if before else 0),
                unit=said["Unit"],
                is_estimated=bool(period.get("Estimated")) or bool(before and before.is_estimated),
            )
    return sorted(found.values(), key=lambda cost: (-cost.amount, cost.service))
