#!/usr/bin/env python3
"""Print Docker's daemon.json with a data root, keeping whatever else it says; a data root that is there stays.

docker_root.py FILE DIRECTORY. Written for the Python of the nodes (3.8 and newer), without any dependency.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Print the file."""
    path, directory = Path(arguments[0]), arguments[1]
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        settings = json.loads(text) if text.strip() else {}
    except ValueError as error:
        sys.stderr.write(f"{path} is not JSON: {error}\n")
        return 65  # EX_DATAERR
    settings.setdefault("data-root", directory)
    sys.stdout.write(json.dumps(settings, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
