"""Log groups with a retention, encrypted by a key of the user's or by CloudWatch Logs itself."""

from aws_cdk import ArnFormat, Aws, CfnResource, Names, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import NIST_800_53_R5, acknowledge_checkov, acknowledge_nag

# CloudWatch Logs user guide, "Encrypt log data in CloudWatch Logs using AWS KMS", its wildcards written out
_KEY_ACTIONS = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
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

    Args:
        scope: Where it is defined.
        construct_id: Its id there.
        retention: How long entries are kept.
        key: Its key. None: CloudWatch Logs encrypts with its own.
        prefix: What its name must begin with, for a service that insists. None: it gets its name from CloudFormation.
    """
    if key is not None:
        groups = Stack.of(scope).format_arn(
            service="logs", resource="log-group", resource_name="*", arn_format=ArnFormat.COLON_RESOURCE_NAME
        )
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(f"logs.{Aws.REGION}.{Aws.URL_SUFFIX}")],
                actions=list(_KEY_ACTIONS),
                resources=["*"],  # in a key policy: this key
                conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
            )
        )
    name = None if prefix is None else f"{prefix}{Names.unique_resource_name(scope, max_length=200, separator='-')}"
    group = logs.LogGroup(scope, construct_id, log_group_name=name, retention=retention, encryption_key=key)
    resource = group.node.default_child
    if key is None and isinstance(resource, CfnResource):
        acknowledge_nag(resource, pack=NIST_800_53_R5, rule="CloudWatchLogGroupEncrypted", reason=_REASON)
        acknowledge_checkov(resource, check="CKV_AWS_158", reason=_REASON)
    return group
