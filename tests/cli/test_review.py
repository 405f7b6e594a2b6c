"""``trainyard review``: a template, a folder, a deployment file."""

import json
import os
from pathlib import Path

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.review.engine import engine_version

TEMPLATE = '{"Resources": {"Data": {"Type": "AWS::S3::Bucket"}}}'


@pytest.fixture(autouse=True)
def nothing_kept_or_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", os.devnull)  # the programs that a review asks have a module of their own


def test_a_template_becomes_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.template.json").write_text(TEMPLATE)
    assert main(["review", "mine.template.json"]) == 0
    assert capsys.readouterr().out == "1 bucket: 1 resource in 1 stack.\nNot priced: 1 item.\nreview/review.html\n"
    found = json.loads(Path("review/review.json").read_text())
    assert found["title"] == "mine"
    assert found["provenance"]["command"] == "trainyard review mine.template.json"
    assert Path("review/review.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.yaml", "Resources: [", "t.yaml: is neither JSON nor YAML"),
        ("t.json", "{}", "t.json: is no CloudFormation template: it has no Resources"),
        ("none.yaml", None, "none.yaml: "),
    ],
)
def test_what_cannot_be_reviewed_is_said(
    name: str,
    content: str | None,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_text(content)
    assert main(["review", name]) == 1
    assert capsys.readouterr().err.startswith(said)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """Return a template with an error that AWS's template validation finds."""
    file = tmp_path / "wrong.json"
    file.write_text('{"Resources": {"Data": {"Type": "AWS::S3::Bucket", "Properties": {"Nonsense": 1}}}}')
    return file


def test_templates_are_validated(wrong: Path, tmp_path: Path) -> None:
    assert main(["review", str(wrong), "-o", str(tmp_path / "out")]) == 0
    found = json.loads((tmp_path / "out" / "review.json").read_text())
    assert found["provenance"]["tools"] == [f"TemplateValidation {engine_version()}"]
    errors = [each for each in found["findings"] if each["severity"] == "error"]
    assert [(each["place"], each["resource"]) for each in errors] == [("wrong/Data", "wrong/Data")]
    assert "Nonsense" in errors[0]["text"]


@pytest.mark.parametrize(("severity", "code"), [("never", 0), ("error", 1), ("warning", 1)])
def test_the_exit_code_is_by_severity(wrong: Path, severity: str, code: int, tmp_path: Path) -> None:
    words = ["review", str(wrong), "-o", str(tmp_path / "out"), "--fail-on", severity]
    assert main([*words, "--markdown", str(tmp_path / "out.md")]) == code
    assert "### Open findings" in (tmp_path / "out.md").read_text()


def test_a_loss_of_data_fails_too(tmp_path: Path) -> None:
    role = '"Role": {"Type": "AWS::IAM::Role"}'
    (tmp_path / "old.json").write_text(TEMPLATE.replace('"Data"', f'{role}, "Data"'))
    (tmp_path / "new.json").write_text(f'{{"Resources": {{{role}}}}}')
    words = ["review", str(tmp_path / "new.json"), "--against", str(tmp_path / "old.json"), "-o", str(tmp_path / "out")]
    assert main([*words, "--fail-on", "error"]) == 1
    found = json.loads((tmp_path / "out" / "review.json").read_text())
    assert [(row["where"], row["effect"]) for row in found["change"]["rows"]] == [("new/Data", "lost")]
