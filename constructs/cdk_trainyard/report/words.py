"""Numbers and lists in words."""

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number and a noun: ``1 bucket``, ``1,200 buckets``.

    Args:
        number: The number.
        noun: The noun, for one.
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def joined(parts: Sequence[str]) -> str:
    """Return a list in words.

    Args:
        parts: The parts.
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
