"""CloudWatch Logs: a metric filter wants a log group that exists; prefixes of streams and patterns of groups count."""

import json
from typing import Any

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogsBackend
from moto.logs.responses import LogsResponse

from cdk_trainyard.local.services.api import replace

_put = LogsBackend.put_metric_filter
_describe = LogsResponse.describe_log_groups
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


def _describe_groups_of_a_pattern(response: LogsResponse) -> str:
    """Return the log groups whose names contain a pattern; moto knows prefixes alone."""
    pattern = json.loads(response.body).get("logGroupNamePattern")
    if pattern is None:
        return _describe(response)
    found = [group.to_describe_dict() for name, group in response.logs_backend.groups.items() if pattern in name]
    return json.dumps({"logGroups": found})


def extend() -> None:
    """Correct moto's CloudWatch Logs."""
    replace(LogsBackend, {"put_metric_filter": _put_for_a_group_that_exists})
    replace(
        LogsResponse,
        {"describe_log_groups": _describe_groups_of_a_pattern, "filter_log_events": _filter_streams_of_a_prefix},
    )
