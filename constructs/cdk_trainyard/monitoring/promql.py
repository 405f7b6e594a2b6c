"""PromQL that users write, read by Prometheus' own ``promtool`` where there is one. No CDK."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cdk_trainyard.json_value import JsonValue

_PROGRAM = "promtool"
UNREAD = "no promtool is on the path: nobody has read the PromQL of 'own_alarms'"
"""What is said where queries are taken unread."""


def can_parse() -> bool:
    """Return whether there is a promtool on the path."""
    return shutil.which(_PROGRAM) is not None


def unreadable(rules: Mapping[str, JsonValue]) -> Mapping[str, str]:
    """Return what promtool says of each rule that it does not take; nothing where there is no promtool.

    Args:
        rules: Alerting rules, by name.
    """
    program = shutil.which(_PROGRAM)
    if program is None or not rules:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        for name, rule in rules.items():
            file: JsonValue = {"groups": [{"name": "own", "rules": [rule]}]}
            Path(folder, name).write_text(json.dumps(file), encoding="utf-8")  # JSON is YAML
        return {name: why for name in rules if (why := _why(program, folder, name)) is not None}


def _why(program: str, folder: str, name: str) -> str | None:
    done = subprocess.run(  # noqa: S603  a program of the user's own path
        [program, "check", "rules", name], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    last = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()][-1]
    return last.partition("could not parse expression: ")[2] or last.removeprefix(f"{name}: ")
