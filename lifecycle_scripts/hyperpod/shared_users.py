#!/usr/bin/env python3
"""Read a file of users and groups that must be the same on every node.

One user per line, ``name,uid,home`` as in AWS's own scripts, optionally followed by ``,group:gid group:gid`` for
further groups. The user's own group has the user's name and number. ``#`` begins a comment. Written for the Python of
the nodes (3.8 and newer), without any dependency; the construct reads the file with this very module before it is
uploaded.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")  # useradd(8)
_HOME = re.compile(r"(/[A-Za-z0-9._-]+)+")
_FIELDS = (3, 4)
_FIRST_ID = 1001  # 1000 is the user ubuntu of the machine image
_LAST_ID = 2**31 - 2
_SYSTEM_NAMES = frozenset((
    "root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
    "backup", "list", "irc", "_apt", "nobody", "adm", "tty", "disk", "kmem", "dialout", "fax", "voice", "cdrom",
    "floppy", "tape", "sudo", "audio", "dip", "operator", "src", "shadow", "utmp", "video", "sasl", "plugdev",
    "staff", "users", "nogroup", "slurm", "munge", "ubuntu",
))  # fmt: skip
"""Accounts and groups with numbers below 1001: Debian's passwd.master and group.master (base-passwd 3.6), and what the
machine image has for Slurm and for log-ins."""
_SYSTEM_TREES = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys", "/usr"),
    "/tmp",  # noqa: S108  a name, to which nothing is written
)
_RESERVED_IDS = (65534, 65535)  # nobody, and (uid_t) -1 of 16 bits


class User(NamedTuple):
    """One line of the file."""

    name: str
    uid: int
    home: str
    groups: tuple[tuple[str, int], ...]


class Listing(NamedTuple):
    """What a file says, and every problem with it as (line, sentence); line 0 is the whole file."""

    users: list[User]
    problems: list[tuple[int, str]]


def read(text: str) -> Listing:
    """Read the text of a file of users, noting every problem in it."""
    users: list[User] = []
    problems: list[tuple[int, str]] = []
    taken = _Taken()
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.split("#", 1)[0].strip()
        if content:
            user, wrong = _read_line(content)
            wrong += taken.add(user, number) if user else []
            users += [user] if user else []
            problems += [(number, sentence) for sentence in wrong]
    if not users and not problems:
        problems.append((0, "holds no user; write one 'name,uid,home' per line"))
    return Listing(users, problems)


class _Taken:
    """Names and numbers that earlier lines have used."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}
        self._group_ids: dict[str, tuple[int, int]] = {}
        self._group_names: dict[int, tuple[str, int]] = {}
        self._homes: dict[str, int] = {}

    def add(self, user: User, line: int) -> list[str]:
        if user.name in self._users:
            return [f"user '{user.name}' is on line {self._users[user.name]} already"]
        self._users[user.name] = line
        own = (user.name, user.uid)
        wrong = [sentence for group in (own, *user.groups) for sentence in self._add_group(group, line)]
        return wrong + self._add_home(user.home, line)

    def _add_home(self, home: str, line: int) -> list[str]:
        for other, other_line in self._homes.items():
            if _is_in(home, other) or _is_in(other, home):
                return [f"home must not be '{other}' of line {other_line}, in it or around it, got '{home}'"]
        self._homes[home] = line
        return []

    def _add_group(self, group: tuple[str, int], line: int) -> list[str]:
        name, number = group
        known_id, id_line = self._group_ids.setdefault(name, (number, line))
        known_name, name_line = self._group_names.setdefault(number, (name, line))
        if known_id != number:
            return [f"group '{name}' has number {known_id} on line {id_line}, got {number}"]
        if known_name != name:
            return [f"number {number} belongs to '{known_name}' on line {name_line}, got '{name}'"]
        return []


def _read_line(content: str) -> tuple[User | None, list[str]]:
    fields = [field.strip() for field in content.split(",")]
    if len(fields) not in _FIELDS:
        return None, [f"must be 'name,uid,home' or 'name,uid,home,group:gid ...', got '{content}'"]
    groups = [_split_group(entry) for entry in fields[3].split()] if len(fields) == max(_FIELDS) else []
    wrong = _name_problems("user", fields[0]) + _number_problems("uid", fields[1])
    if not _HOME.fullmatch(fields[2]) or ".." in fields[2]:
        wrong.append(f"home must be an absolute path of letters, digits, '.', '_' and '-', got '{fields[2]}'")
    elif fields[2] == "/home" or any(_is_in(fields[2], tree) for tree in (*_SYSTEM_TREES, "/home/ubuntu")):
        wrong.append(f"home must not be one of the system or of 'ubuntu', got '{fields[2]}'")
    for name, number in groups:
        wrong += _name_problems("group", name) + _number_problems("gid", number)
    if wrong:
        return None, wrong
    further = tuple((name, int(number)) for name, number in groups)
    return User(fields[0], int(fields[1]), fields[2], further), []


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def _split_group(entry: str) -> tuple[str, str]:
    name, _, number = entry.partition(":")
    return name, number


def _name_problems(kind: str, name: str) -> list[str]:
    if name in _SYSTEM_NAMES:
        return [f"{kind} must be another name than those that the system has, got '{name}'"]
    if _NAME.fullmatch(name):
        return []
    return [f"{kind} must be a name of at most 32 lower-case letters, digits, '_' and '-', got '{name}'"]


def _number_problems(kind: str, text: str) -> list[str]:
    if text.isascii() and text.isdigit() and _FIRST_ID <= int(text) <= _LAST_ID and int(text) not in _RESERVED_IDS:
        return []
    return [f"{kind} must be a number from {_FIRST_ID} to {_LAST_ID}, not 65534 or 65535, got '{text}'"]


def main(arguments: list[str]) -> int:
    """Write ``group``, ``user`` and ``member`` lines for the shell, or every problem to stderr."""
    path = Path(arguments[0])
    listing = read(path.read_text(encoding="utf-8"))
    for line, sentence in listing.problems:
        sys.stderr.write(f"{path.name}:{line}: {sentence}\n")
    if listing.problems:
        return 65  # EX_DATAERR
    groups = {group: None for user in listing.users for group in ((user.name, user.uid), *user.groups)}
    for name, number in groups:
        sys.stdout.write(f"group\t{name}\t{number}\n")
    for user in listing.users:
        sys.stdout.write(f"user\t{user.name}\t{user.uid}\t{user.home}\n")
        for name, _ in user.groups:
            sys.stdout.write(f"member\t{user.name}\t{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
