"""Prometheus' own tools: from the PATH, else out of Debian's packages, which takes no root and installs nothing."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

_PACKAGES = {
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "amtool": "prometheus-alertmanager",
    "prometheus-node-exporter": "prometheus-node-exporter",
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
        (Path(folder) / "usr" / "bin" / name).replace(_FOLDER / name)
    return str(_FOLDER / name)


def run(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a tool, and return what it said."""
    return subprocess.run([tool(name), *map(str, words)], capture_output=True, text=True, check=False)


def test_rules(folder: Path, rules: Any, tests: list[dict[str, Any]]) -> subprocess.CompletedProcess[str]:
    """Run unit tests of rules; both are JSON, which is YAML."""
    (folder / "rules.yml").write_text(json.dumps(rules))
    said = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    (folder / "tests.yml").write_text(json.dumps(said))
    return run("promtool", "test", "rules", folder / "tests.yml")
