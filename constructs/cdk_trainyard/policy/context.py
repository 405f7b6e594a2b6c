"""The request context: condition keys and their values."""

from collections.abc import Mapping, Sequence

Values = str | Sequence[str]


class Context:
    """The condition keys of a request; their names are not case-sensitive, tag keys in them neither.

    Args:
        keys: Each key's value, or values. A key without a value (``[]``) is absent.
    """

    def __init__(self, keys: Mapping[str, Values]) -> None:
        self._values = {
            key.lower(): (value,) if isinstance(value, str) else tuple(value)
            for key, value in keys.items()
            if isinstance(value, str) or value
        }

    def values(self, key: str) -> tuple[str, ...]:
        """Return the values of ``key``; none when it is absent."""
        return self._values.get(key.lower(), ())
