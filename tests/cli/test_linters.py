"""cfn-lint and checkov in a review: the programs themselves, and programs that fail."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.cli.review.linters import NAMES, asked, variable
from cdk_trainyard.report import read_assembly
from tests.support import ROOT

CHECKOV = ROOT / ".venv-checkov" / "bin" / "checkov"
TEMPLATE = {
    "Resources": {
        "Data": {"Type": "AWS::S3::Bucket", "Properties": {"Nonsense": 1}},
        "Logs": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"RetentionInDays": 7},
            "Metadata": {"checkov": {"skip": [{"id": "CKV_AWS_158", "comment": "nothing secret is logged"}]}},
        },
    }
}


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "t.json"
    file.write_text(json.dumps(TEMPLATE))
    return file


def reviewed(template: Path, *words: str) -> dict[str, Any]:
    out = template.parent / "out"
    assert main(["review", str(template), "-o", str(out), *words]) == 0
    return dict(json.loads((out / "review.json").read_text()))


@pytest.mark.review
def test_installed_programs_are_asked_and_what_they_say_alike_is_said_once(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CHECKOV.exists(), "make test sets it up; alone: make .venv-checkov/.ready"
    monkeypatch.setenv(variable("checkov"), str(CHECKOV))
    found = reviewed(template)
    by_rule = {rule: each for each in found["findings"] for rule in each["rules"]}
    nonsense = by_rule["E3002"]
    assert nonsense is by_rule["F3002"]
    assert nonsense["tools"] == ["TemplateValidation", "cfn-lint"]
    assert (nonsense["place"], nonsense["severity"]) == ("t/Data", "error")
    assert by_rule["CKV_AWS_18"]["place"] == "t/Data"
    assert by_rule["CKV_AWS_158"]["reason"] == "nothing secret is logged"
    assert [each.partition(" ")[0] for each in found["provenance"]["tools"]] == [
        "TemplateValidation",
        "cfn-lint",
        "checkov",
    ]
    assert found["provenance"]["not_run"] == {}


def test_what_is_not_installed_or_left_out_is_said(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    found = reviewed(template, "--without", "checkov")
    assert found["provenance"]["not_run"] == {
        "cfn-lint": "not installed: on the path, or named by TRAINYARD_CFN_LINT",
        "checkov": "left out",
    }
    assert "Did not run: cfn-lint (not installed" in (template.parent / "out" / "review.html").read_text()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'no such option' >&2; exit 2", "failed: no such option"),
        ("exit 1", "failed: it says nothing"),
        ("echo not json", "failed: Expecting value"),
        ("echo '[{}]'", "failed: "),
    ],
)
def test_a_program_that_fails_is_no_finding_and_no_crash(
    template: Path, script: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = template.parent / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    for name in NAMES:
        monkeypatch.setenv(variable(name), str(program))
    answers = asked(read_assembly(template))
    assert [answer.failure.startswith(said) for answer in answers] == [False, True, True]
    assert [answer.findings for answer in answers[1:]] == [(), ()]
