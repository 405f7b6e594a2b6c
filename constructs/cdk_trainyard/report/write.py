"""The files of a review."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdk_trainyard.report.assembly import Assembly
from cdk_trainyard.report.change import Row
from cdk_trainyard.report.document import review
from cdk_trainyard.report.findings import Finding
from cdk_trainyard.report.page import page, picture_style
from cdk_trainyard.report.picture import picture
from cdk_trainyard.report.sarif import as_sarif


def write_review(
    assembly: Assembly | str | Path,
    folder: str | Path,
    *,
    against: Assembly | str | Path | None = None,
    findings: Iterable[Finding] = (),
    tools: Sequence[str] = (),
    title: str = "",
    prices: Sequence[str | Path] = (),
    updates: Iterable[Row] = (),
    not_run: Mapping[str, str] | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Write the review of what an app synthesizes to: ``review.html``, ``.json`` and ``.sarif``, and ``picture.svg``.

    Args:
        assembly: A ``cdk.out`` folder, a template in JSON or YAML, or either as it was read.
        folder: Where to write; it is made.
        against: What there is before it, in any of these forms. Default - nothing: no change is judged.
        findings: Findings of tools that ran beside the synthesis. Default - those of ``validation-report.json``.
        tools: Tools that ran, also those that found nothing. Default - those that the report names.
        title: What it is called. Default - the names of its stacks.
        prices: Files of prices that go before the shipped snapshot, the first before the next. Default - none.
        updates: What others say about updates of resources (`change.Row`). Default - what CloudFormation does alone.
        not_run: Tools that did not run, each with the reason. Default - none.
        command: The command that writes it again. Default - the call of this function.

    Returns:
        The review, as ``review.json`` has it.

    Raises:
        ConfigurationError: The assembly cannot be read.
    """
    found = review(
        assembly,
        against=against,
        findings=findings,
        tools=tools,
        title=title,
        prices=prices,
        updates=updates,
        not_run=not_run,
    )
    if command:
        found["provenance"]["command"] = command
    for name, text in files(found).items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return found


def files(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of a review: name to content.

    Args:
        found: The review.
    """
    drawn = picture(found["picture"], alone=True, style=picture_style())
    return {
        **({"picture.svg": drawn + "\n"} if drawn else {}),
        "review.html": page(found),
        "review.sarif": as_sarif(found),
        "review.json": json.dumps(found, indent=2, ensure_ascii=False) + "\n",
    }
