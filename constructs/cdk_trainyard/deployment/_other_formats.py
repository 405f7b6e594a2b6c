"""What is not YAML, but what another program writes or reads."""

import re
from itertools import islice
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
_FENCE: Final = re.compile(r"^(?:`{3}|~{3})", re.MULTILINE)
"""What begins and ends code in Markdown (CommonMark 0.31.2, section 4.5)."""
_KEY: Final = re.compile(r"""^["']?[\w.-]+["']? *:(?:\s|$)""", re.MULTILINE)
_FIRST: Final = re.compile(r"^(?![ \t\r]*$|[#;]|//).*", re.MULTILINE)
"""The first line that is no comment, here or elsewhere."""
_INSTEAD: Final = "a deployment file is YAML ('name: …', 'region: …')"


def of_another_format(text: str, line: float = inf) -> Answer | None:
    """Return the answer to a file that is not YAML, where it has what only files of another format have.

    Args:
        text: The file.
        line: The line of the fault, counted from one. Default - nobody knows.
    """
    return _unmerged(text) or _quoted(text) or _fence(text, line) or _template(text, line) or _no_keys(text)


def _unmerged(text: str) -> Answer | None:
    if all(marker.search(text) for marker in _MARKERS):
        return position(_MARKERS[0].split(text, maxsplit=1)[0]), _UNMERGED
    return None


def _quoted(text: str) -> Answer | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(line.startswith(">") for line in lines):
        return position(text.partition(">")[0]), "'>' is the sign of a quoted mail; leave it out of every line"
    return None


def _fence(text: str, line: float) -> Answer | None:
    """Say of what begins a block in Markdown, at or above the fault, that it is no part of the block."""
    places = [position(text[: found.start()]) for found in islice(_FENCE.finditer(text), 2)]
    if not places or places[0][0] > line:
        return None
    this = "this line" if len(places) == 1 else f"this line and line {places[1][0]}"
    return places[0], f"this is a fence of Markdown; leave {this} out"


def _template(text: str, line: float) -> Answer | None:
    """Say of the first line that a program should have filled in, at or above the fault, that none does here."""
    found = next((each for each in _FILLED_IN.finditer(text) if not _is_in_a_block(text[: each.start(1)])), None)
    if found is None or (at := position(text[: found.start(1)]))[0] > line:
        return None
    return at, f"'{found[1]}' begins a line for a template engine, which does not run here; check what it makes of it"


def _is_in_a_block(before: str) -> bool:
    """Say whether what follows is in the text of several lines that '|' or '>' begins."""
    *above, line = before.split("\n")
    indent = len(line)
    for each in reversed(above):
        own = len(each) - len(each.lstrip())
        if each.strip() and own < indent:
            if re.search(r"(?:^|\s)[|>][-+0-9]*\s*(?:#.*)?$", each):
                return True
            indent = own
    return False


def _no_keys(text: str) -> Answer | None:
    """Say which other format a file looks like that has no key of YAML at the margin."""
    first = _FIRST.search(text)
    if first is None or _KEY.search(text):
        return None
    assigned = re.match(r"[\w.-]+ *=(?!=)|[\w-]+(?: +\"[^\"]*\")* *\{\s*$", first[0])
    if assigned or (re.match(r"\[[\w .:-]+\]\s*$", first[0]) and re.search(r"^[\w.-]+ *=", text, re.MULTILINE)):
        return position(text[: first.start()]), f"this looks like HCL, INI or TOML; {_INSTEAD}"
    if re.match(r"#!|#SBATCH ", text) and re.match(r"\w", first[0]):
        return (1, 1), f"this looks like a script; {_INSTEAD}"
    return None
