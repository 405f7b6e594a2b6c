"""Stand-in for ParallelCluster's fetch_and_run: runs the custom actions of an event on the node that it is called on.

As there, the cluster's configuration says what is run, all scripts are fetched before the first runs, they run as root
in the order of the configuration with their arguments, and the first that fails ends it. It is called with -preinstall
(OnNodeStart), -postinstall (OnNodeConfigured) or -postupdate (OnNodeUpdated). Standard library and the AWS CLI only.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

EVENTS = {"-preinstall": "OnNodeStart", "-postinstall": "OnNodeConfigured", "-postupdate": "OnNodeUpdated"}
CONFIG = Path("/opt/parallelcluster/shared/cluster-config.yaml")  # JSON, which is YAML
NODE = Path("/etc/parallelcluster/cfnconfig")
POOL = Path("/etc/rehearsal/login-pool")  # cfnconfig does not say which pool a login node is of


def facts() -> dict[str, str]:
    """Return what the node is told of itself."""
    lines = (line.partition("=") for line in NODE.read_text().splitlines())
    return {name: value for name, _, value in lines}


def actions(config: dict[str, Any], node: dict[str, str], event: str) -> list[dict[str, Any]]:
    """Return the actions of an event, for this kind of node."""
    kind = node["cfn_node_type"]
    if kind == "HeadNode":
        section = config["HeadNode"]
    elif kind == "LoginNode":
        section = next(one for one in config["LoginNodes"]["Pools"] if one["Name"] == POOL.read_text())
    else:
        queues = config["Scheduling"]["SlurmQueues"]
        section = next(one for one in queues if one["Name"] == node["cfn_scheduler_queue_name"])
    found = (section.get("CustomActions") or {}).get(event) or {}
    return list(found.get("Sequence") or ([found] if found.get("Script") else []))


def fetch(url: str, event: str, number: int, region: str) -> str:
    """Fetch a script and make it executable; return where it is."""
    handle, path = tempfile.mkstemp()
    os.close(handle)
    s3 = url.startswith("s3://")
    words = ["aws", "s3", "cp", "--only-show-errors", url, path] if s3 else ["curl", "-fsS", "-o", path, url]
    patience = {"AWS_METADATA_SERVICE_TIMEOUT": "5", "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "5"}
    own = {**os.environ, **patience, "AWS_REGION": region}  # for this call alone: the actions are told nothing
    done = subprocess.run(words, env=own, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603  built above
    if done.returncode:
        sys.exit(f"Failed to download {event} script {number} {url}, cause: {done.stderr.strip()}")
    Path(path).chmod(0o700)
    return path


def main() -> None:
    """Run the actions of the event that is named."""
    event = EVENTS[sys.argv[1]]
    node = facts()
    found = actions(json.loads(CONFIG.read_text()), node, event)
    scripts = [fetch(action["Script"], event, number, node["cfn_region"]) for number, action in enumerate(found, 1)]
    for number, (action, script) in enumerate(zip(found, scripts, strict=True), 1):
        words = [script, *(action.get("Args") or ())]
        sys.stdout.write(f"{event} {number}: {action['Script']} {' '.join(words[1:])}\n")
        sys.stdout.flush()
        code = subprocess.run(words, check=False).returncode  # noqa: S603  what the configuration says
        if code:
            sys.exit(f"Failed to execute {event} script {number} {action['Script']}, return code: {code}.")
        Path(script).unlink()


if __name__ == "__main__":
    main()
