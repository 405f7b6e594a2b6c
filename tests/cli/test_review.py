"""``trainyard review``: a template, a folder, a deployment file."""

import json
from pathlib import Path

import pytest

from cdk_trainyard.cli import main

TEMPLATE = '{"Resources": {"Data": {"Type": "AWS::S3::Bucket"}}}'


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


def test_a_folder_that_is_no_assembly_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", str(tmp_path)]) == 1
    assert "there is no manifest.json in it" in capsys.readouterr().err
