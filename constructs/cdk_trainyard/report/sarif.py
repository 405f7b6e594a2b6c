"""A review for machines that read pull requests: SARIF for code scanning, and a short summary in Markdown."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.report.words import counted

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
_SHOWN: Final = 10
_WRITTEN: Final = re.compile(r"(?![/~]|[A-Za-z]:|\.\./)(?:\./)?([^:]+):([1-9]\d*):\d+")


def as_sarif(review: Mapping[str, Any]) -> str:
    """Return the findings of a review as a SARIF 2.1.0 log; what is accepted is suppressed, with its reason.

    Args:
        review: The review, as ``review.json`` has it.
    """
    rules = sorted({each["rules"][0]: each["text"] for each in review["findings"]}.items())
    index = {name: number for number, (name, _) in enumerate(rules)}
    driver = {
        "name": "trainyard review",
        "version": review["provenance"]["trainyard"],
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in rules],
    }
    files = {each["id"]: each["file"] for each in review["stacks"]}
    run = {
        "tool": {"driver": driver},
        "results": [_result(each, index, files) for each in review["findings"]],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _result(finding: Mapping[str, Any], index: Mapping[str, int], files: Mapping[str, str]) -> dict[str, Any]:
    rule, place = finding["rules"][0], finding["place"]
    stack = finding["resource"].rpartition("/")[0]
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": place, "kind": "resource"}]}
    # code scanning shows results in files alone; of what no template has, the first one stands for the app
    template = files.get(stack) or next(iter(files.values()), "template.json")
    file, line = _line(finding["written"]) or (template, 1)
    location["physicalLocation"] = {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": line}}
    result = {
        "ruleId": rule,
        "ruleIndex": index[rule],
        "level": _LEVELS[finding["severity"]],
        "message": {"text": f"{place}: {finding['text']}"},
        "locations": [location],
    }
    if finding["reason"]:
        result["suppressions"] = [{"kind": "external", "justification": finding["reason"]}]
    return result


def _line(written: str) -> tuple[str, int] | None:
    """Return file and line of ``file:line:column``; None of a file that is outside of the repository."""
    found = _WRITTEN.fullmatch(written)
    return (found[1], int(found[2])) if found else None


def _uri(file: str) -> str:
    return re.sub(r"[^\w./-]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), file)


def as_markdown(review: Mapping[str, Any]) -> str:
    """Return a short summary for a pull request.

    Args:
        review: The review, as ``review.json`` has it.
    """
    return "\n".join(_lines(review)) + "\n"


def _lines(review: Mapping[str, Any]) -> Iterator[str]:
    verdict, change = review["verdict"], review["change"]
    yield f"## Review: {_plain(review['title'])}"
    yield ""
    yield _plain(verdict["sentence"])
    yield ""
    opened = [each for each in review["findings"] if not each["reason"]]
    checked = counted(len(opened), "open finding") if review["provenance"]["validated"] else "no rule pack ran"
    yield f"- Findings: {checked}, {verdict['accepted']} accepted"
    yield f"- Open to the internet: {len(verdict['public']) or 'nothing'}"
    yield f"- Cost: {_plain(review['cost']['sentence'])}"
    yield f"- Stores lost when the stacks are destroyed: {len(verdict['lost']) or 'none'}"
    if change:
        yield f"- Change: {_plain(change['sentence'])}"
        yield f"- Cost of the change: {change['cost']['before']} before, {change['cost']['after']} after"
        yield from _listed(
            "Data and clusters at risk",
            [_row(each) for each in change["rows"] if each["effect"] in {"lost", "refused"}],
        )
        yield from _listed("Widened", change["widened"])
    yield from _listed(
        "Open findings",
        [f"{each['severity']}: {each['place']}: {each['text']} ({each['rules'][0]})" for each in opened],
    )
    yield from _listed("Open to the internet", verdict["public"])


def _row(each: Mapping[str, Any]) -> str:
    return f"{each['effect']}: {each['where']}: {each['what']}; {each['remedy']}"


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"### {title}", "")
        yield from (f"- {_plain(each)}" for each in items[:_SHOWN])
        if len(items) > _SHOWN:
            yield f"- and {len(items) - _SHOWN} more, in the review"


def _plain(text: str) -> str:
    """Return a text in which Markdown and HTML mean nothing, nor the names of people."""
    return re.sub(r"([\\`*_{}\[\]<>#|~@&!])", r"\\\1", " ".join(text.split())).replace("\\@", "\\@\u200b")
