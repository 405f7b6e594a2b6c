"""Signs that look like those of YAML, and are others."""

import re
from collections.abc import Iterable, Iterator
from typing import Final
from unicodedata import name, normalize

from cdk_trainyard.problems import Flaw, shown

_DASHES: Final = r"\u2010-\u2015\u2212\ufe63\uff0d"
_ITEM: Final = re.compile(rf"-(?=[^\s-])|[*+\u00b7\u2022\u2023\u2043\u25aa\u25cf\uff0a\uff0b{_DASHES}]\s*(?=\S)")
"""How items of a list begin elsewhere: with a blank too few, with the dashes of word processors, or with bullets."""
WIDE_COLON: Final = "\uff1a"
_WIDE: Final = "[\u060c\u061b\u3001\uff0c\uff1a\uff3b\uff3d\uff5b\uff5d]"
"""YAML's signs as East Asian writing has them (Unicode Standard, "Halfwidth and Fullwidth Forms"), its comma, and those
of Arabic writing."""
_COMMAS: Final = "\u060c\u061b\u3001"

UNSEEN: Final = r"\x00-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
"""Signs without a shape (Unicode Standard, "Layout Controls"): no joiners, which are letters' own."""


def unseen(text: str) -> str:
    """Return the first sign that nobody sees in text, with its number; nothing where there is none.

    Args:
        text: The text.
    """
    found = re.search(f"[{UNSEEN}]", text)
    return f"U+{ord(found[0]):04X} ({name(found[0], 'a character without a name')})" if found else ""


def hyphenated(text: str) -> str:
    """Return text with hyphens in place of the dashes that word processors make of them.

    Args:
        text: The text.
    """
    return re.sub(f"[{_DASHES}]", "-", text)


def dash(text: str) -> str:
    """Return what the first dash of a word processor is; nothing where there is none.

    Args:
        text: The text.
    """
    found = re.search(f"[{_DASHES}]", text)
    return f"'{found[0]}' is U+{ord(found[0]):04X} ({name(found[0])}); write '-'" if found else ""


def after_colon(text: str) -> tuple[int, str] | None:
    """Return where behind ':' a blank stands that is none to YAML, and what to do about it; None where none does.

    Args:
        text: A line, or a key.
    """
    for found in re.finditer(r":([^\x00-\x7f])", text):
        if not found[1].isprintable():
            sign = f"U+{ord(found[1]):04X} ({name(found[1], 'a character without a name')})"
            return found.start(1), f"a blank must be after ':', got {sign}, which looks like one; write a blank"
    return None


def wide(text: str) -> str:
    """Return what the first sign of another writing is that YAML has another for; nothing where there is none.

    Args:
        text: The text.
    """
    if text[:1] in {"\u00a0", "\u3000"}:
        return f"U+{ord(text[0]):04X} ({name(text[0])}) is no blank to the file's reader; write spaces"
    found = re.search(_WIDE, text)
    if found is None:
        return ""
    sign = "," if found[0] in _COMMAS else normalize("NFKC", found[0])
    return f"'{found[0]}' is U+{ord(found[0]):04X} ({name(found[0])}); write '{': ' if sign == ':' else sign}'"


def as_item(text: str) -> tuple[str, str] | None:
    """Return the sign that text begins with in place of an item's '- ', and what follows it; None where it has none.

    Args:
        text: A line, or a key.
    """
    found = _ITEM.match(text)
    return (found[0].rstrip(), text[found.end() :]) if found else None


def unlike_items(keys: Iterable[str]) -> Iterator[tuple[str, Flaw]]:
    """Yield the keys that should have been items of a list, and what is wrong with each.

    Args:
        keys: The keys of a mapping that stands where a list must.
    """
    for key in keys:
        if item := as_item(key):
            sign, rest = item
            must, got = ("begin with '- '", sign) if sign != "-" else ("have a blank after '-'", key)
            yield key, Flaw(f"must {must}, as an item of a list", got=shown(got), remedy=f"; write '- {rest}: …'")
