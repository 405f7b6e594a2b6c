"""What constructs say of themselves in a cloud assembly, where CDK wrote it: asking each takes thousands of calls."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def entries_of(assembly: Path, kind: str) -> Iterator[tuple[str, Any]]:
    """Yield the paths of constructs in stacks, without a slash before, with what an entry of a type says of each.

    Args:
        assembly: The folder of an app's ``cdk.out``; nested assemblies are looked into.
        kind: The type of the entries.
    """
    for artifact in json.loads((assembly / "manifest.json").read_text(encoding="utf-8"))["artifacts"].values():
        if artifact["type"] == "cdk:cloud-assembly":
            yield from entries_of(assembly / artifact["properties"]["directoryName"], kind)
        file = artifact.get("additionalMetadataFile")
        said = json.loads((assembly / file).read_text(encoding="utf-8")) if file else artifact.get("metadata", {})
        for path, entries in said.items():
            yield from ((path.removeprefix("/"), entry["data"]) for entry in entries if entry["type"] == kind)
