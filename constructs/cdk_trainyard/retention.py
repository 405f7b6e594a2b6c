"""What becomes of what holds data, by default: it is kept, unless the very deployment that made it fails."""

from aws_cdk import CfnResource, RemovalPolicy
from constructs import IConstruct

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


def keep_with(policy: RemovalPolicy, construct: IConstruct, *types: str) -> None:
    """Keep what a kept resource cannot do without, as it is kept itself.

    Args:
        policy: The resource's removal policy; nothing happens where it does not outlive its stack.
        construct: What is kept with it, with all that is defined inside.
        types: How the types of resources begin that are kept.
    """
    for part in construct.node.find_all() if is_kept(policy) else ():
        if isinstance(part, CfnResource) and part.cfn_resource_type.startswith(types):
            part.apply_removal_policy(policy)
