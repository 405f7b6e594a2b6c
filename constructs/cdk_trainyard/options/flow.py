"""Text that would be a list or a mapping without the quotes around it. Pure."""

import json
from typing import Any, Final, TypeGuard

from cdk_trainyard.options.kinds import Environment, Text
from cdk_trainyard.options.secrets import secret_problem
from cdk_trainyard.problems import Flaw, shown

_LONGEST: Final = 1000
_PAIRS: Final = ("[]", "{}")


def items_of(text: object, *, is_json: bool = False) -> list[Any]:
    """Return the items of the list that text is to YAML; none where it is none.

    Args:
        text: The text.
        is_json: Whether it must be one to JSON, too, whose items are in quotes: ``[ -f /x ]`` is a command.
    """
    found = _read(text, is_json=is_json)
    return found if isinstance(found, list) and not any(item is None for item in found) else []


def is_mapping(text: object) -> TypeGuard[str]:
    """Say whether text is a mapping to YAML, of which every key has a value."""
    found = _read(text, is_json=False)
    return isinstance(found, dict) and None not in found.values()


def unquoted(text: str) -> str:
    """Return what to do about such text, as the end of a sentence."""
    return "; take the quotes away" if secret_problem(text) else f"; take the quotes away: {text}"


def _read(text: object, *, is_json: bool) -> object:
    if not isinstance(text, str) or len(text) > _LONGEST or text[:1] + text[-1:] not in _PAIRS or "\n" in text:
        return None
    try:
        return (json.loads if is_json else _flow)(text) or None
    except (ValueError, RecursionError):
        return None


def _flow(text: str) -> object:
    """Read YAML; without what reads files, which is in an extra, as JSON."""
    try:
        import yaml  # noqa: PLC0415  as said
    except ImportError:
        return json.loads(text)
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


class NoList(Text):
    """Text that may be anything but a list in quotes."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match it, and look whether it is a list."""
        if items_of(value):
            return Flaw("must be one item, and no list in quotes", got=shown(value), remedy="; write each as one")
        return Text.problem(self, value, environment)
