"""Generate where CloudFormation makes HyperPod clusters, and where their types have a price, from cfn-lint's data.

``python -m tools.generate_hyperpod_regions`` rewrites ``cdk_trainyard/hyperpod/data/regions.json``; a test generates it
again and compares, and holds it against what AWS's template validation says. A Region of which cfn-lint has no
provider schemas is in neither list; one without a price list is not among the prices.
"""

import json
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.instances import hyperpod_type_names
from tools import cfn_lint

OUTPUT: Final = Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "hyperpod" / "data" / "regions.json"
_TYPE: Final = "AWS::SageMaker::Cluster"
_NO_REGION: Final = "sam"
"""What cfn-lint has beside the Regions: the types of AWS SAM."""


def regions() -> dict[str, Any]:
    """Return Regions with and without clusters, and Regions by the types that have a price there."""
    has = {
        path.name.removesuffix(".json"): _TYPE in json.loads(path.read_bytes())
        for path in cfn_lint.SCHEMAS.joinpath("providers").iterdir()
        if path.name.endswith(".json")
    }
    has.pop(_NO_REGION)
    return {
        "source": f"{_TYPE} among CloudFormation's provider schemas of each Region, and AWS's price list of its types "
        f"(aws_sagemaker_cluster/instancetype_enum.json), as cfn-lint {version('cfn-lint')} ships them, by "
        "tools/generate_hyperpod_regions.py",
        "date": cfn_lint.read("version.json")["schema_date"][:10],
        "with": sorted(region for region, known in has.items() if known),
        "without": sorted(region for region, known in has.items() if not known),
        "prices": _prices(),
    }


def _prices() -> list[dict[str, list[str]]]:
    """Return the types that HyperPod accepts, those together that have a price in the same Regions."""
    listed = cfn_lint.read("extensions", "aws_sagemaker_cluster", "instancetype_enum.json")
    listed.pop("description")
    priced = {region: set(said["enum"]) for region, said in listed.items()}
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in hyperpod_type_names():
        alike[tuple(sorted(region for region, names in priced.items() if name in names))].append(name)
    return [{"regions": list(places), "types": names} for places, names in sorted(alike.items())]


def text() -> str:
    """Return the content of the file, one set of Regions on a line."""
    found = regions()
    rows = ",\n".join(f"  {json.dumps(row)}" for row in found.pop("prices"))
    return f'{json.dumps(found)[:-1]},\n "prices": [\n{rows}\n ]}}\n'


if __name__ == "__main__":
    OUTPUT.write_text(text(), encoding="utf-8")
