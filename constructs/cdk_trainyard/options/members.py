"""Members of an enumeration as a file spells them, and which one another value was most likely meant for. Pure."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from cdk_trainyard.errors import same
from cdk_trainyard.options.remedies import is_nothing, likely, switch

_FORMER_VALUES: Final = "FORMER_VALUES"
"""An enumeration may have a table of values that it had, or never will have: value → what to do instead."""


def spellings(enumeration: type[Enum]) -> dict[str, Enum]:
    """Return the members of an enumeration by how a file spells them."""
    return {spelling(member): member for member in enumeration}


def spelling(member: Enum) -> str:
    """Return how a file spells a member of an enumeration: its value when that is text, else its name."""
    return str(member.value if isinstance(member.value, str) else member.name)


def instead(wanted: type[Enum], data: Any) -> str:
    """Return what to do in place of a value that is no member, as the end of a sentence.

    Args:
        wanted: The enumeration.
        data: The value.
    """
    words = spellings(wanted)
    former: Mapping[str, str] = getattr(wanted, _FORMER_VALUES, {})
    said = switch(data) or (str(data) if isinstance(data, str | int) else "")
    if said in former:
        return f"; {former[said]}"
    meant = [word for word, member in words.items() if type(data) is int and member.value == data]
    meant += [word for word in words if is_nothing(data) and is_nothing(word)]
    if len(meant) == 1 and not same(str(data), meant):
        return f"; write {meant[0]}"
    return likely(data, words) if isinstance(data, str) else ""
