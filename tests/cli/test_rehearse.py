"""``trainyard rehearse`` puts its options into the rehearsal's own words."""

from pathlib import Path

import pytest

from cdk_trainyard.cli import _cdk, main
from cdk_trainyard.rehearsal import __main__ as rehearsal
from tests.support import ROOT

FILE = str(ROOT / "deployments" / "hyperpod-cpu-ddp.yaml")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    words: list[tuple[str, ...]] = []
    monkeypatch.setattr(_cdk, "find", lambda: _cdk.Cdk(program="/opt/cdk/bin/cdk", environment={}, own={}))
    monkeypatch.setattr(rehearsal, "main", lambda given: words.append(given) or 0)
    for name in ("PATH", "CDK_APP", "CDK_VERSION_REPORTING"):
        monkeypatch.setenv(name, "/usr/bin")
    return words


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([FILE], ("run", FILE)),
        (["run", FILE, "--max-nodes", "3", "--no-job"], ("run", FILE, "--max-nodes=3", "--no-job")),
        ([FILE, "--keep", "--scripts", "mine"], ("run", FILE, "--keep", "--scripts=mine")),
        ([FILE, "--json"], ("run", FILE, "--json")),
        (["crash", "worker-1", "--rehearsal", "12"], ("crash", "worker-1", "--rehearsal=12")),
        (["scale", "workers", "3"], ("scale", "workers", "3")),
        (["build-image"], ("build-image",)),
        (["nodes", "--json", "--rehearsal", "12"], ("nodes", "--json", "--rehearsal=12")),
        (["check", "--json"], ("check", "--json")),
    ],
)
def test_options_become_words(words: list[str], expected: tuple[str, ...], asked: list[tuple[str, ...]]) -> None:
    assert main(["rehearse", *words]) == 0
    assert asked == [expected]


def test_words_are_taken_by_the_rehearsal() -> None:
    """Every command and option here is one of its own."""
    parser, commands = rehearsal._parser()
    words = [
        "run",
        "x.yaml",
        "--max-nodes=3",
        "--scripts=s",
        "--auto-resume",
        "--asked=a",
        "--json",
        "--no-job",
        "--keep",
    ]
    assert parser.parse_args(words).deployment == Path("x.yaml")
    assert all(parser.parse_args([name, "--json"]).json for name in ("nodes", "check"))
    from cdk_trainyard.cli.rehearse import command  # noqa: PLC0415

    assert set(command.commands) == set(commands)


def test_a_machine_that_cannot_is_something_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "main", lambda _given: 69)
    assert main(["rehearse", "check"]) == 3


def test_a_file_that_does_not_exist_is_refused_first(
    asked: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", "shel"]) == 1
    assert "shel: the file does not exist" in capsys.readouterr().err
    assert asked == []
