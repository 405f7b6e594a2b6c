"""``trainyard check``: every rule of files, without CDK."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cdk_trainyard.cli import main
from tests.deployment.good_file import GOOD, edited
from tests.support import DEPLOYMENTS, ROOT

SLOW = {"aws_cdk", "boto3", "botocore", "constructs", "jsii", "moto", "rich"}


@pytest.mark.programs
def test_files_are_checked_without_what_is_slow() -> None:
    program = "import sys; from cdk_trainyard.cli import main; code = main(['check', *sys.argv[1:]])"
    asked = f"{program}; print(code, *sorted(set(sys.modules) & {SLOW}))"
    run = subprocess.run(
        [sys.executable, "-c", asked, *map(str, DEPLOYMENTS)], capture_output=True, text=True, check=True
    )
    assert run.stdout == "0\n"


def test_what_is_wrong_is_said_a_line_each(write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    path = write(edited(("count: 4", "count: -4"), ("1200", "1300")))
    good = path.with_name("good.yaml")
    good.write_text(GOOD)
    assert main(["check", str(good), str(path)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{path}:7:19: 'storage.lustre.capacity_gib' must be ")
    assert second == f"{path}:18:14: 'cluster.groups.workers.count' must be 0 to 6758, got -4"


def test_what_is_no_file_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    files = [str(tmp_path), str(tmp_path / "mime.yaml"), "https://example.com/mine.yaml", "/proc/self/mem"]
    assert main(["check", *files]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path}: this is a directory, not a file; name a file in it: mine.yaml",
        f"{tmp_path}/mime.yaml: the file does not exist; did you mean 'mine.yaml'?",
        "https://example.com/mine.yaml: this is an address, not a file: download it, and name the file",
        "/proc/self/mem: the file cannot be read: Input/output error",
    ]


@pytest.fixture
def wrong(write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    path = write(edited(("count: 4", "count: -4")))
    monkeypatch.chdir(path.parent)
    return Path(path.name)


TEXT = "'cluster.groups.workers.count' must be 0 to 6758, got -4"


def test_problems_for_programs(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--json"], ["--format", "json"]):
        assert main(["check", *words, str(wrong), "none.yaml"]) == 1
        first, second = json.loads(capsys.readouterr().out)["problems"]
        assert first == {"file": "x.yaml", "line": 18, "column": 14, "text": TEXT}
        assert (second["file"], second["line"], second["column"]) == ("none.yaml", None, None)
        assert second["text"].startswith("the file does not exist")


def test_what_may_surprise_is_said_where_nothing_is_wrong(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write(edited(("zone: use1-az4\n", "zone: use1-az4\n  cidr: 172.17.0.0/16\n"))).parent)
    said = "172.17.0.0/16 overlaps 172.17.0.0/16, which Docker takes for its bridge on every node: "
    assert main(["check", "x.yaml"]) == 0
    assert capsys.readouterr().out.startswith(f"x.yaml:3:1: warning: {said}")
    assert main(["check", "--format", "github", "x.yaml"]) == 0
    assert capsys.readouterr().out.startswith(f"::warning file=x.yaml,line=3,col=1::{said}")
    assert main(["check", "--json", "x.yaml"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == []
    (warning,) = found["warnings"]
    assert (warning["line"], warning["warning"]) == (3, "@cdk-trainyard/network:docker-bridge")
    assert main(["check", "--format", "sarif", "x.yaml"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["level"] == "warning"


def test_problems_for_github(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a,b:c.yaml").write_text("name: 100%\n")
    assert main(["check", "--format", "github", str(wrong), "a,b:c.yaml"]) == 1
    first, *others = capsys.readouterr().out.splitlines()
    assert first == f"::error file=x.yaml,line=18,col=14::{TEXT}"
    assert {line.partition("::error ")[2].partition(",")[0] for line in others} == {"file=a%2Cb%3Ac.yaml"}
    assert any("100%25" in line for line in others)


def test_problems_for_sarif_readers(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No package here brings SARIF's schema: these are its required members."""
    assert main(["check", "--format", "sarif", str(wrong), "/none.yaml"]) == 1
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "trainyard check"
    first, second = run["results"]
    assert driver["rules"][first["ruleIndex"]]["id"] == first["ruleId"]
    assert (first["level"], first["message"]) == ("error", {"text": TEXT})
    assert [place["physicalLocation"] for place in first["locations"]] == [
        {"artifactLocation": {"uri": "x.yaml"}, "region": {"startLine": 18, "startColumn": 14}}
    ]
    (place,) = second["locations"]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "file:///none.yaml"}}


@pytest.mark.parametrize("form", ["text", "github", "json", "sarif"])
def test_nothing_wrong_in_every_format(
    form: str, write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--format", form, str(write(GOOD))]) == 0
    said = capsys.readouterr().out
    if form in {"text", "github"}:
        assert said == ""
    else:
        found = json.loads(said)
        assert (found["runs"][0]["results"] if form == "sarif" else found["problems"]) == []


def test_the_hook_of_pre_commit_takes_deployment_files() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "trainyard check"
    taken = ["deployment.yaml", "deployments/x.yaml", "infra/deployments/a/b.yml", "infra/deployment.yml"]
    assert [name for name in taken if not re.search(hook["files"], name)] == []
    assert [name for name in ["k8s/mine.yaml", "my-deployment.yaml"] if re.search(hook["files"], name)] == []
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["cli"]
    assert set(hook["additional_dependencies"]) <= set(declared)
