"""What the docstring of an option says of its default is its default, in every specification."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module

import pytest

from cdk_trainyard.options.fields import Field, Object, docs_of, fields_of
from cdk_trainyard.options.members import spelling
from cdk_trainyard.options.stand_ins import StandIn
from tools.keywords import PACKAGE


def specifications() -> Iterator[type]:
    for path in sorted(PACKAGE.rglob("spec*.py")):
        module = import_module(".".join(("cdk_trainyard", *path.relative_to(PACKAGE).with_suffix("").parts)))
        for value in vars(module).values():
            if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__:
                yield value


def said_in_a_file(option: Field) -> str | None:
    """Return how a file spells a default; None for what no file can say in a word."""
    value = option.default.value if isinstance(option.default, StandIn) else option.default
    match option.shape, value:
        case Object(unit=unit), int() if unit is not None:
            return f"{value / unit.seconds:g}"
        case _, Enum():
            return spelling(value)
        case _, bool():
            return str(value).lower()
        case _, str() | int() | float():
            return str(value) or None
    return None


@pytest.mark.parametrize("spec", list(specifications()), ids=lambda spec: spec.__name__)
def test_a_docstring_says_the_default(spec: type) -> None:
    wrong = {}
    for name, option in fields_of(spec).items():
        doc, default = docs_of(spec).get(name, ""), said_in_a_file(option)
        if option.required:
            right = doc.endswith(".") and "Default" not in doc
        else:
            right = "Default - " in doc if default is None else doc.endswith(f"Default: {default}.")
        if not right:
            wrong[name] = doc
    assert wrong == {}
