"""Write tests/review/data/pinned_logical_ids.json anew. Run it only when you have thought about migration."""

import json
import tempfile
from pathlib import Path

from tests.review.test_deployments import VARIANTS, data_resources
from tests.support import DEPLOYMENTS, ROOT, synthesize_here


def main() -> None:
    """Synthesize every deployment and write what is kept."""
    pinned = {}
    for deployment in [*DEPLOYMENTS, *VARIANTS]:
        with tempfile.TemporaryDirectory() as outdir:
            pinned[deployment.stem] = data_resources(synthesize_here(deployment, Path(outdir)))
    path = ROOT / "tests" / "review" / "data" / "pinned_logical_ids.json"
    path.write_text(json.dumps(pinned, indent=2) + "\n")


if __name__ == "__main__":
    main()
