"""Log groups: how CloudWatch Logs may use a key, why a group has none, and a name that stands in nobody's way."""

from aws_cdk import Annotations, ArnFormat, Aws, Fn, Names, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.retention import KEPT

# CloudWatch Logs user guide, "Encrypt log data in CloudWatch Logs using AWS KMS", its wildcards written out
_ACTIONS = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)


def log_group(
    scope: Construct,
    construct_id: str,
    *,
    retention: logs.RetentionDays,
    reason: str,
    key: kms.IKey | None = None,
    warning_id: str = "",
    prefix: str | None = None,
) -> logs.LogGroup:
    """Define a log group that is kept; without a key CloudWatch Logs encrypts it with its own.

    The policy of a key is extended so that CloudWatch Logs of this account may use it; one that is imported keeps its
    policy, and a warning says what it must allow.

    Args:
        scope: Where it is defined.
        construct_id: Its id there.
        retention: How long entries are kept.
        reason: What is in it and what is not, for reviewers of one without a key.
        key: Its key. Default - CloudWatch Logs encrypts with its own.
        warning_id: Id of the warning, where a key can be given.
        prefix: What its name must begin with, for a service that insists. Default - CloudFormation names it.
    """
    if key is not None:
        let_logs_use(key, scope, warning_id=warning_id)
    name = None if prefix is None else f"{prefix}{unique_of_stack(scope)}"
    group = logs.LogGroup(
        scope, construct_id, log_group_name=name, retention=retention, encryption_key=key, removal_policy=KEPT
    )
    if key is None:
        acknowledge_logs_own_key(group, reason)
    return group


def let_logs_use(key: kms.IKey, scope: Construct, *, warning_id: str) -> None:
    """Let CloudWatch Logs use a key for log groups of this account; warn when its policy is somebody else's.

    Args:
        key: The key.
        scope: Where the log group is defined.
        warning_id: Id of the warning.
    """
    groups = Stack.of(scope).format_arn(
        service="logs", resource="log-group", resource_name="*", arn_format=ArnFormat.COLON_RESOURCE_NAME
    )
    added = key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"logs.{Aws.REGION}.{Aws.URL_SUFFIX}")],
            actions=list(_ACTIONS),
            resources=["*"],  # in a key policy: this key
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
        )
    )
    if not added.statement_added:
        Annotations.of(scope).add_warning_v2(
            warning_id,
            f"the policy of the key cannot be changed from here ({key.node.path}): it must let CloudWatch Logs use the "
            "key for log groups of this account",
        )


def unique_of_stack(scope: Construct) -> str:
    """Return a name for a log group of which a service demands how it begins: the path, and the stack's own id.

    A retained log group of a deleted stack therefore never stands in the way of the same stack made anew.

    Args:
        scope: What the log group is of.
    """
    stack_instance = Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Aws.STACK_ID))))
    return f"{Names.unique_resource_name(scope, max_length=200, separator='-')}-{stack_instance}"


def acknowledge_logs_own_key(group: logs.LogGroup, reason: str) -> None:
    """Explain to reviewers why a log group is encrypted by CloudWatch Logs itself.

    Args:
        group: The log group.
        reason: What is in it, and what is not.
    """
    acknowledge(
        main_resource(group), dict.fromkeys(("NIST.800.53.R5-CloudWatchLogGroupEncrypted", "CKV_AWS_158"), reason)
    )
