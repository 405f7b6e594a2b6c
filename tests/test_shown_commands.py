"""Commands that the pages of the site name, READMEs among them: each is there, and so are its options."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cdk_trainyard.cli._app import COMMANDS, trainyard
from tools.pages import ROOT, shown

LINE = re.compile(r"^(?:\$ )?(trainyard|make) ([\w-].*)$", re.MULTILINE)
SPAN = re.compile(r"`(trainyard|make) ([^`]+)`")
FENCE = re.compile(r"^```(?:console|bash)$\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = re.compile(r"(?:^|\s)(?:--|\|\||&&|\||>|#)(?:\s|$)")
TARGETS = frozenset(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def named(page: Path) -> set[tuple[str, str]]:
    """Return the commands of a page: the program, and what stands after it up to where something else begins."""
    text = page.read_text()
    found = [*SPAN.findall(text), *(pair for block in FENCE.findall(text) for pair in LINE.findall(block))]
    return {(program, END.split(words)[0].strip()) for program, words in found}


def options(command: click.Command) -> Iterator[str]:
    """Yield the options of a command, and of the commands below it."""
    yield from ("-h", "--help")
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from options(inner)


def unknown(program: str, words: str) -> list[str]:
    """Return what is not there of a command."""
    name, *rest = words.split()
    if program == "make":
        return [] if name in TARGETS or name.startswith(".venv") else [name]
    if name.startswith("-"):
        return [] if name in options(trainyard) else [name]
    command = trainyard.get_command(click.Context(trainyard), name) if name in COMMANDS else None
    if command is None:
        return [] if name.isupper() else [name]
    known = set(options(command))
    return [word for word in rest if word.startswith("-") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("page", [page for page in shown(".md") if named(page)], ids=lambda page: str(page.parent.name))
def test_what_is_shown_is_there(page: Path) -> None:
    wrong = {f"{program} {words}": unknown(program, words) for program, words in named(page)}
    assert {command: words for command, words in wrong.items() if words} == {}


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("chek FILE", ["chek"]),
        ("deploy FILE --yess", ["--yess"]),
        ("rehearse FILE --scripts x", []),
        ("--hlep", ["--hlep"]),
    ],
)
def test_what_is_not_there_is_found(words: str, missing: list[str]) -> None:
    assert unknown("trainyard", words) == missing
