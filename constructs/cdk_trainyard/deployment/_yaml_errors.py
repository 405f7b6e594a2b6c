"""What PyYAML says, in words for whoever wrote the file."""

import re
from itertools import accumulate
from typing import Final
from unicodedata import name

import yaml

from cdk_trainyard.deployment._marks import NO_BREAKS, Answer, line_of, place_of, position, seen
from cdk_trainyard.deployment._other_formats import of_another_format
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.options.signs import after_colon, as_item, wide
from cdk_trainyard.problems import legible

NO_KEY: Final = "a key needs ': ' after it, as in 'name: value'"
_OPEN_QUOTE: Final = "a quote that was opened is not closed"
_SENTENCES: Final = (
    (r"character '\\t' that cannot start", "a tab stands where the file's reader wants spaces; indent with spaces"),
    (r"character '%' that cannot start", "a plain value cannot begin with '%'; put it in quotes"),
    (r"character '[@`]' that cannot start", "a plain value cannot begin with '@' or '`'; put it in quotes"),
    (
        r"mapping values are not allowed",
        "a second ':' in one line; put the value in quotes, or indent it as a new line",
    ),
    (r"sequence entries are not allowed", "a '- ' item cannot begin here; put it on a line of its own below its key"),
    (r"mapping keys are not allowed", "a '?' cannot stand here; put the value in quotes"),
    (r"found '[\]}]'", "nothing is open that this closes; remove it, or put the value in quotes"),
    (
        r"expected <block end>, but found '-'",
        "an item of a list stands among keys; indent it below the key that it is of, or write a key",
    ),
    (
        r"expected <block end>, but found ','",
        "a ',' stands only between values in brackets; remove it, and write each key on a line of its own",
    ),
    (r"expected <block end>", "the indentation fits none of the lines above; align it with its neighbors"),
    (r"expected the node content", "a value is missing between the signs here"),
    (
        r"unknown escape character|expected escape sequence",
        "unknown escape in double quotes; use single quotes or double the backslash",
    ),
    (r"undefined alias", "the alias names no anchor above it; write '&name' at the value that it repeats"),
    (r"second occurrence", "the anchor name is used twice; give each its own"),
    (r"found another document", "a second document begins here; write one deployment per file"),
    (
        r"expected '<document start>'",
        "text stands outside the mapping; indent it, or remove what ends the mapping above",
    ),
    (
        r"chomping or indentation|a comment or a line break",
        "'|' and '>' begin text of several lines; put the value in quotes",
    ),
    (r"undefined tag handle|expected URI", "tags ('!…') have no meaning here; put the value in quotes"),
    (r"chr\(\)|too large|[Ee]xceeds the limit", "an escape or a number here is beyond all range"),
    (r"nested too deeply", "nested too deeply; a deployment needs no more than eight levels"),
)
_OPENED: Final = (
    (r"unexpected end of stream", _OPEN_QUOTE),
    (r"unexpected document separator", f"{_OPEN_QUOTE} before '---'"),
)
"""Faults that are seen at the end of the file, and lie where something begins."""
_ASIDE: Final = re.compile(r"""(?<![^\s,:\[{])(?:"(?:[^"\\]|\\.)*"|'[^']*')|(?<!\S)#[^\n]*""")
"""Quoted values and comments, in which brackets are text."""
_WIDE: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?:^[ -]*|[\[{\uff3b\uff5b,\uff0c]\s*)[\w.-]+\s*(\uff1a)",
        r"(?:^[ -]*|[:\uff1a]\s+|[\[{,]\s*)([\uff3b\uff5b])",
        r"[\[{\uff3b\uff5b][^\]}\uff3d\uff5d]{0,400}?([\u060c\u061b\u3001\uff0c])\s*[\w-]+\s*[:\uff1a]",
        r"[\[{][^\]}]{0,400}([\uff3d\uff5d])",
    )
)
"""Where signs of East Asian writing stand in place of YAML's: behind a key, at both ends of brackets, between keys."""
_COMMENT: Final = r"(?<!\S)(//|/\*)"
_BLANKS: Final = "\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000"
_LONGEST_KEY: Final = 1024
"""YAML 1.2.2, section 7.4.2: an implicit key on one line."""


def explain_yaml(error: yaml.YAMLError, text: str) -> Answer:
    """Return line and column, counted from one, and the sentence for one YAML error."""
    if isinstance(error, yaml.reader.ReaderError):
        return position(text[: error.position]), f"character {chr(error.character)!r} is not allowed in YAML; remove it"
    problem = str(getattr(error, "problem", None) or error)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return of_another_format(text) or ((1, 1), f"this is not YAML: {problem}")
    mark, began = seen(mark), getattr(error, "context_mark", None)
    start = seen(began) if began else mark
    if answer := of_another_format(text, mark.line + 1):
        return answer
    for read in (
        _line_end,
        _wide,
        _indentation,
        _tab,
        _comment,
        _key,
        _too_deep,
        _text_in_brackets,
        _bracket,
        _quote,
        _sign,
        _among_items,
        _repeated,
    ):
        if answer := read(problem, mark, start):
            return answer
    for pattern, sentence in _OPENED:
        if re.search(pattern, problem):
            return place_of(start), sentence
    sentences = (sentence for pattern, sentence in _SENTENCES if re.search(pattern, problem))
    return place_of(mark), next(sentences, f"this is not YAML: {problem}")


def _line_end(_problem: str, mark: yaml.Mark, start: yaml.Mark) -> Answer | None:
    """Say of a character that ends a line for PyYAML alone that it does."""
    for each in (start, mark):
        if found := re.search(f"[{NO_BREAKS}]", line_of(each)[: each.column + 1]):
            said = f"U+{ord(found[0]):04X} ends a line for the file's reader, and in no editor; remove it"
            return (each.line + 1, found.start() + 1), said
    return None


def _wide(problem: str, mark: yaml.Mark, start: yaml.Mark) -> Answer | None:
    """Say of a sign of East Asian writing where YAML has one of its own that it is another: the first in its line."""
    if not re.search("mapping values|expected (?:',' or|<block end>|':'|'<document start>')", problem):
        return None
    for each in (start, mark):
        line = _ASIDE.sub(lambda aside: "'" * len(aside[0]), line_of(each))
        found = (pattern.search(line) for pattern in _WIDE)
        if columns := [sign.start(1) for sign in found if sign]:
            return (each.line + 1, min(columns) + 1), wide(line[min(columns)])
    return None


def _indentation(problem: str, mark: yaml.Mark, _start: yaml.Mark) -> Answer | None:
    """Say of a blank that is none to YAML that it indents nothing: the nearest one above."""
    if not re.search("could not find expected ':'|not allowed here|<block end>|'<document start>'", problem):
        return None
    for number, line in reversed([*enumerate(str(mark.buffer).split("\n")[: mark.line + 1], 1)]):
        if found := re.match(f"[ -]*([{_BLANKS}])", line):
            sign = f"U+{ord(found[1]):04X} ({name(found[1])})"
            return (number, found.start(1) + 1), f"{sign} is no blank to the file's reader; indent with spaces"
    return None


def _tab(problem: str, mark: yaml.Mark, _start: yaml.Mark) -> Answer | None:
    if r"'\t' that cannot start" in problem and line_of(mark)[: mark.column].strip():
        return place_of(mark), "a tab stands where the file's reader wants a space; write a space"
    return None


def _comment(problem: str, mark: yaml.Mark, _start: yaml.Mark) -> Answer | None:
    """Say of a comment of another language behind a value, in this line or in the one above, how comments begin."""
    if not re.search(r"mapping values are not allowed|expected <block end>|expected ','", problem):
        return None
    *above, _ = str(mark.buffer)[: mark.pointer].split("\n")
    number, pattern = len(above), rf".{{,{mark.column}}}?{_COMMENT}"
    line = line_of(mark)
    if above and not re.match(pattern, line):
        behind = ".*?" if "expected ','" in problem else r".*?:\s+"
        number, pattern, line = len(above) - 1, behind + _COMMENT, above[-1]
    found = re.match(pattern, _ASIDE.sub(lambda aside: "'" * len(aside[0]), line))
    said = "a comment begins with '#', got '{0}'; write '# …', or put the value in quotes"
    return ((number + 1, found.start(1) + 1), said.format(found[1])) if found else None


def _key(problem: str, mark: yaml.Mark, start: yaml.Mark) -> Answer | None:
    """Say what is wrong with a line that has a key, or should have one."""
    if not re.search("could not find expected ':'|mapping values are not allowed", problem):
        return None
    line = line_of(start)
    key = re.match(r"[ -]*+(.*?):(?=\s|$)", line)
    if key and len(key[1]) > _LONGEST_KEY:
        at = start.line + 1, key.start(1) + 1
        return at, f"a key of YAML has at most {_LONGEST_KEY} characters; shorten it"
    if start is mark and (blank := after_colon(line[: mark.column])):
        return (start.line + 1, blank[0] + 1), blank[1]
    return _keyless(start.line, line) if start is not mark else None


def _too_deep(problem: str, mark: yaml.Mark, _start: yaml.Mark) -> Answer | None:
    """Say why a key that is the first of its line cannot stand there: by the value, or the words, above it."""
    found, line = re.search("mapping values are not allowed|'<document start>'", problem), line_of(mark)
    if found is None or re.search(r":\s", line[: mark.column]):
        return None
    lines = enumerate(str(mark.buffer).split("\n")[: mark.line])
    above = [(number, text) for number, text in lines if text.strip() and not text.lstrip().startswith("#")]
    words: tuple[int, str] | None = None
    while above and not re.search(r":(?=[ \t\r]|$)", above[-1][1]):
        words = above.pop()
    has_value = above and not re.search(r":\s*(#.*)?$", above[-1][1])
    if words and not has_value:
        return _keyless(*words)
    if has_value and (wrong := _beginning(above[-1][1])):
        return (above[-1][0] + 1, _margin(above[-1][1])), wrong
    said = "it is indented below a key that has a value; align it with its neighbors, or remove that value"
    return ((mark.line + 1, _margin(line)), said) if has_value and "document" not in found[0] else None


def _keyless(number: int, line: str) -> Answer:
    """Return the answer to a line that has no key, or none that YAML sees."""
    if found := _WIDE[0].search(line):
        return (number + 1, found.start(1) + 1), wide(found[1])
    if blank := after_colon(line):
        return (number + 1, blank[0] + 1), blank[1]
    return (number + 1, _margin(line)), _beginning(line) or NO_KEY


def _margin(line: str) -> int:
    """Return the column, counted from one, that a line begins in."""
    return len(line) - len(line.lstrip()) + 1


def _beginning(line: str) -> str:
    """Return what is wrong with a line that begins as comments or items do elsewhere, or nothing."""
    text = legible(line.strip())
    if text.startswith(("//", "/*")):
        return f"a comment begins with '#', got '{text[:2]}'; write '# …'"
    if (item := as_item(text)) is None:
        return ""
    sign, rest = item
    if sign == "-":
        return f"an item of a list has a blank after '-', got '{text}'; write '- {rest}'"
    return f"an item of a list begins with '- ', got '{sign}'; write '- {rest}'"


def _text_in_brackets(problem: str, mark: yaml.Mark, _start: yaml.Mark) -> Answer | None:
    """Say of a value that is text to whoever wrote it, with brackets as YAML has them, that it wants quotes."""
    found = re.search(r"(?:<block end>, but found|, but got) '(<scalar>|<tag>|[\[{])'", problem)
    line, before = line_of(mark), line_of(mark)[: mark.column]
    if found is None or re.match(r"[^,]*?:(?=\s|$)", line[mark.column :]):
        return None
    closed = _ASIDE.sub(lambda aside: "'" * len(aside[0]), before).rstrip()
    if closed.endswith(("}", "]")) and found[1] != "{":
        signs = accumulate((sign in "}]") - (sign in "{[") for sign in reversed(closed))
        begin = next((len(closed) - number for number, left in enumerate(signs, 1) if not left), None)
        said = "a value that begins with '{0}' ends where that is closed; put all of it in quotes"
    else:
        inside = re.match(r".*(?:[:,]\s+|[\[{]\s*)(?=[^\s\[\]{}),][^,)]*$)", before)
        begin = inside.end() if inside and found[1] in "[{" and not before.endswith((*" '\"=",)) else None
        said = "a plain value in brackets has no brackets of its own; put all of it in quotes"
    return None if begin is None else ((mark.line + 1, begin + 1), said.format(line[begin]))


def _bracket(problem: str, mark: yaml.Mark, start: yaml.Mark) -> Answer | None:
    """Say where a list or a mapping in brackets begins that does not end, or where it lacks a comma."""
    found = re.search(r"expected ',' or '([\]}])'", problem)
    if found is None:
        return None
    end, begin, what = ("]", "[", "list") if found[1] == "]" else ("}", "{", "mapping")
    open_ones = 0
    for sign in _ASIDE.sub("", str(start.buffer)[start.pointer :]):
        open_ones += (sign == begin) - (sign == end)
        if not open_ones:
            return _unseparated(mark, f"a ',' is missing before this in a '{begin}' {what}; put it between two values")
    return place_of(start), f"a '{begin}' {what} is not closed with '{end}'"


def _unseparated(mark: yaml.Mark, sentence: str) -> Answer:
    """Return the answer to what stands in brackets where a comma, or a key, should: at the key, if it has one."""
    before = line_of(mark)[: mark.column]
    word = re.search(r"[^\s,\[\]{}]+\s*$", before)
    if word is None:
        return place_of(mark), sentence
    at = mark.line + 1, word.start() + 1
    if word[0].endswith("="):
        return at, NO_KEY
    return (at if line_of(mark)[mark.column :].startswith(":") else place_of(mark)), sentence


def _among_items(problem: str, mark: yaml.Mark, start: yaml.Mark) -> Answer | None:
    """Say of a key in line with the items of a list that it is none of them."""
    if "<block end>, but found '?'" not in problem or not line_of(start)[start.column :].startswith("-"):
        return None
    return place_of(
        mark
    ), "a key stands among the items of a list; begin it with '- ', or write a key instead of each item"


def _repeated(problem: str, mark: yaml.Mark, _start: yaml.Mark) -> Answer | None:
    """Say of an alias of no anchor which one is near, and of an anchor that is there already how it is repeated."""
    found = re.search("undefined alias|second occurrence", problem)
    line, above = line_of(mark)[mark.column :], str(mark.buffer)[: mark.pointer]
    word = re.match(r"[*&]([\w-]+)\s*(#.*)?$", line)
    if found is None or word is None:
        return None
    if line.startswith("&"):
        return place_of(mark), f"the anchor '&{word[1]}' is there already; write '*{word[1]}' to repeat what it has"
    anchors = dict.fromkeys(re.findall(r"(?:^|\s)&([\w-]+)", above))
    hint = did_you_mean(word[1], anchors).replace("mean '", "mean '*").replace("or '", "or '*")
    return (place_of(mark), f"the alias '*{word[1]}' names no anchor above it{hint}") if hint else None


def _quote(problem: str, mark: yaml.Mark, _start: yaml.Mark) -> Answer | None:
    """Say of text behind a quoted value that the quote was closed, there or by one of another line."""
    before = str(mark.buffer)[: mark.pointer].rstrip(" ")
    if "expected <block end>, but found '<scalar>'" not in problem or not before.endswith(("'", '"')):
        return None
    opened = before.rfind(before[-1], 0, -1)
    if "\n" in before[opened:]:
        return position(before[:opened]), _OPEN_QUOTE
    return place_of(mark), "text stands after the quote that closes the value; put all of it into one pair of quotes"


def _sign(problem: str, _mark: yaml.Mark, start: yaml.Mark) -> Answer | None:
    """Say of a value that begins like an alias or an anchor, and is none, that it wants quotes."""
    if "expected alphabetic or numeric character" not in problem or "'" in (said := _word(start)):
        return None
    if not said[1:] and (wrong := _beginning(line_of(start))):
        return place_of(start), wrong
    return place_of(start), f"a plain value cannot begin with '{said[:1]}'; put it in quotes: \"{said}\""


def _word(mark: yaml.Mark) -> str:
    """Return the word at a mark, or the sign that it begins with where it is not plain."""
    found = re.match(r"[^\s,\[\]{}\"\\]+", line_of(mark)[mark.column :])
    return found[0] if found else ""
