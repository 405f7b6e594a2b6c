"""A folder in place of a deployment file, or a file that may not be read: every command that takes a file says so."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cdk_trainyard.cli import _cdk, main
from cdk_trainyard.cli._app import COMMANDS, trainyard
from cdk_trainyard.cli._files import FILE
from tests.support import ROOT

CLI = ROOT / "constructs" / "cdk_trainyard" / "cli"
OTHER_ARGUMENTS = {"count": "1"}
"""A word for each argument that does not take any."""


def takers(command: click.Command, *words: str) -> Iterator[list[str]]:
    """Yield, of each command that takes a deployment file, its words with this folder in place of the file."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from takers(command.get_command(click.Context(command), name), *words, name)
        return
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    if any(each.type is FILE for each in arguments):
        given = ["." if each.type is FILE else OTHER_ARGUMENTS.get(each.name, "x") for each in arguments]
        yield [*words, *given]


TAKERS = [*takers(trainyard)]


def test_these_are_the_commands_of_the_readme_that_take_a_file() -> None:
    rows = re.findall(r"^\| `trainyard ([\w-]+) \[?(?:FILE|OLD)\b", (CLI / "README.md").read_text(), re.MULTILINE)
    assert {words[0] for words in TAKERS} == set(rows) <= set(COMMANDS)


@pytest.mark.parametrize("words", TAKERS, ids=" ".join)
def test_a_folder_is_answered_with_the_deployment_file_in_it(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("deployment.yaml", ".pre-commit-config.yaml", "app.py"):
        (tmp_path / name).write_text("name: x\n")
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    said = capsys.readouterr()
    first, *others = (said.out + said.err).splitlines()
    assert first == ".: this is a directory, not a file; name a file in it: deployment.yaml"
    takes_folders = words[0] in {"contract", "plan", "review"}
    assert others == [".: nor did the cdk CLI write it, for there is no manifest.json in it"] * takes_folders


def test_so_is_a_folder_that_a_review_is_held_against(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deployment.yaml").write_text("name: x\n")
    monkeypatch.chdir(tmp_path)
    assert main(["review", "deployment.yaml", "--against", "."]) == 1
    assert capsys.readouterr().err.startswith(".: this is a directory, not a file; name a file in it: deployment.yaml")


WITHOUT_PRIVILEGES = (
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
    if os.geteuid() == 0
    else []
)
"""Root may read everything; a program that is started with these words may not."""
ASK_ALL = """
import json, sys
from cdk_trainyard.cli import _cdk, main
for words in json.loads(sys.argv[1]):
    print("rc", main(words), flush=True)
"""


@pytest.mark.programs
def test_what_may_not_be_read_is_said_by_every_command(tmp_path: Path) -> None:
    """A file, and one in a folder; in one process for all commands, as a user without privileges."""
    files = [tmp_path / closed / "deployment.yaml" for closed in ("file", "folder")]
    for file in files:
        file.parent.mkdir()
        file.write_text("name: x\n")
    for closed in (files[0], files[1].parent):
        closed.chmod(0)
    words = [[str(file) if word == "." else word for word in each] for file in files for each in TAKERS]
    done = subprocess.run(
        [*WITHOUT_PRIVILEGES, sys.executable, "-c", ASK_ALL, json.dumps(words)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    files[1].parent.chmod(0o700)
    said = [[f"{file}: the file cannot be read: Permission denied", "rc 1"] * len(TAKERS) for file in files]
    assert done.stdout.splitlines() == [*said[0], *said[1]], done.stdout


@pytest.mark.parametrize(("name", "why"), [("file", "it is a file"), ("file/folder", "Not a directory")])
def test_where_nothing_can_be_written_is_said_before_it_is_made(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_cdk, "find", lambda: None)  # and nobody runs it
    (tmp_path / "file").write_text("")
    template = tmp_path / "template.json"
    template.write_text(json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}))
    output = str(tmp_path / name)
    reviewed = ["review", str(template), "--output"]
    for words, option in (
        (["synth", str(ROOT / "deployments" / "hyperpod-cpu-ddp.yaml"), "--output", output], "--output"),
        ([*reviewed, output], "--output"),
        (["dashboards", output], "DIR"),
        ([*reviewed, str(tmp_path / "review"), "--markdown", f"{output}/summary.md"], "--markdown"),
    ):
        assert main(words) == 1
        assert capsys.readouterr().err == (f"nothing can be written to {output}: {why}; {option} names another place\n")
