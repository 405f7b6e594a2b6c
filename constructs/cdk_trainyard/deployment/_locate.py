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

    Messages of this library quote the user's own keywords and names. The path whose parts are quoted most often wins;
    among equals the one whose value is the value "got", then the one whose key is quoted first, then the first. Where
    no key is quoted, a value may be.

    Args:
        document: The file.
        section: Where to look.
        text: The sentence.
    """
    words = list(dict.fromkeys(quoted(text)))
    got = _GOT.search(text)
    value = got.group(1).strip() if got else None

    def weight(path: KeyPath) -> tuple[int, bool, int]:
        parts = path[len(section) :]
        return (
            sum(part in words for part in parts),
            document.sources.get(path) == value,
            -words.index(str(path[-1])),
        )

    inside = [path for path in document.keys if path[: len(section)] == section and len(path) > len(section)]
    named = [path for path in inside if path[-1] in words]
    valued = [path for path in inside if document.sources.get(path) in words]
    return max(named, key=weight, default=valued[0] if valued else section)
