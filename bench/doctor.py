"""How long ``trainyard doctor`` takes where each call takes 100 ms: whole processes, asking a local AWS.

``python bench/doctor.py`` prints seconds for each shipped deployment.
"""

import subprocess
import sys
import time
from pathlib import Path

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.local import Fault, LocalAws

ROOT = Path(__file__).parents[1]
LATENCY_S = 0.1
GOAL_S = 3.0


def main() -> None:
    """Measure, and print."""
    print(f"doctor, {LATENCY_S:.1f} s a request{'':24}seconds   goal <= {GOAL_S:.1f}")
    with LocalAws() as aws, aws.faults(Fault(call="*", seconds=LATENCY_S)):
        paths = sorted((ROOT / "deployments").glob("*.yaml"))
        _seconds(paths[0], aws)  # the local AWS imports its services when they are first asked
        for path in paths:
            print(f"{path.stem:48}{_seconds(path, aws):7.2f}", flush=True)


def _seconds(path: Path, aws: LocalAws) -> float:
    region = Deployment.load(path).region
    began = time.monotonic()
    run = subprocess.run(
        [sys.executable, "-m", "cdk_trainyard", "doctor", str(path), "--json"],
        env=aws.environment | {"AWS_REGION": region},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in {0, 1}:
        raise SystemExit(run.stderr)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
