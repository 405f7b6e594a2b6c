import argparse
import contextlib
import io
import json

import pytest

from cdk_trainyard.rehearsal import RehearsalError
from cdk_trainyard.rehearsal.__main__ import _tell
from cdk_trainyard.rehearsal.report import NEVER_PROVEN, Report


def test_the_table_has_every_step_and_what_is_not_proven() -> None:
    stream = io.StringIO()
    report = Report(stream)
    with report.step("boot") as step:
        step.note("3 nodes")
    report.skip("job", "no workers")
    rows = report.table().splitlines()
    assert rows[1].split()[:2] == ["boot", "passed"]
    assert rows[1].endswith("3 nodes")
    assert rows[2].split()[:2] == ["job", "skipped"]
    assert rows[3].startswith("in all  passed")
    assert all(any(sentence in row for row in rows) for sentence in NEVER_PROVEN)
    assert report.passed
    assert "boot ..." in stream.getvalue()


def test_a_step_that_fails_is_noted_and_passes_its_error_on() -> None:
    report = Report(io.StringIO())
    with pytest.raises(RehearsalError), report.step("boot"):
        raise RehearsalError("first line\nmore")
    assert not report.passed
    assert report.steps[0].notes == ["first line"]
    assert "in all  failed" in report.table()


@pytest.mark.parametrize("as_json", [True, False])
def test_a_program_reads_what_the_table_says(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(io.StringIO())
    with contextlib.suppress(RehearsalError), report.step("boot") as step:
        step.note("3 nodes")
        raise RehearsalError("no power")
    report.skip("job", "no workers")
    _tell(report, argparse.Namespace(json=as_json))
    said = capsys.readouterr().out
    if not as_json:
        assert "in all  failed" in said
        return
    found = json.loads(said)
    boot, job = found["steps"]
    assert found["passed"] is False
    assert found["seconds"] >= boot["seconds"] >= 0
    assert (boot["title"], boot["outcome"], boot["notes"]) == ("boot", "failed", ["3 nodes", "no power"])
    assert job == {"title": "job", "seconds": 0, "outcome": "skipped", "notes": ["no workers"]}
    assert found["not_proven"] == [*NEVER_PROVEN]
