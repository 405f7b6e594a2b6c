"""The data files of rooms, each read once and only when something is asked of it."""

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load(room: str, name: str) -> Any:
    """Return the content of ``<room>/data/<name>.json``.

    Args:
        room: The room, as ``"instances"``.
        name: The file's name.
    """
    return json.loads((Path(__file__).parent / room / "data" / f"{name}.json").read_bytes())
