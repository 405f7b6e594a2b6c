"""Which line of the file a sentence speaks of."""

import re
from typing import Final

from cdk_trainyard.deployment._document import Document, KeyPath

_QUOTED: Final = re.compile(r"'([^'\n]+)'")
_GOT: Final = re.compile(r"\bgot '?([^';,]+)")


def quoted(text: str) -> list[str]:
    """Return what stands in quotes."""
    return _QUOTED.findall(text)


def nearest(document: Document, section: KeyPath, text: str) -> KeyPath:
    """Return the path in ``section`` that ``text`` speaks of, or ``section`` when it names nothing there.

    Messages of this library quote the user's own keywords and names. The path whose parts are quoted most often wins,
    where an item of a list counts as quoted when something that it says is, as its name; among equals the one whose
    value is the value "got", then the one whose key is quoted first, then the first. Where no key is quoted, a value
    may be.

    Args:
        document: The file.
        section: Where to look.
        text: The sentence.
    """
    words = list(dict.fromkeys(quoted(text)))
    got = _GOT.search(text)
    value = got.group(1).strip() if got else None

    named_items = _items(document, words)

    def weight(path: KeyPath) -> tuple[int, bool, int]:
        inside = range(len(section) + 1, len(path) + 1)
        return (
            sum(path[end - 1] in words or path[:end] in named_items for end in inside),
            document.sources.get(path) == value,
            -words.index(str(path[-1])),
        )

    inside = [path for path in document.keys if path[: len(section)] == section and len(path) > len(section)]
    named = [path for path in inside if path[-1] in words]
    valued = [path for path in inside if document.sources.get(path) in words]
    return max(named, key=weight, default=valued[0] if valued else section)


def _items(document: Document, words: list[str]) -> set[KeyPath]:
    """Return the items of lists that say something quoted: their name, or what a name is made of."""
    return {
        path[:-1]
        for path, source in document.sources.items()
        if len(path) > 1 and isinstance(path[-2], int) and not {source, _as_name(source)}.isdisjoint(words)
    }


def _as_name(source: str) -> str:
    """Return the name that nodes of a type, and directories at a path, have unless told otherwise."""
    return source.strip("/").replace("/", "-").replace(".", "-")
