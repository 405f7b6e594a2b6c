"""The two sides of an update: cloud assemblies, synthesized here where a deployment file is given."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.contract.collect import Found, clusters, stack_of, templates_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One side.

    Attributes:
        stacks: Name of a stack to its template.
        clusters: The ParallelClusters in them.
    """

    stacks: dict[str, dict[str, Any]]
    clusters: list[Found]


def load(given: str, workspace: Path) -> Side:
    """Return a side.

    Args:
        given: A ``cdk.out`` folder, or a deployment file.
        workspace: Where a deployment file is synthesized.
    """
    path = Path(given)
    outdir = path if path.is_dir() else _synthesize(path, workspace)
    if not outdir.joinpath("manifest.json").is_file():
        sys.exit(f"{given} is neither a deployment file nor a cdk.out folder")
    stacks = {stack_of(path): template for path, template in templates_of(outdir).items()}
    return Side(stacks=stacks, clusters=clusters(outdir))


def _synthesize(deployment: Path, workspace: Path) -> Path:
    context = json.loads((ROOT / "cdk.json").read_text())["context"] | {"deployment": str(deployment.resolve())}
    environment = os.environ | {"CDK_OUTDIR": str(workspace), "CDK_CONTEXT_JSON": json.dumps(context)}
    done = subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=environment, check=False)
    if done.returncode:
        sys.exit(f"{deployment} cannot be synthesized, as shown above")
    return workspace
