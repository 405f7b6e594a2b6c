"""Templates of Prometheus that users write, as far as they can be judged without its parser. No CDK."""

import re
from collections.abc import Iterator
from typing import Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import did_you_mean

_STRING: Final = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`"
_COMMENT: Final = r"(?:-\s)?/\*(?s:.*?)\*/(?:\s-)?"
_ACTION: Final = re.compile(rf"\{{\{{({_COMMENT}|(?:{_STRING}|(?!\}}\}})[^\"'`])*)\}}\}}")
_WORD: Final = re.compile(r"(?<![\w.$])[A-Za-z_]\w*")
_VARIABLE: Final = re.compile(r"\$([A-Za-z_]\w*)")
_OPENING: Final = {"if", "range", "with", "define", "block"}


def is_open(text: str) -> bool:
    """Return whether a template begins something that it does not close.

    Args:
        text: The template.
    """
    return "{{" in _ACTION.sub("", text)


def lacks_newer(said: str) -> bool:
    """Return whether a promtool found no fault but a function of templates that later ones have.

    Args:
        said: What it says.
    """
    found = re.search(r'function "(\w+)" not defined$', said)
    return found is not None and found[1] in load("monitoring", "template_functions")["newer"]


def template_fault(text: str) -> str | None:
    """Return what Prometheus would find wrong with a template, or None where nothing is seen to be.

    Args:
        text: The template.
    """
    actions = [re.sub(_STRING, " ", found[1]).strip("- \t\n") for found in _ACTION.finditer(text)]
    return next(_faults([action for action in actions if not action.startswith("/*")]), None)


def _faults(actions: list[str]) -> Iterator[str]:
    known: Any = load("monitoring", "template_functions")
    functions = [*known["prometheus"], *known["newer"], *known["go"]]
    own = {name for action in actions if ":=" in action for name in _VARIABLE.findall(action.partition(":=")[0])}
    variables = {*known["variables"], *own}
    for action in actions:
        for name in _WORD.findall(action):
            if name not in functions:
                yield f"Prometheus has no function {name} for templates{did_you_mean(name, functions)}"
        for name in _VARIABLE.findall(action):
            if name not in variables:
                hint = did_you_mean(f"${name}", [f"${each}" for each in sorted(variables)])
                yield f"a template has no variable ${name}{hint}"
    first = [words[0] for action in actions if (words := _WORD.findall(action))]
    opened, closed = sum(word in _OPENING for word in first), first.count("end")
    if opened != closed:
        yield f"it has {opened} of 'if', 'range' and 'with', and 'end' {closed} times"
