"""CloudWatch, whose front checks what moto does not: the values that an alarm may have; and composite alarms."""

import re
from collections.abc import Mapping
from typing import Any

from moto.cloudwatch.exceptions import ValidationError
from moto.cloudwatch.models import CloudWatchBackend, cloudwatch_backends
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult

from cdk_trainyard.local.services.api import Request, install, plain, replace
from cdk_trainyard.local.services.constraints import check

_put = CloudWatchResponse.put_metric_alarm
_NAMED = re.compile(r"""(?:ALARM|OK|INSUFFICIENT_DATA)\(["']?(?:arn:[^)"']*:alarm:)?([^)"']+)""")
_ACTIONS = {
    "alarm_actions": "AlarmActions",
    "ok_actions": "OKActions",
    "insufficient_data_actions": "InsufficientDataActions",
}


def _check_and_put(response: CloudWatchResponse) -> ActionResult:
    check("cloudwatch", "PutMetricAlarm", plain(response._get_params()))  # noqa: SLF001  moto's way to read requests
    return _put(response)


def _put_composite(request: Request) -> Mapping[str, Any]:
    """Keep a composite alarm, which moto can describe and delete; its rule names alarms that are there."""
    backend: CloudWatchBackend = cloudwatch_backends[request.account][request.region]
    unknown = [name for name in _NAMED.findall(request["AlarmRule"]) if name not in backend.alarms]
    if unknown:
        names = ", ".join(unknown)
        raise ValidationError(f"Could not save the composite alarm as alarms [{names}] in the alarm rule do not exist")
    nothing: dict[str, Any] = dict.fromkeys(
        ("namespace", "metric_name", "comparison_operator", "evaluation_periods", "period", "threshold", "statistic")
    )
    said: dict[str, Any] = {argument: request.get(name, []) for argument, name in _ACTIONS.items()}
    backend.put_metric_alarm(
        name=request["AlarmName"],
        rule=request["AlarmRule"],
        description=request.get("AlarmDescription"),
        actions_enabled=request.get("ActionsEnabled", default=True),
        dimensions=[],
        tags=request.get("Tags", []),
        **nothing,
        **said,
    )
    return {}


def extend() -> None:
    """Correct moto's CloudWatch."""
    replace(CloudWatchResponse, {"put_metric_alarm": _check_and_put})
    install(CloudWatchResponse, {"put_composite_alarm": _put_composite})
