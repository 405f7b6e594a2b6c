"""What PyYAML says, in words for whoever wrote the file."""

import re
from typing import Final

import yaml

_SENTENCES: Final = (
    (r"character '\\t' that cannot start", "a tab stands where YAML wants spaces; indent with spaces"),
    (r"character '%' that cannot start", "a plain value cannot begin with '%'; put it in quotes"),
    (r"character '[@`]' that cannot start", "a plain value cannot begin with '@' or '`'; put it in quotes"),
    (
        r"mapping values are not allowed",
        "a second ':' in one line; put the value in quotes, or indent it as a new line",
    ),
    (r"sequence entries are not allowed", "a '- ' item cannot begin here; put it on a line of its own below its key"),
    (r"mapping keys are not allowed", "a '?' cannot stand here; put the value in quotes"),
    (r"could not find expected ':'", "a key needs ': ' after it, as in 'name: value'"),
    (r"expected <block end>", "the indentation fits none of the lines above; align it with its neighbors"),
    (r"expected ',' or '\]'", "a '[' list is not closed with ']'"),
    (r"expected ',' or '}'", "a '{' mapping is not closed with '}'"),
    (r"expected the node content", "a value is missing between the signs here"),
    (r"unexpected end of stream", "a quote that was opened is not closed"),
    (r"unexpected document separator", "a quote that was opened is not closed before '---'"),
    (r"unknown escape character", "unknown escape in double quotes; use single quotes or double the backslash"),
    (r"undefined alias", "the alias names no anchor above it; write '&name' at the value that it repeats"),
    (r"second occurrence", "the anchor name is used twice; give each its own"),
    (r"found another document", "a second document begins here; write one deployment per file"),
    (
        r"expected '<document start>'",
        "text stands outside the mapping; indent it, or remove what ends the mapping above",
    ),
    (r"undefined tag handle", "tags ('!…') have no meaning here; put the value in quotes"),
    (r"chr\(\)|too large|[Ee]xceeds the limit", "an escape or a number here is beyond all range"),
    (r"nested too deeply", "nested too deeply; a deployment needs no more than eight levels"),
)
_LONGEST_KEY: Final = 1024
"""YAML 1.2.2, section 7.4.2: an implicit key on one line."""


def explain_yaml(error: yaml.YAMLError, text: str) -> tuple[tuple[int, int], str]:
    """Return line and column, counted from one, and the sentence for one YAML error."""
    if isinstance(error, yaml.reader.ReaderError):
        return position(text[: error.position]), f"character {chr(error.character)!r} is not allowed in YAML; remove it"
    problem = str(getattr(error, "problem", None) or error)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if mark and (answer := _of_the_line(problem, mark, getattr(error, "context_mark", None) or mark)):
        return answer
    for pattern, sentence in _SENTENCES:
        if re.search(pattern, problem):
            return place, sentence
    return place, f"this is not YAML: {problem}"


def _of_the_line(problem: str, mark: yaml.Mark, start: yaml.Mark) -> tuple[tuple[int, int], str] | None:
    """Return place and sentence for what PyYAML says of more than one fault, when the line tells which one it is."""
    if r"'\t' that cannot start" in problem and _line(mark)[: mark.column].strip():
        return (mark.line + 1, mark.column + 1), "a tab stands where the file's reader wants a space; write a space"
    if re.search("could not find expected ':'|mapping values are not allowed", problem):
        key = re.match(r"[ -]*(.*?):(?=\s|$)", _line(start))
        if key and len(key[1]) > _LONGEST_KEY:
            return (
                start.line + 1,
                key.start(1) + 1,
            ), f"a key of YAML has at most {_LONGEST_KEY} characters; shorten it"
    return None


def _line(mark: yaml.Mark) -> str:
    """Return the line that a mark is in."""
    text = str(mark.buffer)
    return text[text.rfind("\n", 0, mark.pointer) + 1 :].partition("\n")[0]


def position(before: str) -> tuple[int, int]:
    """Return line and column, counted from one, of what follows a text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")
