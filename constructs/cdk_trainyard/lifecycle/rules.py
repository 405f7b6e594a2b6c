"""What a folder of lifecycle scripts must be before it is uploaded: a fault costs twenty minutes of every node else."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from cdk_trainyard.errors import ConfigurationError, did_you_mean
from cdk_trainyard.lifecycle.bundle import Bundle, BundleFile
from cdk_trainyard.lifecycle.rules_extras import extras_problems
from cdk_trainyard.lifecycle.rules_setup import setup_problems
from cdk_trainyard.lifecycle.settings import (
    LEGACY_FILE,
    SETTINGS_FILE,
    USERS_FILE,
    GroupRole,
    NodeGroup,
    NodeSettings,
    SlurmTopology,
    find_type,
)
from cdk_trainyard.tokens import unresolved

UsersReader = Callable[[str], Any]
"""Reads a file of users as the nodes do: ``read`` of ``lifecycle_scripts/hyperpod/shared_users.py``."""

_ENTRY_LENGTH = 128  # OnCreate and OnInitComplete of the SageMaker API
_MIB = 2**20
_FILE_MIB = 8  # what the AWS CLI puts into S3 in one part; every node downloads it at every start
_BUNDLE_MIB = 64
_SECRET_NAMES = (
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", ".env", ".env.*",
    ".netrc", ".pgpass", ".pypirc", ".npmrc", ".git-credentials", "credentials",
)  # fmt: skip
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_CERTIFICATE = re.compile(rb"-----BEGIN (TRUSTED )?CERTIFICATE-----")
_ACCESS_KEY = re.compile(rb"\b(AKIA|ASIA)(?![A-Z0-9]*EXAMPLE)[A-Z0-9]{16}\b")
_SECRET_CONTENT = ((_PRIVATE_KEY, "a private key"), (_ACCESS_KEY, "an AWS access key"))
_API_DRIVEN, _LEGACY = "SlurmTopology.API_DRIVEN", "SlurmTopology.LEGACY"
_ABSOLUTE_PATH = re.compile(r"(/[^/\s]+)+")


def folder_problems(folder: Path) -> list[str]:
    """Check that the folder can be read at all."""
    if folder.is_dir():
        return []
    return [f"'folder' must be an existing folder, got '{folder}'"]


def users_file_problems(users_file: Path | None, *, in_folder: bool) -> list[str]:
    """Check that the file of users can be read, and is the only one."""
    if users_file is None:
        return []
    if not users_file.is_file():
        return [f"'users_file' must be an existing file, got '{users_file}'"]
    if in_folder:
        return [
            f"'users_file' must be left out when the folder holds {USERS_FILE}, got '{users_file}'; keep one of them"
        ]
    return []


def entry_problems(bundle: Bundle, entry: str) -> list[str]:
    """Check the file that HyperPod executes: R9 of the checks before deployment."""
    if unresolved(entry):
        return ["'entry' must be known when the app is synthesized, got a Token; write the file's name"]
    if not entry or "/" in entry or "\\" in entry or len(entry) > _ENTRY_LENGTH:
        return [
            (
                f"'entry' must be the name of a file at the top of the folder, of 1 to {_ENTRY_LENGTH} characters and "
                f"without a path, got {entry!r}"
            )
        ]
    file = bundle.find(entry)
    if file is None:
        top = [name for name in bundle.names if "/" not in name]
        return [f"'entry' must be a file at the top of the folder, got '{entry}'{did_you_mean(entry, top)}"]
    return _interpreter_problems(file) + _executable_problems(file)


def content_problems(bundle: Bundle) -> list[str]:
    """Check every file: line ends, sizes, links, secrets."""
    problems = [
        (
            f"'folder' must hold files of its own, got {name}: a link out of the folder, to nothing or to a folder, or "
            "a special file; copy in what it stands for"
        )
        for name in bundle.unreadable
    ]
    for file in bundle.files:
        problems += _line_end_problems(file) + _size_problems(file) + _secret_problems(file)
    total = sum(len(file.data) for file in bundle.files) / _MIB
    if total > _BUNDLE_MIB:
        problems.append(f"'folder' must hold at most {_BUNDLE_MIB} MiB, got {total:.1f} MiB; every node downloads it")
    return problems


def topology_problems(
    bundle: Bundle, topology: SlurmTopology, legacy_topology: Mapping[str, object] | None
) -> list[str]:
    """Check that the legacy file is there exactly when the topology is legacy: R5 of the checks before deployment."""
    found = [name for name in bundle.names if PurePosixPath(name).name == LEGACY_FILE]
    if topology is SlurmTopology.API_DRIVEN:
        problems = [
            (
                f"'folder' must not hold {LEGACY_FILE} when 'topology' is {_API_DRIVEN}: HyperPod refuses both "
                f"together, got {name}; remove the file, or set 'topology' to {_LEGACY}"
            )
            for name in found
        ]
        if legacy_topology is not None:
            problems.append(f"'legacy_topology' must be left out when 'topology' is {_API_DRIVEN}; remove one of them")
        return problems
    if LEGACY_FILE in found and legacy_topology is not None:
        return [f"'legacy_topology' must be left out when the folder holds {LEGACY_FILE}; keep one of them"]
    if LEGACY_FILE not in found and legacy_topology is None:
        return [
            (
                f"'legacy_topology' must be given when 'topology' is {_LEGACY}, or the folder must hold {LEGACY_FILE} "
                "at its top; got neither"
            )
        ]
    return []


def settings_problems(bundle: Bundle, settings: NodeSettings | None, *, own_scripts: bool) -> list[str]:
    """Check the settings, and that they are there when the project's own scripts will ask for them."""
    if settings is None and own_scripts:
        return ["'settings' must be given with the project's own scripts: they learn the role of each group from them"]
    if settings is None:
        return []
    problems = [
        *_group_problems(settings.groups),
        *_path_problems("home", settings.home),
        *_mount_problems(settings),
        *setup_problems(settings.setup),
    ]
    if not any(_type_problems(group) for group in settings.groups):  # else what they have is not known
        problems += extras_problems(settings)
    if bundle.find(SETTINGS_FILE):
        problems.append(f"'settings' must be left out when the folder holds {SETTINGS_FILE}; keep one of them")
    return problems


def users_problems(bundle: Bundle, read: UsersReader) -> list[str]:
    """Check the file of users, line by line, with the reader that the nodes use."""
    file = bundle.find(USERS_FILE)
    if file is None:
        return []
    try:
        text = file.data.decode()
    except UnicodeDecodeError as error:
        return [f"'users_file' must be UTF-8, got something else at {USERS_FILE}:{_line_of(file.data, error.start)}"]
    return [f"'users_file' {USERS_FILE}:{line}: {sentence}" for line, sentence in read(text).problems]


def _interpreter_problems(file: BundleFile) -> list[str]:
    if file.data.startswith(b"#!"):
        return []
    first = file.data.split(b"\n", 1)[0][:40].decode(errors="replace").strip()
    got = "a byte order mark first; save it without" if first.startswith("\ufeff") else f"{first!r}"
    return [f"'entry' must begin with '#!' and an interpreter, as '#!/bin/bash', at {file.name}:1, got {got}"]


def _executable_problems(file: BundleFile) -> list[str]:
    if file.executable:
        return []
    return [f"'entry' must be executable, got '{file.name}' without; run chmod +x, or git update-index --chmod=+x"]


def _line_end_problems(file: BundleFile) -> list[str]:
    if not file.is_text or b"\r" not in file.data:
        return []
    lines = [number for number, line in enumerate(file.data.split(b"\n"), start=1) if line.endswith(b"\r")]
    if not lines:
        return []
    more = f" ({len(lines)} lines in all)" if len(lines) > 1 else ""
    return [
        f"'folder' must hold LF line ends only, got CR LF at {file.name}:{lines[0]}{more}; convert it with dos2unix"
    ]


def _size_problems(file: BundleFile) -> list[str]:
    size = len(file.data) / _MIB
    if size <= _FILE_MIB:
        return []
    return [
        (
            f"'folder' must hold files of at most {_FILE_MIB} MiB, got {file.name} with {size:.1f} MiB; "
            "keep data in a bucket of its own and fetch it in a script"
        )
    ]


def _secret_problems(file: BundleFile) -> list[str]:
    got = [
        f"{what} at {file.name}:{_line_of(file.data, match.start())}"
        for pattern, what in _SECRET_CONTENT
        if (match := pattern.search(file.data))
    ]
    if not got and _has_secret_name(file):
        got = [f"{file.name}, whose name is one of keys or passwords"]
    return [
        (
            f"'folder' must not hold secrets: everybody who reads the bucket reads them, got {found}; "
            "let the script fetch it from AWS Secrets Manager"
        )
        for found in got
    ]


def _has_secret_name(file: BundleFile) -> bool:
    name = PurePosixPath(file.name).name
    # a .pem of certificates alone is as public as they are
    return any(fnmatchcase(name, pattern) for pattern in _SECRET_NAMES) and not _CERTIFICATE.search(file.data)


def _group_problems(groups: Sequence[NodeGroup]) -> list[str]:
    names = [group.name for group in groups if not unresolved(group.name)]
    problems = [
        f"'groups' must have different names, got '{name}' {names.count(name)} times"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if not any(group.role == GroupRole.CONTROLLER for group in groups):
        roles = sorted({str(group.role) for group in groups})
        problems.append(f"'groups' must have one of the role controller, got {', '.join(roles) or 'no group'}")
    return problems + [sentence for group in groups for sentence in _type_problems(group)]


def _type_problems(group: NodeGroup) -> list[str]:
    if not group.instance_types:
        return [f"'instance_types' of the group '{group.name}' must hold at least one type, got none"]
    problems: list[str] = []
    for entry in group.instance_types:
        try:
            find_type(entry)
        except ConfigurationError as error:
            problems += error.problems
    return problems


def _mount_problems(settings: NodeSettings) -> list[str]:
    paths = [mount.mount_path for mount in (settings.lustre, settings.openzfs) if mount]
    problems = [problem for path in paths for problem in _path_problems("mount_path", path)]
    if len(set(paths)) < len(paths):
        problems.append(f"'mount_path' of 'lustre' and 'openzfs' must differ, got {paths[0]!r} twice")
    return problems


def _path_problems(keyword: str, path: str | None) -> list[str]:
    if path is None or unresolved(path) or _ABSOLUTE_PATH.fullmatch(path):
        return []
    return [f"'{keyword}' must be an absolute path without a slash at its end, got {path!r}"]


def _line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
