"""What a user most likely meant, as the end of a sentence that refuses what they wrote. Pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf, isfinite, nan
from types import MappingProxyType
from typing import Any, Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.options.fields import Field, Scalar, default_in_words, keys_of, required_keys
from cdk_trainyard.options.secrets import secret_problem
from cdk_trainyard.options.signs import dash, wide
from cdk_trainyard.options.unknown_keys import COMMENT, SWITCHED_ON, instead_of
from cdk_trainyard.problems import Flaw, either, shown

MOST_DIGITS: Final = 18
"""Digits of a number that a file is read with; a longer one is text to it."""
_SWITCHES: Final = {
    **dict.fromkeys(("true", "yes", "on", "enable", "enabled"), "true"),
    **dict.fromkeys(("false", "no", "off", "disable", "disabled"), "false"),
}
_PUBLIC: Final = {
    **dict.fromkeys(("internet-facing", "internet", "external", "public"), "true"),
    **dict.fromkeys(("internal", "private"), "false"),
}
"""What is said of load balancers (botocore, elbv2, ``LoadBalancerSchemeEnum``), and of subnets."""
_NOTHING: Final = frozenset({"none", "nothing", "never", "no", "off", "false", "null", "nil", "disabled", "disable"})
_REFERENCE: Final = re.compile(r"\$\{[^${}]*\}|\{\{[^{}]*\}\}|^!(?:Ref|Sub|GetAtt|ImportValue) .+", re.DOTALL)
"""What programs that fill in templates, shells and CloudFormation put something in place of."""
_TO_FILL_IN: Final = re.compile(
    r"<[a-z](?:[\w -]*\w)?>|^(?:todo|tbd|fixme|(?:change|replace)[_-]?me|\.\.\.|\u2026)$", re.ASCII | re.IGNORECASE
)
"""What examples have in place of a value."""
INTRINSIC: Final = re.compile(r"Ref|Fn::[A-Za-z0-9]+")
"""The only key of what a template of CloudFormation has in place of a value."""
_UNITS: Final = frozenset(["gib", "gb", "mib", "mb", "seconds", "minutes", "hours", "days", "percent", "billions"])
"""How the unit begins that a key ends with."""
_SIGNS: Final = {"$": "price", "/": "mask"}
"""Signs before a number, and what the keys end with that it may be meant for."""
_AMOUNT: Final = re.compile(
    r"(?:p(?=\d+d$)|pt(?=\d+[hms]$)|(?P<sign>[$/]))?"
    r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d+(?:\.\d+|,\d{1,2})?) *(?P<unit>[a-z%/ ]*),?"
)
"""A number with its unit, as people write it and as ISO 8601 writes a duration."""
_DASH: Final = r"[-\u2010-\u2015\u2212]"
"""What begins an item of a list, with a blank too few or as a dash that is longer than YAML's."""
_COMMAS: Final = re.compile(r"[,\u3001\uff0c](?![^\[\]]{0,64}\])")
_BETWEEN: Final = re.compile(r"[,;\u3001\uff0c\s](?![^\[\]]{0,64}\])")
"""What is between items of a list, and not in brackets of one of them."""
_BEHIND: Final = re.compile(r"(\S.*?)((?<=\S)(?:\s+(?://|/\*|\uff03)|#\s).*)", re.DOTALL)
"""A value, and what follows it that may be meant as a comment."""
_AROUND: Final = "'\"\u00a0\u00ab\u00bb\u200b\u200e\u200f\u2018-\u201f\u2039\u203a\u2060\ufeff"
"""Quotes of any language, and signs that nobody sees: YAML takes none of them away from a plain value."""
_WORD: Final = re.compile(rf"(?!{_DASH})\S*[^\s,;:]")
_BARE: Final = re.compile(
    r"(?!(?:true|false|null)$)(?:--?)?[a-z/](?:[\w./@%+=~ -]|:(?=[\w/]))*(?<! )", re.ASCII | re.IGNORECASE
)
"""Text that needs no quotes between brackets, in any version of YAML."""


def lines(keys: Sequence[str], said: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return keys as lines of a mapping, in a sentence; with their values, as far as they are known."""
    *others, last = (f"'{key}: {said.get(key, '…')}'" for key in keys)
    return f"{', '.join(others)} and {last}" if others else last


def switch(data: object) -> str:
    """Return a truth value, in any words, as a file has it; nothing of what is none."""
    return _SWITCHES.get(str(data).lower(), "") if isinstance(data, str | bool) else ""


def is_nothing(data: object) -> bool:
    """Say whether a value is a word for none, or an empty list or mapping."""
    return data in ((), {}) or (isinstance(data, str | bool) and str(data).lower() in _NOTHING)


def left_out(spec: type, option: Field, *, beside: str = "") -> str:
    """Return what to do where nothing stands for a section or a list that may be left out, and what there is then.

    Args:
        spec: The section that has it.
        option: The option.
        beside: The key that goes with it. Default - it goes alone.
    """
    default = default_in_words(spec, option.name)
    then = (
        " for none" if re.match(r"(?:none|nothing|nobody)\b", default) else f" (default: {' '.join(default.split())})"
    )
    return f"; leave it{beside and f' and {shown(beside)}'} out{then}" if default else ""


def section_of(spec: type, data: object, *, without: str = "") -> str:
    """Return how to write a section that is switched on, or whose switches are listed; nothing where it needs more.

    Args:
        spec: What the section is.
        data: What the file has in its place.
        without: The option that the key of the section says.
    """
    if {*required_keys(spec)} - {without}:
        return ""
    if (said := switch(data)) and "enabled" in keys_of(spec):
        return f"; write {{enabled: {said}}}"
    if said == "true":
        return f"; {instead_of(SWITCHED_ON, spec) or 'write {} for one as it is without any key'}"
    if not isinstance(data, tuple) or not all(isinstance(item, str) for item in data):
        return ""
    switches = [key for key, option in keys_of(spec).items() if option.shape == Scalar(type=bool)]
    listed, others = ([item for item in data if (item in switches) is known] for known in (True, False))
    if not listed:
        return ""
    lacking = f", there is no {either(map(repr, others))}" if others else ""
    return f"; write {{{', '.join(f'{item}: true' for item in listed)}}}{lacking}"


def switched_on(spec: type, option: Field, part: type, data: object) -> str:
    """Return how to write a section that is switched on, or to leave it out, and what there is then.

    Args:
        spec: The section around it.
        option: The option that it is.
        part: What it is itself.
        data: What the file has in its place.
    """
    remedy = section_of(part, data) if switch(data) == "true" else ""
    return f"{remedy}, or{left_out(spec, option)[1:]}".removesuffix(", or") if remedy else ""


def unless_taken(wrong: Flaw, names: Iterable[str]) -> Flaw:
    """Return what is wrong with a name, without the remedy to use one that another has."""
    return replace(wrong, remedy="") if wrong.remedy in {f"; use {shown(name)}" for name in names} else wrong


def as_written(wrong: Flaw, value: object) -> Flaw:
    """Return what is wrong with a value; of what stands in it for something else, that it does not, as the remedy."""
    text = value if isinstance(value, str) else ""
    if found := _TO_FILL_IN.search(text):
        this = "that" if found[0] == text else shown(found[0])
        return replace(wrong, remedy=f"; {this} is a place to fill in")
    if (found := _REFERENCE.search(text)) and "'${" not in wrong.must:
        return replace(wrong, remedy=f"; nothing is put in place of {shown(found[0])}, write the value itself")
    sign = wide(text) or dash(text)
    return wrong if wrong.remedy or not sign else replace(wrong, remedy=f"; {sign}")


def alone(text: str, *, is_text: bool = True) -> Iterator[tuple[str, Flaw]]:
    """Yield what text that is refused may be meant for, and what is wrong with the text if it is.

    Args:
        text: The text.
        is_text: Whether text is wanted, which is in quotes where it would be a number without them.
    """
    if behind := _BEHIND.fullmatch(text):
        yield behind[1], _alone(behind[1], text, f"{COMMENT} after a blank", f"{_in_file(behind[1], is_text)} # …")
    if (value := bare(text)) not in {text, ""}:
        why = "such quotes, and signs that nobody sees, are part of a value"
        yield value, _alone(value, text, why, _in_file(value, is_text))
    if (value := text.strip()) not in {text, ""}:
        must = f"must be without the {_ends(text)}"
        yield value, Flaw(must, got=shown(text), remedy=f"; write {_in_file(value, is_text)}")


def _alone(value: str, text: str, why: str, written: str) -> Flaw:
    return Flaw(f"must be {value} alone", got=f"{shown(text)}: {why}", remedy=f"; write {written}")


def _in_file(value: str, is_text: bool) -> str:
    """Return a value as a file has it: text that YAML would read as something else in quotes."""
    is_other = value in {"true", "false", "null", "~"} or next(_numbers(value), None) is not None
    return f'"{value}"' if is_text and is_other else value


def _ends(text: str) -> str:
    """Return what is at the ends of text that nobody sees there."""
    signs = [(text[:1], "beginning"), (text[-1:], "end")]
    found = [("line break" if sign in "\r\n" else "blank", end) for sign, end in signs if sign.isspace()]
    return " and the ".join(f"{what} at its {end}" for what, end in found)


def bare(text: str) -> str:
    """Return text without quotes of any language, and without what nobody sees, at its ends."""
    return re.sub(f"^[{_AROUND}]+|[{_AROUND}]+$", "", text)


def likely(text: str, words: Iterable[str]) -> str:
    """Return what a word was most likely meant for: one that it ends with, as names of endpoints do, or one like it.

    Of several words with hyphens between them, one may stand alone, where no other has it.
    """
    known = [*words]
    last = max((word for word in known if text.endswith(f".{word}")), key=len, default="")
    whole = [word for word in known if text.lower() in word.split("-")]
    return did_you_mean(text, known) if not last and len(whole) != 1 else f"; did you mean {shown(last or whole[0])}?"


def splits(text: str, *, is_command: bool, is_open: bool) -> Iterator[list[str]]:
    """Yield the lists that one line of text may be meant for, the most likely first; items of some are none.

    Args:
        text: The text.
        is_command: Whether its words are the items, unless quotes hold some together.
        is_open: Whether a rule judges the items, of which nothing is known but that they are words.
    """
    if not text or "\n" in text:
        return
    if is_command:
        yield from [] if {"'", '"'} & {*text} else [re.split(r",?\s+", text)]
        return
    if inside := re.fullmatch("\uff3b(.+)\uff3d", text):
        yield [word.strip() for word in _COMMAS.split(inside[1]) if word.strip()]
        return
    dashes = re.split(rf"(?:^|\s){_DASH}\s*", text)
    tried = [] if dashes[0] else dashes, [text], _COMMAS.split(text), _BETWEEN.split(text)
    for items in ([word.strip() for word in words if word.strip()] for words in tried):
        if items and (not is_open or all(map(_WORD.fullmatch, items))):
            yield items


def in_brackets(item: object) -> str:
    """Return an item of a list as YAML has it between brackets."""
    if not isinstance(item, str):
        return shown(item)
    if _BARE.fullmatch(item):
        return item
    return json.dumps(item, ensure_ascii=False) if "'" in item or not item.isprintable() else f"'{item}'"


def in_quotes(item: str) -> str:
    """Return text as YAML has it between brackets, where it stands in quotes of a sentence itself."""
    return re.sub("^'|'$", '"', in_brackets(item))


def assigned(items: Iterable[str]) -> dict[str, str]:
    """Return what a list of ``name=value`` says, as Compose and shells write it, each value as YAML has it."""
    pairs = (item.partition("=") for item in items)
    return {name: "…" if secret_problem(value) else in_quotes(value) for name, sign, value in pairs if sign}


def plainly(wanted: type, data: object, key: str = "") -> str:
    """Return a number, or a truth value, that YAML reads as something else as a file has it; nothing when it is none.

    Args:
        wanted: What is wanted.
        data: What the file has.
        key: Its key, which says the unit.
    """
    if not isinstance(data, str | float):
        return ""
    if wanted is bool:
        return switch(data) or (_PUBLIC.get(str(data).lower(), "") if key.startswith("public") else "")
    return _number(wanted, data) or (_number(wanted, _amount(wanted, data, key)) if isinstance(data, str) else "")


def _amount(wanted: type, text: str, key: str) -> str:
    """Return the digits of a number that has the unit of its key, as ``30 days`` of ``retention_days``."""
    found = _AMOUNT.fullmatch(text.strip().lower())
    if (
        found is None
        or (wanted is float and re.search(r",\d{3}", found["number"]))
        or (found["sign"] and not key.endswith(_SIGNS[found["sign"]]))
    ):
        return text
    words = key.split("_")
    first = next((index for index, word in enumerate(words) if word in _UNITS), len(words))
    unit = re.sub("[^a-z]", "", found["unit"].replace("%", "percent"))
    number = re.sub(r",(?=\d{1,2}$)", ".", found["number"])
    return re.sub(r"[,\s]", "", number) if "".join(words[first:]).startswith(unit) else text


def plain(wanted: type, text: str) -> Any:
    """Return what text is to a file's reader where a number, or a truth value, is wanted; text when it is none."""
    if wanted is bool:
        return {"true": True, "false": False}.get(text, text)
    return next(_numbers(text), text) if wanted in {int, float} else text


def is_long(data: object) -> bool:
    """Say whether text, or a number, is a number with more digits than a file is read with."""
    number = next(_numbers(data), nan) if isinstance(data, str) else data
    return isinstance(number, int | float) and 10**MOST_DIGITS <= abs(number) < inf


def _number(wanted: type, data: str | float) -> str:
    """Return what text, or a number with a fraction of nothing, is as a number; nothing when it is none."""
    number = data if isinstance(data, float) else next(_numbers(data), nan)
    if is_long(number) or not isfinite(number) or (wanted is int and number != int(number)):
        return ""
    text = str(int(number) if wanted is int else number)
    return text if "." in text else text.replace("e", ".0e")  # YAML takes what has no point for text


def _numbers(text: str) -> Iterator[float]:
    for read in (lambda text: int(text, 0), int, float):
        with suppress(ValueError):
            yield read(text)
