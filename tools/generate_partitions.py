"""Generate the partitions of AWS: how the names of their Regions begin, the domain of their services, and their places.

``python -m tools.generate_partitions`` rewrites ``cdk_trainyard/partitions/data/partitions.json``; a test generates it
again and compares.
"""

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any, Final

import botocore
from botocore.loaders import Loader

OUTPUT: Final = Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "partitions" / "data" / "partitions.json"
_BEGINS: Final = re.compile(r"\^([a-z-]+-)")
"""What stands before the first choice of a pattern of Regions, without the escapes of hyphens."""


def partitions() -> list[dict[str, Any]]:
    """Return every partition; the beginning is empty for the one whose Regions begin with their continents."""
    found = []
    for each in Loader().load_data("partitions")["partitions"]:
        begins = _BEGINS.match(each["regionRegex"].replace("\\-", "-"))
        suffix = each["outputs"]["dnsSuffix"]
        found.append({"name": each["id"], "regions": begins[1] if begins else "", "suffix": suffix})
    return found


def places() -> dict[str, str]:
    """Return where every Region is, in the words of AWS's console."""
    found = (each["regions"].items() for each in Loader().load_data("partitions")["partitions"])
    return {region: row["description"] for region, row in chain.from_iterable(found) if not region.startswith("aws-")}


def text() -> str:
    """Return the content of the file, one partition and one Region on a line."""
    rows = ",\n".join(f"  {json.dumps(row)}" for row in partitions())
    regions = ",\n".join(f"  {json.dumps(region)}: {json.dumps(place)}" for region, place in places().items())
    source = f"botocore {botocore.__version__}, data/partitions.json, by tools/generate_partitions.py"
    return f'{{"source": {json.dumps(source)},\n "partitions": [\n{rows}\n ],\n "places": {{\n{regions}\n }}}}\n'


if __name__ == "__main__":
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(text())
