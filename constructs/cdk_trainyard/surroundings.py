"""Region and account of a construct's stack, None while they are Tokens, and constructs of one kind that share them."""

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

from aws_cdk import Stack
from constructs import Construct, IConstruct

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.tokens import unresolved

_ERROR_FILE: Final = "CDK_ERROR_FILE"
"""Where CDK writes the code of every error, also of one that is caught, for its CLI (aws-cdk-lib, cx-api/lib/cxapi.ts).
"""
_Construct = TypeVar("_Construct", bound=Construct)


def others(construct: _Construct) -> Iterator[_Construct]:
    """Return the constructs of the same kind that the app has made before, in the same account and Region.

    Args:
        construct: The construct.
    """
    here = _place(Stack.of(construct))
    for other in construct.node.root.node.find_all():
        if isinstance(other, type(construct)) and other is not construct and _place(Stack.of(other)) == here:
            yield other


def known(attribute: Callable[[], str]) -> str | None:
    """Return an attribute of a construct; None where an imported one was not told it, without a trace of the error.

    Args:
        attribute: What asks the construct.
    """
    try:
        return attribute()
    except RuntimeError:
        if file := os.environ.get(_ERROR_FILE):
            Path(file).unlink(missing_ok=True)
        return None


def surroundings(scope: IConstruct) -> Environment:
    """Return the Region and the account of a construct's stack; what is a Token is not known.

    Args:
        scope: The construct.
    """
    region, account = _place(Stack.of(scope))
    return Environment(
        region=None if unresolved(region) else region,
        account=None if unresolved(account) else account,
    )


@lru_cache(maxsize=32)  # every construct asks, and CDK answers from another process
def _place(stack: Stack) -> tuple[str, str]:
    return stack.region, stack.account
