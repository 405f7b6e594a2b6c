"""Where the logs of nodes go: each node's set-up, in a stream of its instance id."""

from typing import cast

from aws_cdk import CfnResource
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import NIST_800_53_R5, acknowledge_checkov, acknowledge_nag

_REASON = "says which steps a node ran and what failed: holds no data and no secrets, since no values are logged"


def node_logs(scope: Construct, retention: logs.RetentionDays) -> logs.ILogGroup:
    """Define the log group of nodes.

    Args:
        scope: Whose nodes.
        retention: How long logs are kept.
    """
    group = logs.LogGroup(scope, "Logs", retention=retention)
    resource = cast("CfnResource", group.node.default_child)
    acknowledge_nag(resource, pack=NIST_800_53_R5, rule="CloudWatchLogGroupEncrypted", reason=_REASON)
    acknowledge_checkov(resource, check="CKV_AWS_158", reason=_REASON)
    return group
