"""What becomes of what holds data, by default: it is kept, unless the very deployment that made it fails."""

from aws_cdk import RemovalPolicy

KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""Kept when its stack is deleted and when it is replaced; removed when the operation that first made it is rolled back,
since nobody has used it by then and every other try would leave one more behind: ``RetainExceptOnCreate`` as
``DeletionPolicy``, ``Retain`` as ``UpdateReplacePolicy`` (``aws-attribute-deletionpolicy`` in the CloudFormation user
guide)."""


def is_kept(policy: RemovalPolicy) -> bool:
    """Return whether a resource outlives its stack.

    Args:
        policy: Its removal policy.
    """
    return policy in {RemovalPolicy.RETAIN, KEPT}
