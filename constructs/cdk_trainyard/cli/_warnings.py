"""What constructs warn of in a cloud assembly: the cdk CLI tells it in words of its own, which change."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

_WARNING: Final = "aws:cdk:warning"
_ID: Final = re.compile(r" \[ack: [^\]]*\]$")


def tell_warnings(assembly: Path) -> None:
    """Say on standard error what constructs warn of, each with its path.

    Args:
        assembly: The folder that the CLI wrote.
    """
    for path, text in _warnings(assembly):
        click.echo(f"warning: {path}: {text}", err=True)


def _warnings(assembly: Path) -> Iterator[tuple[str, str]]:
    for artifact in json.loads((assembly / "manifest.json").read_text(encoding="utf-8"))["artifacts"].values():
        if artifact["type"] == "cdk:cloud-assembly":
            yield from _warnings(assembly / artifact["properties"]["directoryName"])
        file = artifact.get("additionalMetadataFile")
        said = json.loads((assembly / file).read_text(encoding="utf-8")) if file else artifact.get("metadata", {})
        for path, entries in said.items():
            for entry in entries:
                if entry["type"] == _WARNING:
                    yield path.removeprefix("/"), _ID.sub("", entry["data"])
