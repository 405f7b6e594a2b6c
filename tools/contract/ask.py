"""Puts questions to ParallelCluster's own environment."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-pcluster" / "bin" / "python"


def ask(requests: dict[str, Any]) -> dict[str, Any]:
    """Return ParallelCluster's answers.

    Args:
        requests: ``checks`` and ``plans``, as ``tools.contract.pcluster_checks`` takes them.
    """
    if not PYTHON.exists():
        sys.exit(f"{PYTHON.relative_to(ROOT)} does not exist; make contract makes it")
    with TemporaryDirectory() as directory:
        source, target = Path(directory) / "requests.json", Path(directory) / "answers.json"
        source.write_text(json.dumps(requests))
        subprocess.run(
            [str(PYTHON), "-m", "tools.contract.pcluster_checks", str(source), str(target)],
            cwd=ROOT,
            env=_environment(),
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=None,
        )
        return dict(json.loads(target.read_text()))


def facts_are_those_of_the_package() -> bool:
    """Tell whether the committed facts are what the package says."""
    done = subprocess.run(
        [str(PYTHON), "-m", "tools.contract.extract_facts", "--check"], cwd=ROOT, env=_environment(), check=False
    )
    return done.returncode == 0


def _environment() -> dict[str, str]:
    # ParallelCluster renders its templates with CDK v1, which finds Node by the path; no account is in reach
    node = Path(os.environ.get("JSII_NODE", ROOT / ".venv" / "node"))
    own = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "JSII_"))}
    return own | {
        "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "JSII_NODE": str(node),
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
