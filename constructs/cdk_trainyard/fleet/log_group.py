"""Where the logs of nodes go: each node's set-up, in a stream of its instance id."""

from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.log_groups import acknowledge_logs_own_key
from cdk_trainyard.retention import KEPT

_REASON = "says which steps a node ran and what failed: holds no data and no secrets, since no values are logged"


def node_logs(scope: Construct, retention: logs.RetentionDays) -> logs.ILogGroup:
    """Define the log group of nodes.

    Args:
        scope: Whose nodes.
        retention: How long logs are kept.
    """
    group = logs.LogGroup(scope, "Logs", retention=retention, removal_policy=KEPT)
    acknowledge_logs_own_key(group, _REASON)
    return group
