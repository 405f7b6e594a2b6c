"""PromQL that users write, read by Prometheus' own ``promtool`` where there is one. No CDK."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from cdk_trainyard.json_value import JsonValue

_PROGRAM = "promtool"
_CLUSTER = "$cluster"
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_APART = re.compile(r"""\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`|#[^\n]*""")
"""Strings and comments (Prometheus, "Querying basics": string literals, comments)."""
_OPERATOR = re.compile(r"([=!<>]=|=~|!~|[-+*/%^<>=]|\b(?i:and|or|unless)\b)(?=\s*$)")
"""Operators, after which something stands (Prometheus, "Operators")."""
_OVER_SAMPLES = re.compile(
    r"\b(rate|irate|increase|delta|idelta|deriv|predict_linear)\s*\("
    r"\s*[\w:]*\s*\{[^{}]*\$cluster[^{}]*\}\s*\[\s*((?:[0-9]{1,9}(?:ms|[smhdwy]))+)\s*\]"
)
"""Functions that answer for two samples or more, of metrics of the cluster (Prometheus, "Query functions")."""
_BRACES, _BRACKETS = re.compile(r"\{[^{}]*\}"), re.compile(r"\[([^\[\]]*)\]")
_ELSEWHERE = (
    (re.compile(r"=>|=<"), "it has {0}, which compares nothing; write {0[1]}="),
    (re.compile(r"(?<![=!<>])=(?![=~])"), "it has =, which stands between braces alone; write =="),
    (re.compile(r";"), "it has a {0}, and is one expression without an end"),
    (
        re.compile(r"\b(?:by|without|on|ignoring)\s+(?!(?:and|or|unless|offset)\b)[a-zA-Z_]\w*"),
        "it has {0}, and labels stand in parentheses",
    ),
    (
        re.compile(r"\A\s*[\w:]*\s*(?:\{\})?\s*\[[^\[\]]*\]\s*\Z"),
        "it is samples of a span, and no value of now",
    ),
)
"""What no query has outside the braces of selectors (Prometheus, "Operators"; "Querying basics": range vectors)."""
_WHATEVER = re.compile(r"\A\s*[\w:]+\s*(?:\{\})?\s*\Z|(?:[=!]=|[<>]=?)\s*bool\b[^=<>!()]*\Z")
"""What has a value whatever that is: a selector alone, and a comparison that answers 0 or 1 (the same, "Operators")."""
_WINDOW = re.compile(r"\[\s*((?:[0-9]{1,9}(?:ms|[smhdwy]))+)\s*[\]:]")
"""Windows of range selectors and of subqueries (Prometheus, "Querying basics": range vector selectors)."""
_ASKED = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{[^{}]*\$cluster")
_LABEL = re.compile(r"\w+\s*(?:=~?|!=|!~)\s*$")
"""A label with its operator, after which its value stands (Prometheus, "Querying basics": label matchers)."""
_OF_LABELS = re.compile(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^()]*$")
"""Where labels are named, and nothing is compared (Prometheus, "Operators": aggregation, vector matching)."""
_NAMED = re.compile(r"""\bcluster\s*=~?\s*["'`]([^"'`]*)""")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}
_EXPRESSION = re.compile(r"^.*?could not parse expression: ")
_SUMMARY = re.compile(r"^.*?annotation \"summary\": (?:template: __alert_\w+:[0-9]+(?::[0-9]+)?: )?")
"""What promtool says before what is wrong with an expression or a summary."""
UNREAD = "no promtool is on the path: nobody has read the PromQL of 'own_alarms'"
"""What is said where queries are taken unread."""


def can_parse() -> bool:
    """Return whether there is a promtool on the path."""
    return shutil.which(_PROGRAM) is not None


def unreadable(rules: Mapping[str, JsonValue]) -> Mapping[str, Mapping[str, str]]:
    """Return what is wrong with each rule's ``expr`` and ``summary``: what promtool says, or what is seen without it.

    Args:
        rules: Alerting rules, by name.
    """
    program = shutil.which(_PROGRAM)
    if program is None or not rules:
        return {name: {"expr": why} for name, rule in rules.items() if (why := unbalanced(_expr(rule)))}
    with tempfile.TemporaryDirectory() as folder:
        for name, rule in rules.items():
            file: JsonValue = {"groups": [{"name": "own", "rules": [rule]}]}
            Path(folder, name).write_text(json.dumps(file), encoding="utf-8")  # JSON is YAML
        return {name: said for name in rules if (said := _why(program, folder, name))}


def _why(program: str, folder: str, name: str) -> Mapping[str, str]:
    done = _run([program, "check", "rules", name], folder)
    if done.returncode == 0:
        return {}
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    said = [line.removeprefix(f"{name}: ") for line in lines if line.startswith(f"{name}: ")] or lines[-1:]
    version = re.search(r"version (\S+)", _run([program, "--version"], folder).stdout)
    who = f"promtool {version[1]}" if version else "promtool"
    return {
        "summary" if _SUMMARY.search(text) else "expr": f"{who} says {_EXPRESSION.sub('', _SUMMARY.sub('', text))}"
        for text in said
    }


def _run(words: Sequence[str], folder: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  a program of the user's own path
        words, cwd=folder, capture_output=True, text=True, check=False
    )


def _expr(rule: JsonValue) -> str:
    return str(rule["expr"]) if isinstance(rule, dict) else ""


def unbalanced(expr: str) -> str | None:
    """Return what is seen to be wrong with a query without reading it: what is open or unknown in it, or None.

    Args:
        expr: PromQL, with the cluster's matcher in it.
    """
    bare = _APART.sub(" ", expr)
    if quote := re.search(r"[\"'`]", bare):
        return f"it has a {quote[0]} that is not closed"
    if variable := re.search(r"\$\w*", bare):
        return f"it has {variable[0]}, where '$cluster' alone is known"
    expected: list[str] = []
    for sign in bare:
        if sign in _PAIRS:
            expected.append(_PAIRS[sign])
        elif sign in _PAIRS.values() and (not expected or expected.pop() != sign):
            return f"it has a {sign} that closes nothing"
    if expected:
        return f"it lacks a {expected[-1]}"
    if operator := _OPERATOR.search(bare):
        return f"it ends with {operator[0]}"
    outside = _BRACES.sub("{}", bare)
    found = ((each.search(outside), why) for each, why in _ELSEWHERE)
    return next((why.format(place[0]) for place, why in found if place), None) or _no_duration(outside)


def _no_duration(bare: str) -> str | None:
    """Return what is wrong with a span of time: a blank before its unit, or a unit that there is not."""
    for span in _BRACKETS.findall(bare):
        if re.search(r"[0-9]\s+[a-z]", span) or {*re.findall(r"[0-9]([a-zA-Z]+)", span)} - _SECONDS.keys():
            return f"it has [{span}], and a span is numbers with {', '.join(_SECONDS)} right behind them, as 5m"
    return None


def taken_for_a_value(expr: str) -> str | None:
    """Return where ``$cluster``, which is a whole matcher, stands as the value of one, or None.

    Args:
        expr: PromQL.
    """
    literals = [each for each in _APART.finditer(expr) if not each[0].startswith("#")]
    places = [(each.start(), each[0]) for each in literals if _CLUSTER in each[0]]
    bare = _APART.sub(lambda literal: " " * len(literal[0]), expr)
    places += [
        (each.start(), each[0])
        for each in re.finditer(re.escape(_CLUSTER), bare)
        if _LABEL.search(bare[: each.start()])
    ]
    for start, value in places:
        label = _LABEL.search(bare[:start])
        return f"{label[0] if label else ''}{value}"
    return None


def taken_for_a_variable(expr: str) -> str | None:
    """Return what to write in place of ``$cluster`` where it stands outside the braces of a selector, or None.

    Args:
        expr: PromQL.
    """
    bare = _APART.sub(lambda literal: " " * len(literal[0]), expr)
    for place in re.finditer(rf"{re.escape(_CLUSTER)}\b", bare):
        before = bare[: place.start()]
        if before.rfind("{") > before.rfind("}"):
            continue
        if _OF_LABELS.search(before):
            return "write cluster, the label, in its place"
        return "write {$cluster} behind the name of a metric, or $cluster beside other matchers between its braces"
    return None


def asked_of_cluster(expr: str) -> Sequence[str]:
    """Return the metrics that a query asks of ``$cluster``.

    Args:
        expr: PromQL.
    """
    return _ASKED.findall(_APART.sub(" ", expr))


def clusters_named(expr: str) -> Sequence[str] | None:
    """Return the clusters that a query asks for by their names; None when it asks for ``$cluster``.

    Args:
        expr: PromQL.
    """
    return None if "$cluster" in _APART.sub(" ", expr) else _NAMED.findall(expr)


def too_short(expr: str, seconds: int) -> tuple[str, str] | None:
    """Return a function and its window in which there are never two samples, or None.

    Args:
        expr: PromQL; ``$cluster`` says which metrics are the cluster's.
        seconds: Seconds between two samples of those.
    """
    for function, window in _OVER_SAMPLES.findall(_APART.sub(" ", expr)):
        if _seconds(window) <= seconds:
            return function, window
    return None


def has_always_a_value(expr: str) -> bool:
    """Return whether a query answers with whatever is there, and compares nothing by which that would be left out.

    Args:
        expr: PromQL.
    """
    return _WHATEVER.search(_BRACES.sub("{}", _APART.sub(" ", expr))) is not None


def windows(expr: str) -> Mapping[str, float]:
    """Return the seconds of each window that a query looks back at, by how it is written.

    Args:
        expr: PromQL.
    """
    return {window: _seconds(window) for window in _WINDOW.findall(_APART.sub(" ", expr))}


def _seconds(duration: str) -> float:
    return sum(int(number) * _SECONDS[unit] for number, unit in re.findall(r"([0-9]+)([a-z]+)", duration))
