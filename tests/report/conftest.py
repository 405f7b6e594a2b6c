"""Assemblies and templates that tests of the report share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.report.assembly import read_assembly
from cdk_trainyard.report.graph import Graph

Write = Callable[..., Path]


@pytest.fixture
def assembly(tmp_path: Path) -> Write:
    """Write a cloud assembly: a keyword for each stack, its value a template or its resources."""

    def write(folder: str = "cdk.out", **stacks: Any) -> Path:
        out = tmp_path / folder
        out.mkdir()
        artifacts = {}
        for name, given in stacks.items():
            template = given if "Resources" in given else {"Resources": given}
            (out / f"{name}.template.json").write_text(json.dumps(template))
            artifacts[name] = {
                "type": "aws:cloudformation:stack",
                "environment": "aws://unknown-account/us-west-2",
                "properties": {"templateFile": f"{name}.template.json", "stackName": name.lower()},
            }
        (out / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
        return out

    return write


@pytest.fixture
def graph(assembly: Write) -> Callable[..., Graph]:
    return lambda **stacks: Graph(read_assembly(assembly(**stacks)))
