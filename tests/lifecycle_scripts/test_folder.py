"""The folder as a whole: every step is complete and used; `make check` asks the style tools."""

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
PYTHON = [*(path for path in DOWNLOADED if path.suffix == ".py"), ROOT / "fleet/node.py"]
EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = [path for folder in ("hyperpod", "lib") for path in sorted((ROOT / folder / "steps").glob("*.sh"))]
TOOLS = Path(sys.executable).parent
# What fetches; test_extras shows that none of it is called unless an option asks for it.
FETCHING = {
    "packages.sh": {"apt", "apt-get", "curl"},
    "exporters.sh": {"curl"},
    "metrics_agent.sh": {"curl"},
    "neuron_environment.sh": {"pip"},
}


def entry_steps(name: str) -> list[str]:
    found = re.search(r"^steps=\(\n(.*?)^\)$", (ROOT / "hyperpod" / name).read_text(), re.MULTILINE | re.DOTALL)
    assert found
    return found[1].split()


def test_the_checkouts_folder_is_found() -> None:
    assert Path(__file__).parents[2] / "lifecycle_scripts" == ROOT


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.name)
def test_programs_are_for_the_python_of_old_images_and_need_nothing_else(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {str(name).partition(".")[0] for name in modules} <= sys.stdlib_module_names


@pytest.mark.parametrize("variable", ["FI_EFA_USE_DEVICE_RDMA", "FI_EFA_FORK_SAFE"])
def test_no_script_tells_libfabric_what_it_finds_out_itself(variable: str) -> None:
    """Under the one it aborts on devices without RDMA read (p3dn, c5n), under the other it gives huge pages up."""
    everything = [*ROOT.rglob("*"), *EXAMPLES.rglob("*")]
    files = [path for path in everything if path.suffix in {".sh", ".py", ".sbatch", ".json", ".yaml"}]
    assert len(files) > 50
    lines = {path.name: [line for line in path.read_text().splitlines() if variable in line] for path in files}
    assert {name: said for name, said in lines.items() if any(not line.lstrip().startswith("#") for line in said)} == {}


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


def needs_of(path: Path) -> list[str] | None:
    """What a step needs; None for one that comes after everything before it."""
    command = (
        f'declare -A N=(); step() {{ [[ $# -lt 4 ]] || N[$1]=$4; }}; source {path}; echo "${{N[{path.stem}]-none}}"'
    )
    # the library lies beside the folder here, and in it on nodes
    environment = {"PATH": "/usr/bin:/bin", "ROOT": "/nowhere", "BUNDLE": str(ROOT), "HOST": "x", "LOG_FILE": "x"}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=True)  # noqa: S607
    told = done.stdout.splitlines()[-1]
    return None if told == "none" else told.split()


@pytest.mark.parametrize("entry", ["on_create.sh", "on_init_complete.sh"])
def test_a_step_comes_after_what_it_needs(entry: str) -> None:
    order = entry_steps(entry)
    paths = {path.stem: path for path in STEPS}
    for number, name in enumerate(order):
        needs = needs_of(paths[name]) or []
        known = {path.stem for path in ROOT.glob("*/steps/*.sh")}  # fleets have steps that some of these need there
        assert set(needs) <= known, name
        assert [need for need in needs if need in order[number:]] == [], name


def test_slurm_alone_comes_after_everything() -> None:
    assert [path.stem for path in STEPS if needs_of(path) is None] == ["network", "slurm"]
    assert entry_steps("on_create.sh")[0] == "network"
    assert entry_steps("on_create.sh")[-1] == "slurm"


def test_every_step_is_run_by_the_script_that_does_everything() -> None:
    assert sorted(entry_steps("on_create.sh")) == sorted(path.stem for path in STEPS)
    assert set(entry_steps("on_init_complete.sh")) < set(entry_steps("on_create.sh"))


@pytest.mark.parametrize("path", SHELL, ids=lambda path: path.name)
def test_nothing_is_traced_or_slept_for_and_few_files_fetch(path: Path) -> None:
    code = re.sub(r"(?m)(^|\s)#.*$", "", path.read_text())
    assert re.findall(r"set -[a-z]*x|sleep \d", code) == []
    fetched = set(re.findall(r"\b(?:apt|apt-get|curl|wget|pip)\b", code))
    assert fetched <= FETCHING.get(path.name, set())


def test_every_step_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [path.stem for path in STEPS if f"| `{path.stem}` |" not in readme] == []


@pytest.mark.slow
def test_the_readmes_step_works_as_it_stands(node: FakeNode) -> None:
    (text,) = re.findall(r"^```bash\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (node.bundle / "steps/issue.sh").write_text(text)
    entry = node.bundle / "on_create.sh"
    entry.write_text(entry.read_text().replace(" slurm\n", " issue slurm\n"))
    assert node.run("on_create.sh").returncode == 0
    assert (node.root / "etc/issue").read_text() == "worker\n"
    assert node.run("on_create.sh").returncode == 0
    assert "[issue] say what this node is before log-in: nothing to do" in node.log
    command = [str(TOOLS / "shellcheck"), "--enable=all", "--severity=style", str(node.bundle / "steps/issue.sh")]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == ""
