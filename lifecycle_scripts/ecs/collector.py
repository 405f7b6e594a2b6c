#!/usr/bin/env python3
"""Beside the engine, in the engine's own image: its queue as CloudWatch metrics, printed for the log driver.

CloudWatch makes metrics of log events in its embedded metric format. So this needs no permission, no way out and no
package: it asks the engine on the loopback interface and prints. Arguments: URL, seconds, namespace, service, then
pairs of the engine's metric and ours.
"""

import json
import sys
import time
import urllib.request


def read(url: str) -> dict[str, float]:
    """Return the engine's metrics: name to the sum of its samples. Empty while it loads."""
    found: dict[str, float] = {}
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310  the task definition's own text
            lines = answer.read().decode().splitlines()
    except (OSError, ValueError):
        return found
    for line in lines:
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            key = name.partition("{")[0].strip()
            found[key] = found.get(key, 0.0) + float(value)
    return found


def event(
    now: float, namespace: str, service: str, names: list[tuple[str, str]], found: dict[str, float]
) -> dict[str, object]:
    """Return one log event in CloudWatch's embedded metric format. Up: whether the engine answered."""
    values = {"Up": 1.0 if found else 0.0}
    values.update({ours: found[theirs] for theirs, ours in names if theirs in found})
    return {
        "_aws": {
            "Timestamp": int(now * 1000),
            "CloudWatchMetrics": [
                {
                    "Namespace": namespace,
                    "Dimensions": [["Service"]],
                    "Metrics": [{"Name": name, "Unit": "Count"} for name in values],
                }
            ],
        },
        "Service": service,
        **values,
    }


def main() -> None:
    """Ask and print until the task stops."""
    url, seconds, namespace, service, *rest = sys.argv[1:]
    names = list(zip(rest[::2], rest[1::2], strict=True))
    while True:
        sys.stdout.write(json.dumps(event(time.time(), namespace, service, names, read(url))) + "\n")
        sys.stdout.flush()
        time.sleep(float(seconds))


if __name__ == "__main__":
    main()
