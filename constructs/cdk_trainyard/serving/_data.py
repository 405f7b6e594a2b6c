"""Access to the data files, each read once and only when something is asked of it."""

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load(name: str) -> Any:
    """Return the content of ``data/<name>.json``."""
    return json.loads((Path(__file__).parent / "data" / f"{name}.json").read_bytes())
