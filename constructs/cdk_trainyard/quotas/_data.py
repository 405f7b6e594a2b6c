"""The data files of this room, each read once."""

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load(name: str) -> dict[str, Any]:
    """Return the content of ``data/<name>.json``."""
    return dict(json.loads((Path(__file__).parent / "data" / f"{name}.json").read_bytes()))
