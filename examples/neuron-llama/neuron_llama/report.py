"""What the training says: one JSON object per line, on standard output, by one process of all."""

from __future__ import annotations

import json
import sys
import time


def report(event: str, **facts: object) -> None:
    """Say that something happened."""
    line = json.dumps({"event": event, "time": round(time.time(), 3), **facts}, allow_nan=False, sort_keys=False)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
