"""Log groups with a retention, encrypted by a key of the user's or by CloudWatch Logs itself."""

from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.log_groups import acknowledge_logs_own_key, let_logs_use, unique_of_stack
from cdk_trainyard.retention import KEPT

_REASON = "no prompts and no answers are logged; encrypted by CloudWatch Logs, with log_key by your own key"


def log_group(
    scope: Construct,
    construct_id: str,
    *,
    retention: logs.RetentionDays,
    key: kms.IKey | None,
    prefix: str | None = None,
) -> logs.LogGroup:
    """Define a log group; the key's policy is extended so that CloudWatch Logs of this account may use it.

    A key that is imported keeps its policy: a warning says what it must allow.

    Args:
        scope: Where it is defined.
        construct_id: Its id there.
        retention: How long entries are kept.
        key: Its key. None: CloudWatch Logs encrypts with its own.
        prefix: What its name must begin with, for a service that insists. None: it gets its name from CloudFormation.
    """
    if key is not None:
        let_logs_use(key, scope, warning_id="@cdk-trainyard/serving:log-key")
    name = None if prefix is None else f"{prefix}{unique_of_stack(scope)}"
    group = logs.LogGroup(
        scope, construct_id, log_group_name=name, retention=retention, encryption_key=key, removal_policy=KEPT
    )
    if key is None:
        acknowledge_logs_own_key(group, _REASON)
    return group
