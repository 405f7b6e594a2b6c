"""A home that takes no files: what commands keep there has one sentence for an answer."""

import pwd
from pathlib import Path

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.cli.prices import command as prices
from cdk_trainyard.places import home as home_of_user
from cdk_trainyard.rehearsal import __main__ as rehearsal
from cdk_trainyard.rehearsal import cache

KEEPERS = {
    "contract": (["contract", "--install"], "XDG_CACHE_HOME"),
    "prices": (["prices", "refresh", "us-west-2"], "XDG_CACHE_HOME"),
    "rehearse": (["rehearse", "build-image"], cache.VARIABLE),
}
"""The commands that keep something: their words, and the variable that names another place."""


@pytest.fixture(params=["of the kernel", "a file", "none that the system knows"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A home in which not even root makes anything."""
    found = "/proc/nobody"
    if request.param == "a file":
        (tmp_path / "home").write_text("")
        found = str(tmp_path / "home")
    for name in ("XDG_CACHE_HOME", cache.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", found)
    if request.param == "none that the system knows":
        monkeypatch.delenv("HOME")
        monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
        found = str(home_of_user())
    return found


@pytest.mark.parametrize("name", KEEPERS)
def test_it_is_one_sentence_that_names_another_place(
    name: str, home: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prices, "_asked", lambda _region: pytest.fail("AWS was asked for what cannot be kept"))
    monkeypatch.setattr(rehearsal, "node_image", lambda say: cache.built("node-image", "key", lambda _: None, say=say))
    words, variable = KEEPERS[name]
    assert main(words) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"nothing can be kept in {home}/.cache/cdk-trainyard" in said
    assert said.endswith(f"; {variable} names another place" + " than ~/.cache" * (variable == "XDG_CACHE_HOME"))


@pytest.mark.parametrize("name", ["a folder", "below a file"])
def test_prices_are_not_asked_for_where_the_file_cannot_be_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prices, "_asked", lambda _region: pytest.fail("AWS was asked for what cannot be kept"))
    (tmp_path / "file").write_text("")
    given = tmp_path if name == "a folder" else tmp_path / "file" / "prices.json"
    assert main(["prices", "refresh", "us-west-2", "--output", str(given)]) == 1
    said = capsys.readouterr().err
    assert str(tmp_path) in said
    assert "XDG_CACHE_HOME" not in said
