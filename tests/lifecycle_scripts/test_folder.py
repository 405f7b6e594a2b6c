"""The folder as a whole: what style tools say, and that every step is complete and used."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import scripts_folder
from tests.lifecycle_scripts.fake_node import FakeNode

ROOT = scripts_folder()
DOWNLOADED = [path for folder in ("hyperpod", "lib") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
SHELL = [path for path in DOWNLOADED if path.suffix == ".sh"]
PYTHON = [path for path in DOWNLOADED if path.suffix == ".py"]
STEPS = sorted((ROOT / "hyperpod/steps").glob("*.sh"))
TOOLS = Path(sys.executable).parent


def entry_steps(name: str) -> list[str]:
    found = re.search(r'^provision "\$\{here\}" (.*)$', (ROOT / "hyperpod" / name).read_text(), re.MULTILINE)
    assert found
    return found[1].split()


def test_the_checkouts_folder_is_found() -> None:
    assert Path(__file__).parents[2] / "lifecycle_scripts" == ROOT


def test_shellcheck_at_its_strictest_is_silent() -> None:
    command = [str(TOOLS / "shellcheck"), "--enable=all", "--severity=style", "--external-sources", *map(str, SHELL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_shfmt_changes_nothing() -> None:
    command = [str(TOOLS / "shfmt"), "-d", "-i", "2", "-ci", "-bn", *map(str, SHELL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.name)
def test_programs_are_for_the_python_of_old_images_and_need_nothing_else(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert modules <= sys.stdlib_module_names


@pytest.mark.parametrize("path", STEPS, ids=lambda path: path.stem)
def test_a_step_has_its_three_functions_and_a_cause(path: Path) -> None:
    text = path.read_text()
    for part in ("done", "run", "verify"):
        assert f"\nstep_{path.stem}_{part}() {{\n" in text
    assert len(re.findall(rf"^step {path.stem} ", text, re.MULTILINE)) == 1


@pytest.mark.parametrize("path", STEPS, ids=lambda path: path.stem)
def test_a_step_keeps_to_its_own_names(path: Path) -> None:
    functions = re.findall(r"^(\w+)\(\)", path.read_text(), re.MULTILINE)
    assert [name for name in functions if not name.startswith((f"{path.stem}_", f"step_{path.stem}_"))] == []


def test_every_step_is_run_by_the_script_that_does_everything() -> None:
    assert sorted(entry_steps("on_create.sh")) == [path.stem for path in STEPS]
    assert set(entry_steps("on_init_complete.sh")) < set(entry_steps("on_create.sh"))


@pytest.mark.parametrize("path", SHELL, ids=lambda path: path.name)
def test_nothing_is_traced_fetched_or_slept_for(path: Path) -> None:
    code = re.sub(r"(?m)(^|\s)#.*$", "", path.read_text())
    assert re.findall(r"set -[a-z]*x|\b(?:apt|apt-get|curl|wget|pip)\b|sleep \d", code) == []


def test_every_step_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [path.stem for path in STEPS if f"| `{path.stem}` |" not in readme] == []


def test_the_readmes_step_works_as_it_stands(node: FakeNode) -> None:
    (text,) = re.findall(r"^```bash\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (node.bundle / "steps/motd.sh").write_text(text)
    entry = node.bundle / "on_create.sh"
    entry.write_text(entry.read_text().replace(" devices slurm", " devices motd slurm"))
    assert node.run("on_create.sh").returncode == 0
    assert (node.root / "etc/motd").read_text() == "worker\n"
    assert node.run("on_create.sh").returncode == 0
    assert "[motd] say what this node is at log-in: nothing to do" in node.log
    command = [str(TOOLS / "shellcheck"), "--enable=all", "--severity=style", str(node.bundle / "steps/motd.sh")]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == ""
