"""What is not YAML, but what another program writes or reads."""

import re
from math import inf
from typing import Final

from cdk_trainyard.deployment._marks import Answer, position

_UNMERGED: Final = (
    "git could not merge this, and left its markers '<<<<<<<', '=======' and '>>>>>>>';"
    " choose one of both and remove them"
)
_MARKERS: Final = tuple(re.compile(rf"^{sign}{{7}}(?:[ \r]|$)", re.MULTILINE) for sign in "<=>")
"""What git leaves in a file that it could not merge (git-merge, "How conflicts are presented")."""
_FILLED_IN: Final = re.compile(r"^[ \t]*(\{[{%]-?)", re.MULTILINE)
"""How lines of Helm's and Jinja's templates begin."""


def of_another_format(text: str, line: float = inf) -> Answer | None:
    """Return the answer to a file that is not YAML, where it has what only files of another format have.

    Args:
        text: The file.
        line: The line of the fault, counted from one. Default - nobody knows.
    """
    return _unmerged(text) or _template(text, line)


def _unmerged(text: str) -> Answer | None:
    if all(marker.search(text) for marker in _MARKERS):
        return position(_MARKERS[0].split(text, maxsplit=1)[0]), _UNMERGED
    return None


def _template(text: str, line: float) -> Answer | None:
    """Say of the first line that a program should have filled in, at or above the fault, that none does here."""
    found = _FILLED_IN.search(text)
    if found is None or (at := position(text[: found.start(1)]))[0] > line:
        return None
    return at, f"'{found[1]}' begins a line for a template engine, which does not run here; check what it makes of it"
