"""A Token guard that asks CDK only when the value could be a Token: a cluster of 100 groups has thousands of values."""

from aws_cdk import Token


def unresolved(value: object) -> bool:
    """Return whether ``value`` is a Token, or text that holds one, and so cannot be judged here.

    CDK writes Tokens in text as ``${Token[…]}`` and in numbers as huge floats; integers are never Tokens.
    """
    match value:
        case str():
            return "${Token[" in value and Token.is_unresolved(value)
        case float():
            return Token.is_unresolved(value)
        case _:
            return False
