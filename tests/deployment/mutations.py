"""Single mutations of a deployment file: a value of another kind, out of range or elsewhere, a key that is gone.

Each is a text edit, so that line and column of what was changed are known.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cdk_trainyard.deployment._document import Document, KeyPath, read_document

_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^#,\]}\n]*[^#,\]}\s]')
_KINDS = {"list": "[x]", "mapping": "{x: y}", "true": "true", "number": "17", "text": "x1"}
_NUMBERS = {"negative": "-1", "zero": "0", "huge": "1000000000", "fraction": "1.5"}
_TEXTS = {
    "empty": '""',
    "blank": '" "',
    "newline": r'"a\nb"',
    "reference": '"${AWS::Region}"',
    "dynamic": '"{{resolve:ssm:/x}}"',
    "long": '"' + "x" * 400 + '"',
    "quote": '"a\'b\\"c"',
}
_ELSEWHERE = (
    ("Region", "us-east-1", "eu-west-1"),
    ("Region", "us-east-2", "eu-west-1"),
    ("Region", "us-west-2", "eu-west-1"),
    ("zone id", "use1-", "euw1-"),
    ("zone id", "use2-", "euw1-"),
    ("zone id", "usw2-", "euw1-"),
    ("partition", "arn:aws:", "arn:aws-cn:"),
)


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One changed file.

    Attributes:
        name: What was done.
        path: The keys of what was changed.
        line: Its line.
        text: The whole file.
        value: What stands there now, as the file writes it; nothing where something was taken out.
    """

    name: str
    path: KeyPath
    line: int
    text: str
    value: str = ""

    @property
    def pattern(self) -> tuple[str, ...]:
        """What was done to which option, whatever the item: two mutations of one pattern ask the same question."""
        return (self.name, *("[]" if isinstance(part, int) else part for part in self.path))


def mutations(text: str, file: str) -> Iterator[Mutation]:
    """Yield every mutation of a file.

    Args:
        text: Its text.
        file: Its name.
    """
    document = read_document(text, file)
    for path in document.sources:
        yield from _values(text, document, path)
    for path in document.keys:
        yield from _keys(text, document, path)


def _values(text: str, document: Document, path: KeyPath) -> Iterator[Mutation]:
    place, source = document.values[path], document.sources[path]
    lines = text.splitlines(keepends=True)
    line = lines[place.line - 1]
    found = _SCALAR.match(line, place.column - 1)
    if found is None:
        return
    value = document.data
    for part in path:
        value = value[part]
    isolated = isinstance(value, str)
    new = dict(_KINDS) | (_TEXTS if isolated else _NUMBERS if not isinstance(value, bool) else {})
    new |= {
        f"{name} {was}": source.replace(was, other) for name, was, other in _ELSEWHERE if isolated and was in source
    }
    if isolated and len(source) > 4:
        new["misspelt"] = f'"{source[:-2]}{source[-1]}{source[-2]}"'
    for name, other in new.items():
        changed = line[: found.start()] + other + line[found.end() :]
        if changed != line:
            whole = "".join([*lines[: place.line - 1], changed, *lines[place.line :]])
            yield Mutation(name=name, path=path, line=place.line, text=whole, value=other)


def _keys(text: str, document: Document, path: KeyPath) -> Iterator[Mutation]:
    """Take a key with all below it out, and misspell it; of keys that begin their line."""
    place, lines = document.keys[path], text.splitlines(keepends=True)
    line, key = lines[place.line - 1], str(path[-1])
    before = line[: place.column - 1]
    if before.strip(" -") or not line[place.column - 1 :].startswith(key):
        return
    misspelt = f"{before}{key}x{line[place.column - 1 + len(key) :]}"
    name = "misspelt key"
    yield Mutation(
        name=name,
        path=path,
        line=place.line,
        text="".join([*lines[: place.line - 1], misspelt, *lines[place.line :]]),
    )
    if "-" in before:
        return
    end = place.line
    while end < len(lines) and _is_below(lines[end], place.column - 1):
        end += 1
    without = "".join([*lines[: place.line - 1], *lines[end:]])
    yield Mutation(name="removed", path=path, line=place.line, text=without)


def _is_below(line: str, indent: int) -> bool:
    content = line.strip()
    own = len(line) - len(line.lstrip())
    return not content or own > indent or (own == indent and content.startswith("- "))
