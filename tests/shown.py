"""What pages show of programs: their commands, and the lines that these answer. An answer is held to them here alone.

A page shows an answer whole: each line as it is printed, in that order, but for what ``VARIES`` has. A line ``…`` (or
``...``) stands for any lines, and inside of a line for any text. Empty lines, and how wide a column is, are nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tools.pages import ROOT

_BLOCK: Final = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
VARIES: Final = {
    "anything": (r"…|\.\.\.", ".*"),
    "what took a second or more": (r" {2,}\w+ \d+ s(?:; \w+ \d+ s)*$", r"(?: {2,}\w+ \d+ s(?:; \w+ \d+ s)*)?"),
    "a column's gap": (r" {2,}", " {2,}"),
    "a moment": (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",) * 2,
    "a place in a file": (r"[\w./-]+\.yaml:\d+:\d+",) * 2,
    "a port of this machine": (r"\b127\.0\.0\.1:\d+",) * 2,
    "an address": (r"\b(?:\d{1,3}[.-]){3}\d{1,3}\b",) * 2,
    "an id of AWS": (r"\bi-[0-9a-f]{17}\b",) * 2,
    "CDK's suffix of a name": (r"-[0-9A-F]{8}\b",) * 2,
    "a digest": (r"\b[0-9a-f]{12}\b",) * 2,
    "a time": (r"\b\d+\.\d\b(?!\.)|\b\d+(?:\.\d)? (?:s|min|h|d)\b",) * 2,
}
"""What is another one in each run: what a page shows of it, and what may stand there instead, mostly the same shape."""
_SHAPES: Final = re.compile("|".join(f"(?P<_{number}>{shape})" for number, (shape, _) in enumerate(VARIES.values())))


@dataclass
class Step:
    """A command, and what it says; or a file."""

    command: str
    said: list[str] = field(default_factory=list)
    file: tuple[str, str] | None = None


def steps(page: Path) -> list[Step]:
    """Return the commands and files of a page, in order; where no line of a block begins with ``$``, each is one."""
    found: list[Step] = []
    for language, title, text in _BLOCK.findall(page.read_text()):
        if title:
            found.append(Step("", file=(title, text)))
        elif language == "console":
            lines = text.replace("\\\n", "").splitlines()
            prompt = "$ " if any(line.startswith("$ ") for line in lines) else ""
            for line in lines:
                if line.startswith(prompt):
                    found.append(Step(re.sub(r"\s+# .*", "", line.removeprefix(prompt))))
                elif found and not found[-1].said and found[-1].command.count("'") % 2:
                    found[-1].command += f"\n{line}"
                elif not line.startswith("# "):
                    found[-1].said.append(line)
    return found


def promised(page: str, command: str) -> list[str]:
    """Return what a page, by its path in the repository, shows as the answer of a command."""
    (step,) = (step for step in steps(ROOT / page) if step.command == command and step.said)
    return step.said


def _pattern(line: str) -> re.Pattern[str]:
    """Return what a shown line stands for."""
    parts: list[str] = []
    end = 0
    for found in _SHAPES.finditer(line):
        _, other = [*VARIES.values()][int(str(found.lastgroup)[1:])]
        parts += [re.escape(line[end : found.start()]), f"(?:{other})"]
        end = found.end()
    return re.compile("".join([*parts, re.escape(line[end:])]))


def _begins(shown: list[str], lines: list[str]) -> bool:
    """Return whether lines begin with what is shown without a gap."""
    return len(lines) >= len(shown) and all(
        _pattern(line).fullmatch(got) for line, got in zip(shown, lines, strict=False)
    )


def _parts(shown: list[str]) -> Iterator[list[str]]:
    """Yield what is shown between lines that stand for any lines."""
    part: list[str] = []
    for line in shown:
        if line in ("…", "..."):
            yield part
            part = []
        else:
            part.append(line)
    yield part


def lacking(said: list[str], answer: str) -> list[str]:
    """Return the lines of a page that an answer does not have where they stand; with them, what the page leaves out."""
    shown = [line.rstrip() for line in said if line.strip()]
    lines = [line.rstrip() for line in answer.splitlines() if line.strip()]
    if not shown:
        return []
    first, *others = _parts(shown)
    if not _begins(first, lines):
        return first
    lines = lines[len(first) :]
    for part in others[:-1]:
        start = next((number for number in range(len(lines) + 1) if _begins(part, lines[number:])), None)
        if start is None:
            return part
        lines = lines[start + len(part) :]
    if not others:
        return [f"not shown: {line}" for line in lines]
    last = others[-1]
    return last if len(lines) < len(last) or not _begins(last, lines[len(lines) - len(last) :]) else []
