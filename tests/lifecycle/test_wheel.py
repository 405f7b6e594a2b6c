"""The project's own scripts are found where the package is installed from a wheel, and are the same there."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from cdk_trainyard.lifecycle.bundle import default_folders, read_bundle

ROOT = Path(__file__).parents[2]
SHOW = """
from cdk_trainyard.lifecycle.bundle import default_folders, read_bundle
from cdk_trainyard.node_scripts import scripts_folder
bundle = read_bundle(*default_folders())
print(scripts_folder(), bundle.digest(), bundle.find("on_create.sh").executable, sep="\\n")
"""


@pytest.mark.slow
def test_an_installed_wheel_has_the_scripts(tmp_path: Path) -> None:
    def python(*arguments: str, **environment: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    python("-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as packed:
        jobs = {Path(name).parts[3] for name in packed.namelist() if "/jobs/" in name}
    assert jobs == {"cpu-ddp", "fleet-ddp"}, "rehearsals submit these; the others are examples"
    target = tmp_path / "installed"
    python("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--target", str(target), str(wheel))

    shown = python("-c", SHOW, PYTHONPATH=str(target)).splitlines()
    assert shown == [
        str(target / "cdk_trainyard" / "lifecycle_scripts"),
        read_bundle(*default_folders()).digest(),
        "True",
    ]
