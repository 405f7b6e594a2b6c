"""Log groups of what is served."""

from functools import partial
from typing import Final

from cdk_trainyard import log_groups

log_group: Final = partial(
    log_groups.log_group,
    reason="no prompts and no answers are logged; encrypted by CloudWatch Logs, with log_key by your own key",
    warning_id="@cdk-trainyard/serving:log-key",
)
"""Defines one: `cdk_trainyard.log_groups.log_group` with what reviewers are told of each."""
