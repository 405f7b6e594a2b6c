"""The data files of this room, read once."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load(name: str) -> dict[str, Any]:
    """Return the content of ``data/<name>.json``."""
    return dict(json.loads((files("cdk_trainyard.fleet") / "data" / f"{name}.json").read_text(encoding="utf-8")))
