"""CloudWatch Logs: a metric filter wants a log group that exists, and a prefix of log streams is heeded."""

import json
from typing import Any

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogsBackend
from moto.logs.responses import LogsResponse

from cdk_trainyard.local.services.api import replace

_put = LogsBackend.put_metric_filter
_filter = LogsResponse.filter_log_events


def _put_for_a_group_that_exists(
    backend: LogsBackend, filter_name: str, filter_pattern: str, log_group_name: str, *more: Any, **named: Any
) -> None:
    if log_group_name not in backend.groups:
        raise ResourceNotFoundException("The specified log group does not exist.")
    _put(backend, filter_name, filter_pattern, log_group_name, *more, **named)


def _filter_streams_of_a_prefix(response: LogsResponse) -> str:
    """Ask for the streams of a prefix by their names, which is all that moto heeds; none has the empty name."""
    asked = json.loads(response.body)
    group = response.logs_backend.groups.get(asked.get("logGroupName"))
    if group and "logStreamNamePrefix" in asked:
        names = [name for name in group.streams if name.startswith(asked["logStreamNamePrefix"])]
        response.body = json.dumps({**asked, "logStreamNames": names or [""]})
    return _filter(response)


def extend() -> None:
    """Correct moto's CloudWatch Logs."""
    replace(LogsBackend, {"put_metric_filter": _put_for_a_group_that_exists})
    replace(LogsResponse, {"filter_log_events": _filter_streams_of_a_prefix})
