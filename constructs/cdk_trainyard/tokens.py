"""Token guards: what is known at deployment only is not judged.

CDK is asked only about what could be a Token, since a call of it costs a fraction of a millisecond and a cluster of a
hundred groups has thousands of values. CDK writes Tokens in text as ``${Token[…]}``, in lists of text as
``#{Token[…]}``, and in numbers as floats; integers are never Tokens.
"""

from aws_cdk import Token


def unresolved(*values: object) -> bool:
    """Return whether any of ``values`` is a Token, or text that holds one, and so cannot be judged here."""
    return any(_is_token(value) for value in values)


def _is_token(value: object) -> bool:
    match value:
        case str():
            return "{Token[" in value and Token.is_unresolved(value)
        case float():
            return Token.is_unresolved(value)
        case list() | tuple():
            return any(isinstance(item, str) and item.startswith("#{Token[") for item in value)
        case _:
            return hasattr(value, "__jsii_type__") and Token.is_unresolved(value)
