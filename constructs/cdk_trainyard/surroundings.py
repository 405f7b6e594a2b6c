"""Where a construct's stack goes, as far as it is known while it is defined."""

from aws_cdk import Stack
from constructs import IConstruct

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.tokens import unresolved


def surroundings(scope: IConstruct) -> Environment:
    """Return the Region and the account of a construct's stack; what is a Token is not known.

    Args:
        scope: The construct.
    """
    stack = Stack.of(scope)
    region, account = stack.region, stack.account
    return Environment(
        region=None if unresolved(region) else region,
        account=None if unresolved(account) else account,
    )
