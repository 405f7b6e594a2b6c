"""CloudWatch Logs, which takes a metric filter only for a log group that exists; moto takes any."""

from typing import Any

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogsBackend

from cdk_trainyard.local.services.api import replace

_put = LogsBackend.put_metric_filter


def _put_for_a_group_that_exists(
    backend: LogsBackend, filter_name: str, filter_pattern: str, log_group_name: str, *more: Any, **named: Any
) -> None:
    if log_group_name not in backend.groups:
        raise ResourceNotFoundException("The specified log group does not exist.")
    _put(backend, filter_name, filter_pattern, log_group_name, *more, **named)


def extend() -> None:
    """Correct moto's CloudWatch Logs."""
    replace(LogsBackend, {"put_metric_filter": _put_for_a_group_that_exists})
