"""Logs of what is served: log groups, and how containers write there."""

from functools import partial
from typing import Final

from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_logs as logs

from cdk_trainyard import log_groups

log_group: Final = partial(
    log_groups.log_group,
    reason="no prompts and no answers are logged; encrypted by CloudWatch Logs, with log_key by your own key",
    warning_id="@cdk-trainyard/serving:log-key",
)
"""Defines one: `cdk_trainyard.log_groups.log_group` with what reviewers are told of each."""


def log_driver(group: logs.ILogGroup, prefix: str) -> ecs.LogDriver:
    """Return how a container writes to a log group: it never waits for CloudWatch Logs.

    Args:
        group: The log group.
        prefix: How the names of its streams begin.
    """
    return ecs.LogDriver.aws_logs(stream_prefix=prefix, log_group=group, mode=ecs.AwsLogDriverMode.NON_BLOCKING)
