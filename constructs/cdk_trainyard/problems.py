"""What is wrong with what a user wrote: where, and a sentence.

Rules return problems; nobody reads a place back out of a sentence. The path names options as they are called in Python;
whoever shows a problem translates it: a construct leaves it as it is, the deployment file says file, line and column.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, TypeVar

At = tuple[str | int, ...]
"""Where: names of options, names of items and indices, from the construct's keywords on:
``("groups", "workers", "volumes", 1, "size_gb")``."""

_OPEN, _CLOSE = "\ue000", "\ue001"  # private characters: no value has them, since a value is shown by its repr
_REFERENCE: Final = re.compile(f"{_OPEN}([0-9]+):(.*?){_CLOSE}")
_NO_NAME: Final = '""'
_LONGEST: Final = 100
_MOST_CHOICES: Final = 8


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        at: The option that is wrong, or the one that is missing.
        text: What is wrong, as a sentence whose subject is that option: ``must be 0 to 6758, got 9000``. Other options
            are named with `option`, values with `shown`.
        of_key: Whether the option itself should not be there, whatever its value.
    """

    at: At
    text: str
    of_key: bool = False


@dataclass(frozen=True, slots=True)
class Warned:
    """One thing that is taken, and may surprise.

    Attributes:
        at: The section that it is about; empty: the room's own.
        slug: What it is acknowledged by: ``@cdk-trainyard/network:docker-bridge``.
        text: What may happen, as whole sentences.
    """

    at: At
    slug: str
    text: str


_Found = TypeVar("_Found", bound=Problem | Warned)


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a value, which an option may have, an item of a list, or a name.

    Attributes:
        must: What it must be, as a sentence without its subject: ``must be 0 to 6758``.
        got: What it is, as the sentence shows it. Default - it is not shown.
        remedy: What to do about it, as the end of the sentence: ``; use 'worker-1'``. Default - nothing is offered.
    """

    must: str
    got: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        """Return the sentence."""
        return f"{self.must}{self.got and f', got {self.got}'}{self.remedy}"

    def as_name(self) -> "Flaw":
        """Return the same of a value that is the name of an item."""
        return replace(self, got=f"{self.got} as a name")

    def at(self, at: At, *, of_key: bool = False) -> Problem:
        """Return what is wrong with an option that has the value.

        Args:
            at: The option.
            of_key: Whether the option itself should not be there, whatever its value.
        """
        return Problem(at, str(self), of_key=of_key)


def within(around: At, found: Iterable[_Found]) -> Iterator[_Found]:
    """Return problems or warnings of a part as those of the whole.

    Args:
        around: Where the part stands in the whole.
        found: The part's.
    """
    for each in found:
        yield replace(each, at=(*around, *each.at))


def warned(room: str, slug: str, texts: Iterable[str]) -> Iterator[Warned]:
    """Return warnings of a room that have one id.

    Args:
        room: The room.
        slug: The id, of those of the room.
        texts: What may happen.
    """
    return (Warned((), f"@cdk-trainyard/{room}:{slug}", text) for text in texts)


def warnings_of(room: str, table: Mapping[str, Callable[..., Iterable[str]]], *facts: object) -> Iterator[Warned]:
    """Return what the warnings of a room say of facts.

    Args:
        room: The room.
        table: Its warnings by their ids.
        facts: What each of them takes.
    """
    return chain.from_iterable(warned(room, slug, warning(*facts)) for slug, warning in table.items())


def is_around(section: At, at: At) -> bool:
    """Say whether a section has an option, however deep, and is not it.

    Args:
        section: The section.
        at: The option.
    """
    return len(section) < len(at) and at[: len(section)] == section


def option(name: str, *, up: int = 1) -> str:
    """Return what names another option in a sentence, whatever it is called there.

    Args:
        name: The option, with dots when it is deeper: ``"slurm.idle_time"``.
        up: How many steps up from the option that is wrong the section is that has it. Default - the same section.
    """
    return f"{_OPEN}{up}:{name}{_CLOSE}"


def shown(value: Any) -> str:
    """Return a value as a sentence shows it: as it was written, in quotes when it is text, cut when it fills lines."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _in_quotes(value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…")
        case None:
            return "nothing"
    return str(value)


def _in_quotes(text: str) -> str:
    """Return text as ``repr`` does, but with each backslash as it is, unless signs that nobody sees are in it."""
    quote = '"' if "'" in text and '"' not in text else "'"
    return f"{quote}{text}{quote}" if text.isprintable() and quote not in text else repr(text)


def either(choices: Iterable[str], *, all_in: str = "") -> str:
    """Return choices as a sentence lists them, a few of them when there are many.

    Args:
        choices: The choices.
        all_in: Where all of them are. Default - nobody is sent anywhere.
    """
    words = list(choices)
    if len(words) > _MOST_CHOICES:
        return f"{', '.join(words[:_MOST_CHOICES])}, …" + (f" (all are in {all_in})" if all_in else "")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def dotted(at: At) -> str:
    """Return a path as text: ``groups.workers.volumes[1].size_gb``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{legible(part) or _NO_NAME}" for part in at)
    return "".join(parts).removeprefix(".")


def legible(text: str) -> str:
    """Return text with escapes in place of characters that cannot be seen, or that change how others are seen."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def others(problem: Problem) -> Iterator[At]:
    """Yield the options that a problem names beside its own.

    Args:
        problem: The problem.
    """
    for up, name in _REFERENCE.findall(problem.text):
        yield (*problem.at[: -int(up)], *name.split("."))


def sentence(problem: Problem, *, called: Callable[[At], At] = lambda at: at) -> str:
    """Return a problem as a sentence with its subject.

    Args:
        problem: The problem.
        called: What an option is called by whoever reads this. Default - as in Python.
    """

    def named(reference: re.Match[str]) -> str:
        section = problem.at[: -int(reference[1])]
        return repr(dotted(called((*section, *reference[2].split(".")))[len(called(section)) :]))

    text = _REFERENCE.sub(named, problem.text)
    subject = dotted(called(problem.at))
    return f"'{subject}' {text}" if subject else text
