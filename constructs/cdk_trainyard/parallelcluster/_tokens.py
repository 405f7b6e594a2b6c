"""A Token guard that asks CDK only when the value could be a Token: a cluster of 50 queues has thousands of values."""

from aws_cdk import Token


def unresolved(value: object) -> bool:
    """Return whether ``value`` is a Token, or text that holds one, and so cannot be judged here."""
    match value:
        case str():
            return "${Token[" in value and Token.is_unresolved(value)
        case float():
            return Token.is_unresolved(value)
        case bool() | int() | None:
            return False
        case dict() | list() | tuple():
            return False
        case _:
            return Token.is_unresolved(value)
