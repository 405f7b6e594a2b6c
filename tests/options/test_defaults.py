"""What the docstring of an option says of its default is its default, in every specification."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from inspect import get_annotations

import pytest

from cdk_trainyard.lifecycle.spec import MetricsAgent
from cdk_trainyard.options.fields import Field, Object, docs_of, fields_of
from cdk_trainyard.options.members import spelling
from cdk_trainyard.options.stand_ins import StandIn
from tools.keywords import PACKAGE


def specifications() -> Iterator[type]:
    for path in sorted({*PACKAGE.rglob("spec*.py"), *(PACKAGE / "deployment").rglob("*.py")}):
        module = import_module(".".join(("cdk_trainyard", *path.relative_to(PACKAGE).with_suffix("").parts)))
        for value in vars(module).values():
            own = isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
            if own and (path.stem.startswith("spec") or value.__name__.endswith("Section")):
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


def test_a_number_with_a_default_is_declared_once() -> None:
    """But for the agent of metrics, whose options nodes are told in their order."""
    declared: dict[tuple[str, ...], list[str]] = {}
    for spec in {*specifications()} - {MetricsAgent}:
        options, docs = fields_of(spec), docs_of(spec)
        for name in get_annotations(spec).keys() & docs.keys():
            if type(options[name].default) is int:
                said = (name, repr(options[name]), docs[name])
                declared.setdefault(said, []).append(spec.__qualname__)
    assert {key[0]: names for key, names in declared.items() if len(names) > 1} == {}


def test_a_reservation_is_called_the_same_wherever_it_is_named() -> None:
    options = [fields_of(spec).get("reservation_id") for spec in specifications()]
    assert len({option.shape for option in options if option is not None}) == 1
