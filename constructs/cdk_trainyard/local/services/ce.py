"""Cost Explorer: what a test says that something costs a day, told by service and tag; nothing else costs anything.

Members are those of botocore's model of Cost Explorer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from moto.ce.responses import CostExplorerResponse

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.local.state import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Daily:
    """What something costs a day."""

    service: str
    amount: Decimal
    tags: Mapping[str, str]


_DAILY: Store[list[Daily]] = Store(lambda _account, _region: [])
_EVERYWHERE = ""


def charge(account: str, daily: Daily) -> None:
    """Have something cost money, every day."""
    _DAILY.of(account, _EVERYWHERE).append(daily)


def get_cost_and_usage(request: Request) -> dict[str, Any]:
    """Return costs by service, for each month of the period."""
    start, end = (date.fromisoformat(request["TimePeriod"][name]) for name in ("Start", "End"))
    if start >= end:
        raise ApiError("ValidationException", "Start date (and hour) should be before end date (and hour)")
    wanted = request.get("Filter", {}).get("Tags", {})
    found = [
        each
        for each in _DAILY.of(request.account, _EVERYWHERE)
        if not wanted or each.tags.get(wanted["Key"]) in wanted["Values"]
    ]
    periods = []
    while start < end:
        last = min(end, (start.replace(day=1) + timedelta(days=32)).replace(day=1))
        periods.append(_period(found, start, last, request["Metrics"]))
        start = last
    return {"ResultsByTime": periods}


def _period(found: list[Daily], start: date, end: date, metrics: list[str]) -> dict[str, Any]:
    sums: dict[str, Decimal] = {}
    for each in found:
        sums[each.service] = sums.get(each.service, Decimal(0)) + each.amount * (end - start).days
    groups = [
        {"Keys": [service], "Metrics": {name: {"Amount": str(amount), "Unit": "USD"} for name in metrics}}
        for service, amount in sums.items()
    ]
    period = {"Start": start.isoformat(), "End": end.isoformat()}
    return {"TimePeriod": period, "Total": {}, "Groups": groups, "Estimated": True}


def extend() -> None:
    """Put these costs in the place of moto's."""
    install(CostExplorerResponse, {"get_cost_and_usage": get_cost_and_usage})
