"""CloudWatch's connector to a workspace of Amazon Managed Service for Prometheus: what a Lambda function runs.

CloudWatch calls it with PromQL that stands in a dashboard, ``LAMBDA('<function>', '<query>', '<legend>', 'range')``,
and draws the series that it answers. Source of both shapes: Amazon CloudWatch user guide, "Create a custom connector to
a data source" (read 2026-11-24). This file is the whole function: standard library, and botocore of Lambda's runtime.
"""

import json
import logging
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError, ConnectTimeoutError, NoCredentialsError, ReadTimeoutError
from botocore.httpsession import URLLib3Session
from botocore.session import Session

MOST_SERIES: Final = 20
"""Series of an answer: more are no graph that somebody reads."""
MOST_POINTS: Final = 11_000
"""Points of a series: Prometheus refuses more ("exceeded maximum resolution of 11,000 points per timeseries")."""
_MOST_VALUES: Final = 100_000
"""Points of an answer, each some 32 bytes: CloudWatch refuses 6 MB."""
_PATIENCE_S: Final = 8
"""CloudWatch waits 10 seconds for the function."""
_CODES: Final = {400: "Validation", 401: "Forbidden", 403: "Forbidden", 422: "NotExecuted", 429: "Throttled"}
"""What CloudWatch is told; of codes that are neither Validation nor Forbidden it shows an internal error."""
_EVERYWHERE: Final = {"__name__", "cluster", "instance", "job"}
"""Labels that tell no series of a cluster from another."""
_ABOUT: Final = """\
PromQL on a workspace of Amazon Managed Service for Prometheus.

| argument | is |
|---|---|
| 1 | a query, in one line |
| 2 | the legend: `{{node}}` is the label `node`. Default: all labels |
| 3 | `range`, or `instant` for the last point alone. Default: `range` |
"""
Series = tuple[Mapping[str, str], Mapping[int, float]]
"""Labels, and values by their second."""


class RefusedError(Exception):
    """Why there is no answer, as CloudWatch is told."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


def handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Answer CloudWatch.

    Args:
        event: ``GetMetricData`` or ``DescribeGetMetricData``.
    """
    if event.get("EventType") == "DescribeGetMetricData":
        return {"Description": _ABOUT, "ArgumentDefaults": [{"Value": "up"}, {"Value": "{{node}}"}]}
    try:
        return {"MetricDataResults": _results(event)}
    except RefusedError as refused:
        logging.getLogger().warning("%s: %s; asked: %s", refused.code, refused, json.dumps(event))
        return {"Error": {"Code": refused.code, "Value": str(refused)}}


def _results(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    if event.get("EventType") != "GetMetricData":
        raise RefusedError("Validation", f"EventType must be GetMetricData, got {event.get('EventType')}")
    request = event["GetMetricDataRequest"]
    query, legend, kind = _arguments(request.get("Arguments", []))
    start, end, period = (int(request[name]) for name in ("StartTime", "EndTime", "Period"))
    last = start + max(0, end - start - 1) // period * period
    points = 1 if kind == "instant" else (last - start) // period + 1
    if points > MOST_POINTS:
        why = f"{points} points of a series, {MOST_POINTS} at most: choose a longer period or a shorter time"
        raise RefusedError("Validation", why)
    asked = {"query": query, "start": last if kind == "instant" else start, "end": last, "step": period}
    found = [(labels, values) for labels, values in _asked(asked) if values]
    most = min(MOST_SERIES, max(1, _MOST_VALUES // points))
    return [
        {"StatusCode": "Complete", "Label": label, "Timestamps": [*values], "Values": [*values.values()]}
        for label, values in _bounded([(_label(legend, labels), values) for labels, values in found], most)
    ]


def _arguments(given: Sequence[object]) -> tuple[str, str, str]:
    query, legend, kind = [*given, *("", "", "range")[len(given) :]][:3]
    if not isinstance(query, str) or not query.strip() or len(given) > len(("query", "legend", "kind")):
        raise RefusedError("Validation", "the arguments are a query of PromQL, a legend, and 'range' or 'instant'")
    if kind not in {"range", "instant"}:
        raise RefusedError("Validation", f"the third argument is 'range' or 'instant', got '{kind}'")
    return query, str(legend), str(kind)


def _label(legend: str, labels: Mapping[str, str]) -> str:
    if legend:
        return re.sub(r"\{\{ *(\w+) *\}\}", lambda found: labels.get(found[1], ""), legend).strip()
    told = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()) if name not in _EVERYWHERE)
    return told or labels.get("__name__", "value")


def _bounded(found: list[tuple[str, Mapping[int, float]]], most: int) -> list[tuple[str, Mapping[int, float]]]:
    """Return the highest series, and in one the highest of the others: its label says how many they are."""
    if len(found) <= most:
        return found
    ranked = sorted(range(len(found)), key=lambda number: max(found[number][1].values()), reverse=True)
    kept, others = sorted(ranked[: most - 1]), [found[number][1] for number in ranked[most - 1 :]]
    highest = {
        second: max(values[second] for values in others if second in values)
        for second in sorted({second for values in others for second in values})
    }
    return [*(found[number] for number in kept), (f"highest of {len(others)} more", highest)]


def _asked(words: Mapping[str, object]) -> Iterator[Series]:
    """Ask for a range, and yield its series without what is no number."""
    status, content = _sent(urlencode(words))
    try:
        answer = json.loads(content)
    except ValueError:
        answer = {}
    if status != 200 or answer.get("status") != "success":  # noqa: PLR2004  OK
        told = answer.get("error") or answer.get("message") or answer.get("Message") or content[:500]
        raise RefusedError(_CODES.get(status, "Unavailable"), f"the workspace answered {status}: {told}")
    for series in answer["data"]["result"]:
        numbers = {int(second): float(value) for second, value in series["values"]}
        yield series["metric"], {second: value for second, value in numbers.items() if math.isfinite(value)}


def _sent(body: str) -> tuple[int, str]:
    request = AWSRequest(
        method="POST",
        url=f"{os.environ['WORKSPACE_ENDPOINT']}api/v1/query_range",
        data=body.encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    try:
        SigV4Auth(Session().get_credentials(), "aps", os.environ["AWS_REGION"]).add_auth(request)
        said = URLLib3Session(timeout=_PATIENCE_S).send(request.prepare())
    except (ConnectTimeoutError, ReadTimeoutError):
        raise RefusedError("Timeout", f"the workspace has not answered within {_PATIENCE_S} seconds") from None
    except NoCredentialsError as error:
        raise RefusedError("Forbidden", f"the function has no role: {error}") from None
    except BotoCoreError as error:
        raise RefusedError("Unreachable", f"the workspace cannot be reached: {error}") from None
    return said.status_code, said.content.decode(errors="replace")
