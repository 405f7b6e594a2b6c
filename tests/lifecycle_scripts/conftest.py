"""Nodes to run scripts on."""

from pathlib import Path

import pytest

from tests.lifecycle_scripts.fake_node import FakeNode, make_node


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    """A worker that has booted, and has downloaded the project's own scripts."""
    return make_node(tmp_path / "node")
