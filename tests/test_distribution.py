"""What a wheel says of itself, and that constructs need nothing but CDK."""

import re
import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

import cdk_trainyard
from cdk_trainyard.cli._extras import BRINGS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ALONE = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"{name} is in an extra")

sys.meta_path.insert(0, Refused())
from tests.test_cluster import NODES, Made

for build in NODES:
    Made(build, late=True).template
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(packed.read(name).decode())


@pytest.mark.slow
def test_the_wheel_says_who_may_use_it_and_what_it_needs(metadata: Message) -> None:
    needs = [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need]
    assert [re.split(r"[<>=]", need)[0] for need in needs] == ["aws-cdk-lib", "constructs"]
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert metadata["Version"] == cdk_trainyard.__version__


@pytest.mark.slow
def test_the_long_description_is_for_users_of_pip(metadata: Message) -> None:
    """They have no clone: neither ``make`` nor a relative link leads anywhere."""
    text = str(metadata.get_payload())
    assert metadata["Description-Content-Type"] == "text/markdown"
    first = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    assert first.startswith("pip install cdk-trainyard")
    assert "jsii" in text
    assert "Node.js" in text
    assert "make " not in text
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []
    extras = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert extras == set(PROJECT["optional-dependencies"])


@pytest.mark.slow
def test_the_wheel_says_what_changed(wheel: Path) -> None:
    with ZipFile(wheel) as packed:
        assert packed.read("cdk_trainyard/CHANGELOG.md") == (ROOT / "CHANGELOG.md").read_bytes()


def test_the_changelog_has_this_version() -> None:
    assert f"\n## [{cdk_trainyard.__version__}]\n" in (ROOT / "CHANGELOG.md").read_text()


def test_floors_are_the_versions_that_were_run() -> None:
    page = (ROOT / "docs" / "stability.md").read_text()
    floors = dict(re.fullmatch(r"([\w-]+)>=([0-9.]+),.*", need).groups() for need in PROJECT["dependencies"])
    assert f"| {floors['aws-cdk-lib']}.0, the floor | {floors['constructs']}.0 |" in page
    locked = (ROOT / "requirements" / "dev.txt").read_text()
    (newest,) = re.findall(r"^aws-cdk-lib==(\S+)", locked, re.MULTILINE)
    (constructs,) = re.findall(r"^constructs==(\S+)", locked, re.MULTILINE)
    assert f"| {newest}, the newest | {constructs} |" in page


def test_everything_is_an_extra_of_all() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(re.findall(r"\w+", everything.partition("[")[2])) == extras.keys() - {"all"}


def test_a_command_looks_for_the_packages_of_its_extras() -> None:
    extras = PROJECT["optional-dependencies"]

    def packages(extra: str) -> set[str]:
        needs = {re.split(r"[<>=!]", need)[0] for need in extras[extra]}
        inner = {
            each for need in needs if "cdk-trainyard[" in need for each in re.findall(r"\w+", need.partition("[")[2])
        }
        return {need for need in needs if "cdk-trainyard" not in need}.union(*map(packages, inner))

    modules = {"PyYAML": "yaml", "Jinja2": "jinja2", "moto[server]": "moto"}
    brought = {
        extra: {modules.get(package, package.replace("-", "_")) for package in packages(extra)} for extra in BRINGS
    }
    brought["cli"].remove("click")  # without which there is no command to look
    assert {extra: set(modules) for extra, modules in BRINGS.items()} == brought


@pytest.mark.programs
def test_constructs_need_nothing_but_cdk() -> None:
    groups = PROJECT["optional-dependencies"].values()
    names = {re.split(r"[\[<>=]", need)[0] for group in groups for need in group} - {"cdk-trainyard"}
    others = {"PyYAML": "yaml", "cdk-nag": "cdk_nag", "cloudformation-validate": "cloudformation_validate"}
    program = f"OTHERS = {sorted(others.get(name, name) for name in names)}\n{ALONE}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
