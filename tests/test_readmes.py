"""Every Python example of every README runs as it stands, in somebody's own app."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.lazy import public_names
from tests.shown import lacking, promised

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "constructs" / "cdk_trainyard"
STABILITY = r"^Stability: \[(\w+)\]\(../../../docs/stability.md\)\."
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def page(path: str) -> str:
    return (ROOT / path).read_text()


def examples() -> list[pytest.ParameterSet]:
    pages = sorted(
        {
            *ROOT.glob("*.md"),
            *ROOT.glob("docs/**/*.md"),
            *ROOT.glob("constructs/**/*.md"),
            *ROOT.glob("lifecycle_scripts/**/*.md"),
            *ROOT.glob("examples/**/*.md"),
        }
    )
    return [
        pytest.param(
            page,
            match.group(1),
            id=f"{page.relative_to(ROOT)}:{page.read_text()[: match.start()].count(chr(10)) + 2}",
            marks=() if page.parent == ROOT else pytest.mark.slow,
        )
        for page in pages
        for match in FENCE.finditer(page.read_text())
    ]


def warnings_by_room() -> dict[str, set[str]]:
    """Return the ids of warnings, as the sources have them: in tables, in calls, and written out."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text()
        said = re.findall(r'(?:warned\(\s*"|"@cdk-trainyard/)(\w+)(?:", "|:)([a-z-]+)"', source)
        for table in re.findall(r"^\w*WARNINGS\b[^=]*= \{\n(.*?)^\}", source, re.MULTILINE | re.DOTALL):
            said += [(path.parent.name, slug) for slug in re.findall(r'^    "([a-z-]+)":', table, re.MULTILINE)]
        for room, slug in said:
            found.setdefault(room, set()).add(slug)
    return found


def test_readmes_name_every_warning_of_their_rooms() -> None:
    told = warnings_by_room()
    for room in told:
        readme = (PACKAGE / room / "README.md").read_text()
        table = readme.partition("## Warnings\n")[2].partition("\n## ")[0]
        named = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
        named += re.findall(rf"`@cdk-trainyard/{room}:([a-z-]+)`", readme)
        assert sorted(named) == sorted(told[room]), room
    assert {"fleet", "hyperpod", "monitoring", "network", "parallelcluster", "serving", "storage"} <= told.keys()


EACH = """
import json, os, sys, tempfile, traceback
failed, sys.stdout = {}, sys.stderr
for code in json.load(sys.stdin):
    os.chdir(tempfile.mkdtemp())
    try:
        exec(code, {"__name__": "example"})
    except BaseException:
        failed[code] = traceback.format_exc()
json.dump(failed, sys.__stdout__)
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What examples raise that start a local AWS: in another process, for that of other tests may run in this one."""
    codes = [code for each in examples() if "LocalAws" in (code := str(each.values[1]))]
    said = os.environ | {"TMPDIR": str(tmp_path_factory.mktemp("examples"))}
    program = [sys.executable, "-c", EACH]
    done = subprocess.run(program, env=said, input=json.dumps(codes), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(("page", "code"), examples())
def test_the_example_runs(
    page: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if "LocalAws" in code:
        assert request.getfixturevalue("failed").get(code) is None
        return
    monkeypatch.chdir(tmp_path)
    app = App(outdir=str(tmp_path / "cdk.out"))
    stack = Stack(app, "Stack", env=Environment(account="111111111111", region="us-west-2"))
    exec(compile(code, str(page), "exec"), {"app": app, "stack": stack, "__name__": "example"})  # noqa: S102
    Template.from_stack(stack)


def test_every_room_has_a_readme_with_an_example() -> None:
    rooms = {path.parent for path in PACKAGE.glob("*/__init__.py")}
    shown = {param.values[0].parent for param in examples()}
    assert {room.name for room in rooms - shown} == set()


def test_the_readme_leads_to_every_room() -> None:
    rooms = [path.parent.relative_to(ROOT) for path in PACKAGE.glob("*/__init__.py")]
    assert [room.name for room in rooms if f"({room}/README.md)" not in page("README.md")] == []


def test_every_room_says_how_stable_it_is() -> None:
    """In the word of docs/stability.md, which has a row for each room that there is, and for each that is exported."""
    rows = re.findall(r"^\| (.+) \| (stable|provisional|internal) \|", page("docs/stability.md"), re.MULTILINE)
    words = {name: word for names, word in rows for name in re.findall(r"`(\w+)`", names)}
    rooms = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    said = {room: re.findall(STABILITY, page(f"{PACKAGE}/{room}/README.md"), re.MULTILINE) for room in rooms}
    assert said == {room: [words.get(room)] for room in rooms}
    exported = {module.split(".")[1] for module in public_names("cdk_trainyard").values()}
    assert [room for room in exported if words.get(room) != "stable"] == []


def test_the_readmes_mistakes_are_answered_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's deployment file with another region's zone and a type that there is not."""
    readme = (ROOT / "README.md").read_text()
    (file,) = re.findall(r"^```yaml\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(file.replace("use1-az4 ", "usw2-az4 ").replace("ml.c5.4xlarge", "ml.c5.5xlarge"))
    with pytest.raises(ConfigurationError) as refused:
        Deployment.load("mine.yaml")
    assert lacking(promised("README.md", "cdk synth -c deployment=mine.yaml"), str(refused.value)) == []


def test_the_readmes_deployment_file_loads(tmp_path: Path) -> None:
    (file,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.yaml").write_text(file)
    assert Deployment.load(tmp_path / "mine.yaml").name == "cpu-ddp"
