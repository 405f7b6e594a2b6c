"""What the tests of the deployment file share."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a deployment file."""

    def written(text: str) -> Path:
        path = tmp_path / "x.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return written
