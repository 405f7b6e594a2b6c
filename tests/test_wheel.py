"""The wheel in an environment of its own, from an empty folder: what a user of pip has, and nothing of a checkout.

What the wheel needs of others is not installed again: the environment finds the packages of this one, but for ours.
"""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def trainyard(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run ``trainyard`` as the wheel installs it, in a folder that init has made, or an empty one."""
    home = tmp_path_factory.mktemp("wheel")
    python = home / "venv" / "bin" / "python"

    def program(*words: str | Path, cwd: Path = home) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(python.parent), str(ROOT / "node_modules" / ".bin"), os.environ["PATH"]])
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [*map(str, words)], cwd=cwd, env=environment | {"PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    program(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", home, cwd=ROOT)
    program(sys.executable, "-m", "venv", "--without-pip", home / "venv")
    (wheel,) = home.glob("*.whl")
    program(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--no-compile",
        wheel,
    )
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    # what stands in a .pth file is found, and the .pth files that stand there are not read: ours is the wheel's
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    found = program(python, "-c", "import cdk_trainyard; print(cdk_trainyard.__file__)").stdout.strip()
    assert found == str(packages / "cdk_trainyard" / "__init__.py")
    program(python.parent / "trainyard", "init", "mine", "--like", "hyperpod-cpu-ddp", "--count", "1")
    program(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=home / "mine")
    (home / "empty").mkdir()
    return lambda *words, folder="mine": program(python.parent / "trainyard", *words, cwd=home / folder)


@pytest.mark.cli
def test_a_project_of_ones_own_is_checked_and_synthesized(trainyard: Run) -> None:
    assert trainyard("check", "deployment.yaml").stdout == ""
    stacks = json.loads(trainyard("synth", "deployment.yaml", "--json").stdout)["stacks"]
    assert set(stacks) == {"NetworkStack", "StorageStack", "TrainingStack"}


@pytest.mark.cli
def test_without_a_file_and_without_a_project_a_demo_says_to_programs_what_exists(trainyard: Run) -> None:
    """The stacks that the package brings, deployed by the real CLI; tests/test_docs.py has a project's demo."""
    done = trainyard("demo", "--stack", "NetworkStack", "--json", folder="empty")
    vpc, subnet = json.loads(done.stdout)["Network"][:2]
    assert (vpc["kind"], vpc["level"], subnet["kind"]) == ("VPC", 0, "subnet")
    assert vpc["name"].startswith("vpc-")
    assert "== Starting the local AWS, region us-east-1" in done.stderr


@pytest.mark.cli
@pytest.mark.nodes
def test_its_scripts_are_rehearsed_on_nodes(trainyard: Run, image: Path) -> None:
    del image
    assert "every node idle in Slurm" in trainyard("rehearse", "deployment.yaml", "--no-job").stdout
