"""A full file without one of its keys is good or refused, whatever else it says: never a stack trace."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.errors import ConfigurationError

pytestmark = pytest.mark.slow
DATA = Path(__file__).parent / "data"


def without_one(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each key of a file and of its sections with the file that lacks it."""
    for key, value in data.items():
        rest = {other: value for other, value in data.items() if other != key}
        yield key, rest
        if isinstance(value, dict):
            yield from ((f"{key}.{name}", {**rest, key: less}) for name, less in without_one(value) if "." not in name)


@pytest.mark.parametrize("full", sorted(DATA.glob("everything_*.yaml")), ids=lambda path: path.stem)
def test_never_ends_in_a_trace(full: Path, tmp_path: Path) -> None:
    for beside in DATA.iterdir():
        (tmp_path / beside.name).symlink_to(beside)
    refused = set()
    for key, data in without_one(yaml.safe_load(full.read_text(encoding="utf-8"))):
        path = tmp_path / "less.yaml"
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        try:
            Deployment.load(path)
        except ConfigurationError:
            refused.add(key)
    assert {"name", "region"} <= refused
