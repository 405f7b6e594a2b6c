"""What a command becomes for a session, and how its output is told from everything else."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.operations import OperationError
from cdk_trainyard.operations.commands import Output, line_of, wrapped

LINES = st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), max_size=12)


def heard(text: str, identifier: str = "x") -> tuple[list[str], Output]:
    output = Output(identifier)
    return [line for each in text.split("\n") for line in output.hear(each)], output


@given(lines=LINES, code=st.integers(0, 255), ends=st.booleans(), returns=st.booleans())
def test_what_is_between_the_marks_is_the_commands(lines: list[str], code: int, ends: bool, returns: bool) -> None:
    said = "\n".join(lines) + ("\n" if ends and lines else "")
    text = (
        f"\nStarting session with SessionId: s\ntrainyard-x begin\n{said}\ntrainyard-x end {code}\n\n\nExiting session"
    )
    found, output = heard(text.replace("\n", "\r\n") if returns else text)
    assert found == said.removesuffix("\n").split("\n") if said.strip("\n") or len(lines) > 1 else not any(found)
    assert output.code == code
    assert output.other == ["Starting session with SessionId: s"]


def test_a_mark_of_another_session_is_output() -> None:
    found, output = heard("trainyard-x begin\ntrainyard-y end 0\ntrainyard-x end 3 or so")
    assert found == ["trainyard-y end 0", "trainyard-x end 3 or so"]
    assert output.code is None


def test_what_the_plugin_says_before_is_kept() -> None:
    found, output = heard("\nStarting session with SessionId: s\nCannot perform start session: EOF\n")
    assert (found, output.code) == ([], None)
    assert output.other[-1] == "Cannot perform start session: EOF"


@pytest.mark.programs
@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize("line", ["printf %s 'a\"b'; exit 3", "echo '{{ ssm:x }}' # $HOME `id`; exit 3\nexit 3"])
def test_the_agents_words_run_the_line(line: str, user: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The agent splits a command into words and runs them; sudo stands before su for who is not root."""
    folder = tmp_path_factory.mktemp("bin")
    programs = {
        "id": f"echo {user}",
        "sudo": 'echo "sudo $1"; shift; exec "$@"',
        "su": '[ "$1 $2 $3" = "- root -c" ] || exit 99; exec sh -c "$4"',
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    words = shlex.split(wrapped(line, "x"))
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": "/x"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    found, output = heard(done.stdout)
    direct = subprocess.run(["/bin/sh", "-c", line], env=environment, capture_output=True, text=True, check=False)
    assert found == [*(["sudo -n"] if user else []), *direct.stdout.splitlines()]
    assert (output.code, direct.returncode) == (3, 3)


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=2))
def test_several_words_stay_words(words: list[str]) -> None:
    assert shlex.split(line_of(words)) == words


def test_a_single_word_is_a_line() -> None:
    assert line_of(["a | b"]) == "a | b"


def test_what_no_session_takes() -> None:
    with pytest.raises(OperationError, match="too long for a session: 60000 bytes"):
        wrapped("x" * 60_000, "x")
    with pytest.raises(OperationError, match="'-x' is no name of a user"):
        wrapped("x", "x", "-x")
