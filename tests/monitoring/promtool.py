"""Prometheus' own tools: from the PATH, else out of Debian's packages, which takes no root and installs nothing."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

_PACKAGES = {
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "amtool": "prometheus-alertmanager",
    "prometheus-node-exporter": "prometheus-node-exporter",
    "vmagent": "victoria-metrics",
    "busybox": "busybox-static",
}
_FOLDER = ROOT / ".cache" / "prometheus"


def tool(name: str) -> str:
    """Return where a tool is; a machine on which it cannot be had fails the test, and says what to do."""
    known = shutil.which(name) or (str(_FOLDER / name) if (_FOLDER / name).exists() else None)
    return known or _unpacked(name)


def _unpacked(name: str) -> str:
    package = _PACKAGES[name]
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
        try:
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)  # noqa: S607
            (deb,) = Path(folder).glob("*.deb")
            subprocess.run(["dpkg-deb", "--extract", deb, folder], check=True, capture_output=True)  # noqa: S607
        except (OSError, subprocess.CalledProcessError) as error:
            told = getattr(error, "stderr", b"") or str(error).encode()
            pytest.fail(f"{name} is missing: apt-get install --no-install-recommends {package}\n{told.decode()}")
        next(path for path in Path(folder).rglob(name) if path.parent.name == "bin").replace(_FOLDER / name)
    return str(_FOLDER / name)


def run(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a tool, and return what it said."""
    return subprocess.run([tool(name), *map(str, words)], capture_output=True, text=True, check=False)


def failures(folder: Path, files: Mapping[str, tuple[Any, list[dict[str, Any]]]]) -> dict[str, str]:
    """Run many files of unit tests in one process, and return what was said of each that failed.

    Args:
        folder: Where files are written to.
        files: Rules and their tests, by a name of letters, digits, dots and hyphens.
    """
    paths = {str(_written(folder, name, rules, tests)): name for name, (rules, tests) in files.items()}
    command = [tool("promtool"), "test", "rules", *paths]
    lavish = os.environ | {"GOGC": "1000"}  # 200 MB: to keep to 60, it looks for garbage a quarter of its time
    # what failed is told on the other stream: one pipe keeps the order
    told = subprocess.run(command, env=lavish, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    said: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in told.stdout.splitlines():
        if line.startswith("Unit Testing:"):
            lines = said.setdefault(paths[line.partition(":")[2].strip()], [])
        else:
            lines.append(line)
    assert said.keys() == files.keys(), told.stdout
    passed = {name for name, found in said.items() if "  SUCCESS" in found}
    assert told.returncode == (passed != files.keys()), told.stdout
    return {name: "\n".join(found) for name, found in said.items() if name not in passed}


def _written(folder: Path, name: str, rules: Any, tests: list[dict[str, Any]]) -> Path:
    (folder / f"{name}.rules.yml").write_text(json.dumps(rules))
    interval = "1m" if rules["groups"] else "1000d"  # without rules there is nothing to evaluate each minute
    said = {"rule_files": [f"{name}.rules.yml"], "evaluation_interval": interval, "tests": tests}
    path = folder / f"{name}.tests.yml"
    path.write_text(json.dumps(said))
    return path
