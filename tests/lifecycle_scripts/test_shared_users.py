"""The file of users and groups: every problem, with its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lifecycle_scripts.programs import load

MODULE = load("hyperpod/shared_users.py")


def test_the_format_of_awss_scripts_is_read() -> None:
    assert MODULE.read("ada,2001,/fsx/ada\nbob,2002,/fsx/bob\n") == (
        [("ada", 2001, "/fsx/ada", ()), ("bob", 2002, "/fsx/bob", ())],
        [],
    )


def test_names_and_homes_beside_those_of_others_are_read() -> None:
    text = "ada,2001,/home/ada\nada2,2002,/home/ada2\ndocker-team,2003,/home/ubuntu2,docker:3001\n"
    assert MODULE.read(text).problems == []


def test_groups_comments_blanks_and_spaces_are_read() -> None:
    text = "# people\n\n ada , 2001 , /fsx/ada , research:3001 admins:3002  # the first\n"
    assert MODULE.read(text) == ([("ada", 2001, "/fsx/ada", (("research", 3001), ("admins", 3002)))], [])


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [(0, "holds no user; write one 'name,uid,home' per line")]),
        ("# nobody\n", [(0, "holds no user; write one 'name,uid,home' per line")]),
        ("ada\n", [(1, "must be 'name,uid,home' or 'name,uid,home,group:gid ...', got 'ada'")]),
        (
            "Ada,2001,/fsx/ada\n",
            [(1, "user must be a name of at most 32 lower-case letters, digits, '_' and '-', got 'Ada'")],
        ),
        (
            "ada,0,/fsx/ada\n",
            [(1, "uid must be a number from 1001 to 2147483646, not 65534 or 65535, got '0'")],
        ),
        (
            "ada,65534,/fsx/ada\n",
            [(1, "uid must be a number from 1001 to 2147483646, not 65534 or 65535, got '65534'")],
        ),
        (
            "ada,2001,fsx\nbob,2002,/fsx/../etc\n",
            [
                (1, "home must be an absolute path of letters, digits, '.', '_' and '-', got 'fsx'"),
                (2, "home must be an absolute path of letters, digits, '.', '_' and '-', got '/fsx/../etc'"),
            ],
        ),
        (
            "ada,2001,/fsx/ada,research\n",
            [(1, "gid must be a number from 1001 to 2147483646, not 65534 or 65535, got ''")],
        ),
        ("slurm,2001,/fsx/slurm\n", [(1, "user must be another name than those that the system has, got 'slurm'")]),
        (
            "ada,2001,/fsx/ada,sudo:3001\n",
            [(1, "group must be another name than those that the system has, got 'sudo'")],
        ),
        ("ada,2001,/etc/ada\n", [(1, "home must not be one of the system or of 'ubuntu', got '/etc/ada'")]),
        ("ada,2001,/home\n", [(1, "home must not be one of the system or of 'ubuntu', got '/home'")]),
        ("ada,2001,/home/ubuntu/a\n", [(1, "home must not be one of the system or of 'ubuntu', got '/home/ubuntu/a'")]),
        (
            "ada,2001,/fsx/ada\nbob,2002,/fsx/ada/bob\neve,2003,/fsx\nmel,2004,/fsx/ada\n",
            [
                (2, "home must not be '/fsx/ada' of line 1, in it or around it, got '/fsx/ada/bob'"),
                (3, "home must not be '/fsx/ada' of line 1, in it or around it, got '/fsx'"),
                (4, "home must not be '/fsx/ada' of line 1, in it or around it, got '/fsx/ada'"),
            ],
        ),
        ("ada,2001,/fsx/ada\nada,2002,/fsx/ada\n", [(2, "user 'ada' is on line 1 already")]),
        ("ada,2001,/fsx/ada\nbob,2001,/fsx/bob\n", [(2, "number 2001 belongs to 'ada' on line 1, got 'bob'")]),
        (
            "ada,2001,/fsx/ada,r:3001\nbob,2002,/fsx/bob,r:3002\n",
            [(2, "group 'r' has number 3001 on line 1, got 3002")],
        ),
        ("ada,2001,/fsx/ada,bob:3001\nbob,2002,/fsx/bob\n", [(2, "group 'bob' has number 3001 on line 1, got 2002")]),
    ],
)
def test_fails_with_every_problem_and_its_line(text: str, problems: list[tuple[int, str]]) -> None:
    assert MODULE.read(text).problems == problems


def test_the_program_prints_groups_first_and_each_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "u").write_text("ada,2001,/fsx/ada,r:3001\nbob,2002,/fsx/bob,r:3001\n")
    assert MODULE.main([str(tmp_path / "u")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "group\tada\t2001",
        "group\tr\t3001",
        "group\tbob\t2002",
        "user\tada\t2001\t/fsx/ada",
        "member\tada\tr",
        "user\tbob\t2002\t/fsx/bob",
        "member\tbob\tr",
    ]


def test_the_program_names_file_and_line_and_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "users").write_text("ada,2001,/fsx/ada\nada\n")
    assert MODULE.main([str(tmp_path / "users")]) == 65
    out, err = capsys.readouterr()
    assert (out, err) == ("", "users:2: must be 'name,uid,home' or 'name,uid,home,group:gid ...', got 'ada'\n")


@given(st.text(alphabet="ad,:# \n/0123456789r-", max_size=60))
def test_any_text_gives_users_or_problems_never_a_crash(text: str) -> None:
    listing = MODULE.read(text)
    assert listing.users or listing.problems
    if not listing.problems:
        assert len({user.uid for user in listing.users}) == len(listing.users)
