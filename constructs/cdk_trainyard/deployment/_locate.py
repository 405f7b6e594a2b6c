"""Which line of the file a sentence speaks of."""

import re
from typing import Final

from cdk_trainyard.deployment._document import Document, KeyPath

_QUOTED: Final = re.compile(r"'([^'\n]+)'")
_GOT: Final = re.compile(r"\bgot '?([^';,]+)")


def nearest(document: Document, section: KeyPath, text: str) -> KeyPath:
    """Return the path in ``section`` that ``text`` speaks of, or ``section`` when it names nothing there.

    Messages of this library quote the user's own keywords and names. The path whose parts are quoted most often wins;
    among equals the one whose value is the value "got", then the one whose key is quoted first, then the first.

    Args:
        document: The file.
        section: Where to look.
        text: The sentence.
    """
    words = list(dict.fromkeys(_QUOTED.findall(text)))
    got = _GOT.search(text)
    value = got.group(1).strip() if got else None

    def weight(path: KeyPath) -> tuple[int, bool, int]:
        parts = path[len(section) :]
        return (
            sum(part in words for part in parts),
            document.sources.get(path) == value,
            -words.index(str(path[-1])),
        )

    named = [path for path in document.keys if path[: len(section)] == section and path[-1] in words]
    named = [path for path in named if len(path) > len(section)]
    return max(named, key=weight, default=section)
