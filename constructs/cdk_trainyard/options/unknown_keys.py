"""What a key that its section does not have was most likely meant for."""

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import asked, same
from cdk_trainyard.options.elsewhere import Whole, chosen, elsewhere, of_another
from cdk_trainyard.options.fields import keys_of, likeliest_first
from cdk_trainyard.options.signs import after_colon, wide
from cdk_trainyard.options.units import SIZE, TIME, in_its_unit
from cdk_trainyard.problems import At, either

COMMENT: Final = "a comment begins with '#'"
_FOREIGN: Final = ("//", "/*", "\uff03")
"""How comments begin in other languages, and with a sign of East Asian writing."""
_EXTENSION: Final = "x-"
"""How keys begin that Compose leaves to its users, who keep anchors there (Compose Specification, "Extension")."""
LISTED: Final = "[]"
"""What stands in the table for a section that is a list."""
SWITCHED_ON: Final = "true"
"""What stands in the table for a section that is only switched on, and that must have a key."""
_SWITCH: Final = frozenset({"enable", "enabled"})
"""How a section is switched on elsewhere, which has no such key here: it is on where it stands."""
_NAMED: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")
"""How what to do instead of a key names keys of the same section, the one that was meant first; behind ':' is the unit
that the other key counts in, where this one counts in another."""
_ID_IN_ARN: Final = re.compile(r"arn:.*/([a-z]+-[0-9a-f]{8,17})")
"""An ARN of what has an id of EC2 or FSx."""
_WORD_BEGINS: Final = re.compile(r"[\s.-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BINARY: Final = re.compile(r"([KMGTP])iB")
_MEASURES: Final = (TIME.keys(), SIZE.keys(), {"iops"})
"""Words of a key that say by what its value is counted, by what they measure."""
_UNITS: Final = frozenset({"arn", "id", "s"}.union(*_MEASURES))
"""These, and those that say by what a thing is named."""
_ALIKE: Final = 0.8
_SHORT: Final = 4
"""Letters of a word in which one that is wrong is more than `_ALIKE` takes."""
_ALIKE_AS_A_WHOLE: Final = 0.9
_ALIKE_IN_ANOTHER_SCRIPT: Final = 0.6
_NEGATIONS: Final = frozenset({"disable", "disabled", "no", "not", "plain", "without"})
"""Words of a key that turn it into its opposite, which nobody means."""
_MOST: Final = 3
"""Keys that are named; words that more keys share say too little."""


def in_snake_case(name: str) -> str:
    """Return a name in CamelCase or kebab-case, acronyms in it or not, as options are written: ``dns_name``.

    Args:
        name: As CloudFormation, ParallelCluster or Kubernetes has it.
    """
    return _WORD_BEGINS.sub("_", _BINARY.sub(r"\1ib", name)).lower()


def meaning(
    key: str,
    spec: type,
    at: At,
    *,
    known: Collection[str],
    whole: Whole,
    value: object = None,
    given: Collection[str] = (),
) -> tuple[str, list[str]]:
    """Return what to do about a key, as the end of a sentence, and the keys of the section that it was meant for.

    Args:
        key: The key.
        spec: The section's specification.
        value: What the file has for it.
        at: Where the section stands.
        known: The keys that the section may have.
        whole: What the file is, in which other sections are looked through.
        given: The keys that the section has. Default - none that is known.
    """
    written = in_snake_case(key)
    instead = None if key in {LISTED, SWITCHED_ON} else instead_of(key, spec, value, chosen=chosen(*whole))
    if not instead and at and not alike(key, known) and of_another(written, at, whole):
        return elsewhere(written, at, whole=whole), []
    found = _meant_by(instead) if instead else near(key, known, given)
    if len(found) == 1 and found[0] in given and _is_name(instead, found[0]):
        return f"; {found[0]!r} is given already; leave one of both out", []
    if instead:
        said = _NAMED.sub(lambda named: repr(named[1]) + _in_its_form(named[1], named[2] or written, value), instead)
        return f"; {said}", found
    blank = after_colon(key)
    if sign := blank[1] if blank else wide(key):
        return f"; {sign}", found
    if found:
        counted = ((each, in_its_unit(each, written, value)) for each in found)
        return next(((f"; use {each!r}{unit}", [each]) for each, unit in counted if unit), (asked(key, found), found))
    there = "there is" if len(known) == 1 else "there are"
    return elsewhere(written, at, whole=whole) or f"; {there} {either(likeliest_first(spec, known, given))}", []


def _is_name(instead: str | None, key: str) -> bool:
    """Say whether what to do instead of a key is to use another alone, whatever that must go without."""
    return instead is None or instead.partition(", without ")[0] == f"use {{{key}}}"


def _in_its_form(key: str, unit: str, value: object) -> str:
    """Return a value as a key has it that counts in another unit, or that has an id where the value is an ARN."""
    found = _ID_IN_ARN.fullmatch(value) if isinstance(value, str) and key.endswith("_id") else None
    return f": {found[1]}" if found else in_its_unit(key, unit, value)


def meant(key: str, spec: type, known: Iterable[str]) -> list[str]:
    """Return the keys of a section that a key was meant for, the likeliest first.

    Args:
        key: The key.
        spec: The section's specification.
        known: The keys that the section may have.
    """
    instead = instead_of(key, spec)
    return _meant_by(instead) if instead else near(key, known)


def near(key: str, known: Iterable[str], given: Collection[str] = ()) -> list[str]:
    """Return the keys that a key is misspelt from, else those that it shares all but one word with.

    Args:
        key: The key.
        known: The keys of its section.
        given: Those of them that stand there, for which another word is not meant. Default - nothing is known of it.
    """
    written = in_snake_case(key)
    choices = [each for each in sorted(known) if each not in given and not _measures_other(written, each)]
    found = alike(key, known) or [each for each in choices if _shares_words(written, each)]
    return sorted(found, key=lambda each: -_ratio(written, each)) if len(found) <= _MOST else []


def alike(key: str, known: Iterable[str]) -> list[str]:
    """Return the keys that a key is misspelt from.

    Args:
        key: The key.
        known: The keys of its section.
    """
    written = in_snake_case(key)
    choices = sorted(each for each in known if not _measures_other(written, each))
    return same(key, choices) or [each for each in choices if _misspelt(written, each)]


def instead_of(key: str, spec: type, value: object = None, *, chosen: Iterable[str] = ()) -> str | None:
    """Return what to do instead of a key that has another name here, or never will have one.

    Args:
        key: The key.
        spec: The section's specification.
        value: What it says: of a switch that is off, or of a section that has a certain key, something else may be
            meant. Default - nothing is known of it.
        chosen: What the file has chosen, by which something else may be meant, too. Default - nothing is known of it.
    """
    if key.startswith(_FOREIGN):
        return COMMENT
    if key.startswith(_EXTENSION):
        return "leave it out; '&…' of an anchor goes where that is first used"
    written = in_snake_case(key)
    inside = [f"{written}.{in_snake_case(each)}" for each in value] if isinstance(value, Mapping) else []
    said = [f"{written}={value}".lower()] if value is False or isinstance(value, str) else inside
    plain = (*said, key, written)
    forms = (*(f"{choice}:{form}" for choice in chosen for form in plain), *plain)
    tables = [other_keys().get(base.__name__, {}) for base in spec.__mro__]
    found = next((table[form] for table in tables for form in forms if form in table), None)
    return _switched(value) if found is None and written in _SWITCH and not _SWITCH & keys_of(spec).keys() else found


def _switched(value: object) -> str:
    """Return what to do about a switch of a section that has none."""
    if isinstance(value, bool):
        return "the section alone says so; leave this out" if value else "leave out the section that it stands in"
    return "the section alone says so: leave this out, or the section for none"


def _meant_by(instead: str) -> list[str]:
    """Return the key that what to do instead of another names first, if any."""
    return [named[1] for named in _NAMED.finditer(instead)][:1]


@cache
def other_keys() -> Mapping[str, Mapping[str, str]]:
    """Return how else keys of a specification are called, or were: its name → their key → what to do instead."""
    data = load("options", "other_keys")
    specs: Mapping[str, Mapping[str, list[str]]] = data["keys"]
    return {spec: {key: text for text, keys in table.items() for key in keys} for spec, table in specs.items()}


def _misspelt(key: str, choice: str) -> bool:
    words, others = key.split("_"), choice.split("_")
    whole = _ALIKE_AS_A_WHOLE if key.isascii() else _ALIKE_IN_ANOTHER_SCRIPT
    if _ratio(key.replace("_", ""), choice.replace("_", "")) >= whole:
        return True
    return len(words) == len(others) and all(_one_word(*pair) for pair in zip(words, others, strict=True))


def _one_word(word: str, other: str) -> bool:
    """Say whether two words differ in a letter or two, or in the order of letters."""
    one_of_four = len(word) == len(other) == _SHORT and sum(map(str.__ne__, word, other)) == 1
    alike = abs(len(word) - len(other)) <= 1 and _ratio(word, other) >= _ALIKE
    return one_of_four or alike or sorted(word) == sorted(other)


def _shares_words(key: str, choice: str) -> bool:
    """Say whether they have the same words but for one, or for what the value is counted by."""
    said, named = _words(key), _words(choice)
    if bool(said & _NEGATIONS) is not bool(named & _NEGATIONS):
        return False
    plain, counted = said - _UNITS, named - _UNITS | named & {"id"}
    return len(said ^ named) == 1 or (bool(counted) and counted <= plain and len(plain - counted) <= 1)


def _measures_other(key: str, choice: str) -> bool:
    """Say whether two keys say that they measure different things, so that neither is written for the other."""
    said, meant = _measure(key), _measure(choice)
    return said is not None and meant is not None and said != meant


def _measure(key: str) -> int | None:
    """Return what the unit in a key measures; None where it has none. A size by the second is no size."""
    words = {*key.split("_")}
    found = next((number for number, units in enumerate(_MEASURES) if units & words), None)
    return len(_MEASURES) if found is not None and "s" in words else found


def _words(key: str) -> frozenset[str]:
    """Return the words of a key, in the singular unless they are units."""
    return frozenset(word if word in _UNITS else word.removesuffix("s") for word in key.split("_"))


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
