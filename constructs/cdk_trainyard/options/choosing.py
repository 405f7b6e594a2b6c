"""Of which specification a section is, where a key of its own, or another option, decides. Pure."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.errors import asked, same
from cdk_trainyard.options.fields import Chosen, Part, keys_of
from cdk_trainyard.options.unknown_keys import instead_of, meant
from cdk_trainyard.problems import shown
from cdk_trainyard.tokens import Unknown


def section_spec(part: Part, keys: Mapping[str, Any]) -> type:
    """Return the specification that a section is of, also when the key that decides it is misspelt or has no value."""
    if part.existing is None:
        return part.spec
    own, other = (keys.keys() & keys_of(spec).keys() for spec in (part.spec, part.existing))
    if isinstance(keys.get(part.unless), Unknown):
        return part.spec if own - other and other - own == {part.unless} else part.existing
    misspelt = any(meant(key, part.existing, keys_of(part.existing))[:1] == [part.unless] for key in keys.keys() - own)
    return part.chosen([part.unless] if misspelt and not own - other else keys)


def of_the_other(part: Part, spec: type, key: str) -> str:
    """Return what is wrong with a key that only the other specification of a part has, or nothing."""
    if part.existing is None:
        return ""
    found = same(key, keys_of(part.spec if spec is part.existing else part.existing))
    if not found or found == [part.unless]:
        return f"is no key here{asked(key, found)}" if found else ""
    if spec is part.existing:
        instead = instead_of(key, spec) or "leave one of both out"
        return f"is no key beside {shown(part.unless)}, which says that it exists already; {instead}"
    return f"is no key without {shown(part.unless)}, which says that it exists already; give that, or leave this out"


def part_chosen(chosen: Chosen, data: Mapping[str, Any]) -> Part | None:
    """Return the part that another option chose, or None when nobody knows which one that is."""
    spec = chosen.spec(data.get(chosen.key))
    return None if spec is None else Part(spec=spec)
