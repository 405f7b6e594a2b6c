"""Kinds of values that nodes are set up with. Pure."""

import re
from typing import Final

from cdk_trainyard.options.kinds import Text


def _in_any_case(pattern: str) -> str:
    """Return a pattern of words for any case of their letters, as JSON Schema has no flag for it."""
    return re.sub("[a-z]", lambda found: f"[{found[0].upper()}{found[0]}]", pattern)


_NAME: Final = "[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"
"""Of a package, and of an extra (PyPA, "Dependency specifiers", which was PEP 508: "Names")."""
_VERSION: Final = (
    rf"{_in_any_case('v?')}([0-9]+!)?[0-9]+(\.[0-9]+)*"
    rf"([._-]?({_in_any_case('alpha|beta|preview|pre|rc|a|b|c')})([._-]?[0-9]+)?)?"
    rf"(-[0-9]+|[._-]?({_in_any_case('post|rev|r')})([._-]?[0-9]+)?)?"
    rf"([._-]?{_in_any_case('dev')}([._-]?[0-9]+)?)?"
    r"(\+[A-Za-z0-9]+([._-][A-Za-z0-9]+)*)?"
)
"""PyPA, "Version specifiers", which was PEP 440: "Parsing version strings with regular expressions"."""
PACKAGE: Final = Text(
    pattern=rf"{_NAME}(\[{_NAME}(,{_NAME})*\])?=={_VERSION}",
    words="a pip requirement with an exact version",
    example="neuronx-cc==2.22.12471.0",
    longest=256,
)
