"""CloudWatch, whose front checks what moto does not: the values that an alarm may have."""

from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult

from cdk_trainyard.local.services.api import plain, replace
from cdk_trainyard.local.services.constraints import check

_put = CloudWatchResponse.put_metric_alarm


def _check_and_put(response: CloudWatchResponse) -> ActionResult:
    check("cloudwatch", "PutMetricAlarm", plain(response._get_params()))  # noqa: SLF001  moto's way to read requests
    return _put(response)


def extend() -> None:
    """Correct moto's CloudWatch."""
    replace(CloudWatchResponse, {"put_metric_alarm": _check_and_put})
