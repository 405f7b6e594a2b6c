"""What a folder of lifecycle scripts must be before it is uploaded: a fault costs twenty minutes of every node else."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.lifecycle.bundle import (
    BUNDLE_BYTES,
    FILE_BYTES,
    MOST_FILES,
    Bundle,
    BundleFile,
    content_of,
    is_there,
)
from cdk_trainyard.lifecycle.rules_setup import Nodes, setup_problems
from cdk_trainyard.lifecycle.settings import LEGACY_FILE, SETTINGS_FILE, USERS_FILE, NodeGroup, NodeSettings
from cdk_trainyard.lifecycle.spec import GroupRole, SlurmTopology
from cdk_trainyard.node_scripts import node_module, scripts_folder
from cdk_trainyard.options.secrets import secrets_in
from cdk_trainyard.places import home
from cdk_trainyard.problems import At, Problem, option, shown, within
from cdk_trainyard.tokens import unresolved

_ENTRY_LENGTH = 128  # OnCreate and OnInitComplete of the SageMaker API
_MIB = 2**20
_MOST_PROBLEMS = 20
"""Faults of files that are told one by one."""
_SYSTEM_FOLDERS = frozenset(
    ("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys", "/usr")
) | {"/usr/bin", "/usr/lib", "/usr/lib64", "/usr/sbin", "/usr/share", "/var"}
"""Filesystem Hierarchy Standard 3.0; the folders in them may hold scripts."""
_FILE_MIB, _BUNDLE_MIB = FILE_BYTES // _MIB, BUNDLE_BYTES // _MIB
_SECRET_NAMES = (
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", ".env", ".env.*",
    ".netrc", ".pgpass", ".pypirc", ".npmrc", ".git-credentials", "credentials",
)  # fmt: skip
_ANY_LINE_ENDS = (
    *("*.json", "*.csv", "*.xml", "*.svg", "*.md", "*.rst", "*.htm", "*.html", "*.css"),
    *("*.bat", "*.cmd", "*.ps1"),
)
"""What takes CR LF: JSON (RFC 8259, section 2), CSV (RFC 4180), what people and browsers read, what Windows runs."""
_SAMPLE_NAMES = ("*.example", "*.sample", "*.template", "*.dist")
_PUBLIC = re.compile(rb"-----BEGIN ((TRUSTED )?CERTIFICATE( REQUEST)?|X509 CRL|DH PARAMETERS|[A-Z0-9 ]*PUBLIC KEY)")
"""RFC 7468, sections 5 to 7 and 13, and what OpenSSL writes."""
_API_DRIVEN, _LEGACY = (topology.value for topology in SlurmTopology)
_USERS_READER = "shared_users.py"
_SETTINGS_READER = "steps/network.sh"
_LIBRARY = "lib/steps.sh"
_TAKES_LIBRARY = re.compile(rb"^[ \t]*(source|\.) \"?(\$\{?here\}?/|\./)?" + re.escape(_LIBRARY.encode()), re.MULTILINE)
_READS_SETTINGS = re.compile(rb"^[^#\n]*" + re.escape(SETTINGS_FILE.encode()), re.MULTILINE)
_FOLDER, _USERS = ("folder",), ("users_file",)


def folder_problems(folder: Path) -> list[Problem]:
    """Check that the folder can be read at all, and is none of the system's or a home."""
    if not is_there(folder.is_dir):
        return [Problem(_FOLDER, f"must be an existing folder, got '{folder}'")]
    return [Problem(_FOLDER, text) for text in system_folder_texts(folder)]


def system_folder_texts(folder: Path) -> Iterator[str]:
    """Yield what is wrong with a folder that the system has, or that holds the home of whoever asks.

    Args:
        folder: A folder that exists.
    """
    real = folder.resolve()
    if str(real) in _SYSTEM_FOLDERS or home().resolve().is_relative_to(real):
        yield f"must be a folder of scripts alone, got {real}, which holds the system or a home"


def users_file_problems(users_file: Path | None, *, in_folder: bool) -> list[Problem]:
    """Check that the file of users can be read, and is the only one."""
    if users_file is None:
        return []
    if content_of(users_file) is None:
        return [Problem(_USERS, f"must be an existing file that can be read, got '{users_file}'")]
    if in_folder:
        text = f"must be left out when the folder holds {USERS_FILE}, got '{users_file}'; keep one of them"
        return [Problem(_USERS, text)]
    return []


def entry_problems(bundle: Bundle, entry: str, *, at: At = ("entry",)) -> list[Problem]:
    """Check a file that nodes execute.

    Args:
        bundle: The folder's files.
        entry: The file's name.
        at: The option that names it.
    """
    return [Problem(at, text) for text in _entry_texts(bundle, entry)]


def _entry_texts(bundle: Bundle, entry: str) -> list[str]:
    if unresolved(entry):
        return ["must be known when the app is synthesized, got a Token; write the file's name"]
    if not entry or "/" in entry or "\\" in entry or len(entry) > _ENTRY_LENGTH:
        top = f"the name of a file at the top of the folder, of 1 to {_ENTRY_LENGTH} characters and without a path"
        return [f"must be {top}, got {shown(entry)}"]
    file = bundle.find(entry)
    if file is None:
        names = [name for name in bundle.names if "/" not in name]
        return [f"must be a file at the top of the folder, got {shown(entry)}{did_you_mean(entry, names)}"]
    return _interpreter_problems(file)


def content_problems(bundle: Bundle) -> list[Problem]:
    """Check every file: line ends, sizes, links, secrets."""
    problems = [
        (
            f"must hold files of its own, got {name}: a link out of the folder, to nothing or to a folder, "
            "a special file, or one that you may not read; copy in what it stands for"
        )
        for name in bundle.unreadable
    ]
    problems += [f"must hold files with names in UTF-8 and one line, got '{name}'" for name in bundle.misnamed]
    if bundle.too_many:
        return [Problem(_FOLDER, f"must hold at most {MOST_FILES} files, got more; is it a folder of scripts?")]
    for file in bundle.files:
        problems += _line_end_problems(file) + _size_problems(file) + _secret_problems(file)
    total = sum(_bytes(file) for file in bundle.files) / _MIB
    if total > _BUNDLE_MIB:
        problems.append(f"must hold at most {_BUNDLE_MIB} MiB, got {total:.1f} MiB; every node downloads it")
    if len(problems) > _MOST_PROBLEMS:
        got = f"got {len(problems)} faults in its files, of which {_MOST_PROBLEMS} are told"
        problems[_MOST_PROBLEMS:] = [f"must be a folder of scripts alone, {got}"]
    return [Problem(_FOLDER, text) for text in problems]


def topology_problems(
    bundle: Bundle, topology: SlurmTopology, legacy_topology: Mapping[str, object] | None
) -> list[Problem]:
    """Check that the legacy file is there exactly when the topology is legacy."""
    found = [name for name in bundle.names if PurePosixPath(name).name == LEGACY_FILE]
    legacy, of_topology = ("legacy_topology",), option("topology")
    if topology is SlurmTopology.API_DRIVEN:
        why = f"when {of_topology} is {_API_DRIVEN}: HyperPod refuses both together"
        remedy = f"remove the file, or set {of_topology} to {_LEGACY}"
        problems = [Problem(_FOLDER, f"must not hold {LEGACY_FILE} {why}, got {name}; {remedy}") for name in found]
        if legacy_topology is not None:
            text = f"must be left out when {of_topology} is {_API_DRIVEN}; remove one of them"
            problems.append(Problem(legacy, text))
        return problems
    if LEGACY_FILE in found and legacy_topology is not None:
        return [Problem(legacy, f"must be left out when the folder holds {LEGACY_FILE}; keep one of them")]
    if LEGACY_FILE not in found and legacy_topology is None:
        text = f"must be given when {of_topology} is {_LEGACY}, or the folder must hold {LEGACY_FILE} at its top"
        return [Problem(legacy, f"{text}; got neither")]
    return []


def lacks_settings(bundle: Bundle, entry: str) -> bool:
    """Return whether a file runs the project's own steps, where they are or copied, without the settings they read.

    Args:
        bundle: The folder's files.
        entry: The file's name.
    """
    return _runs_steps(bundle, entry) and bundle.find(SETTINGS_FILE) is None


def library_problems(bundle: Bundle, entry: str, *, at: At = _FOLDER) -> Iterator[Problem]:
    """Check that a copy of the project's own steps has their library, which lies beside them in the project.

    Args:
        bundle: The folder's files.
        entry: A file that nodes execute.
        at: The option that names the folder.
    """
    if _runs_steps(bundle, entry) and bundle.find(_LIBRARY) is None:
        remedy = "copy the folder lib of the project's own scripts into it"
        yield Problem(at, f"must hold {_LIBRARY}, with which {shown(entry)} runs its steps, got none; {remedy}")


def _runs_steps(bundle: Bundle, entry: str) -> bool:
    parts = ((bundle.find(entry), _TAKES_LIBRARY), (bundle.find(_SETTINGS_READER), _READS_SETTINGS))
    return all(part is not None and pattern.search(part.data) for part, pattern in parts)


def settings_problems(bundle: Bundle, settings: NodeSettings | None, *, entry: str) -> Iterator[Problem]:
    """Check the settings, and that they are there when the project's own scripts will ask for them."""
    at = ("settings",)
    if settings is None:
        if lacks_settings(bundle, entry):
            why = "they learn the role of each group from them"
            yield Problem(at, f"must be given with the project's own scripts: {why}")
        return
    yield from within(at, node_group_problems(settings.groups))
    mounts = [mount.mount_path for mount in (settings.lustre, settings.openzfs) if mount]
    if len(set(mounts)) < len(mounts):
        text = f"must differ from {option('mount_path')} of {option('lustre')}, got {shown(mounts[0])} twice"
        yield Problem((*at, "openzfs", "mount_path"), text)
    first, last = (mounts[0], mounts[-1]) if mounts else (None, None)
    home = settings.home or (last and f"{last}/ubuntu")
    nodes = Nodes(groups=settings.groups, mounts=mounts, shared=first, home=home)
    yield from within((*at, "setup"), setup_problems(settings.setup, nodes))
    if bundle.find(SETTINGS_FILE):
        yield Problem(at, f"must be left out when the folder holds {SETTINGS_FILE}; keep one of them")


def node_group_problems(groups: Sequence[NodeGroup]) -> Iterator[Problem]:
    """Check that groups have names of their own, one of them controls, and each has instance types."""
    names = [group.name for group in groups]
    for index, group in enumerate(groups):
        at = ("groups", index)
        if not unresolved(group.name) and group.name in names[:index]:
            yield Problem((*at, "name"), f"must be a name of its own, got {shown(group.name)} again")
        if not group.instance_types:
            yield Problem((*at, "instance_types"), "must hold at least one type, got none")
    if not any(group.role == GroupRole.CONTROLLER for group in groups):
        roles = sorted({str(group.role) for group in groups})
        yield Problem(("groups",), f"must have one of the role controller, got {', '.join(roles) or 'no group'}")


def users_problems(bundle: Bundle, *, at: At, mounts: Sequence[str] = ()) -> list[Problem]:
    """Check the file of users, line by line, with the reader that the nodes use.

    AWS's own scripts have a file of this name and form too, and other rules (``add_users.sh`` of
    awsome-distributed-training, read 2026-11): what another reader reads is held to what no reader can mend, numbers
    that are root's, or two users'.

    Args:
        bundle: The folder's files.
        at: The option that the file came with.
        mounts: Paths at which nodes mount shared file systems.
    """
    file, reader = bundle.find(USERS_FILE), bundle.find(_USERS_READER)
    if file is None:
        return []
    if reader is None or reader.data != (scripts_folder() / "hyperpod" / _USERS_READER).read_bytes():
        return [Problem(at, text) for text in _number_texts(file.data.decode(errors="replace"))]
    if file.data.startswith(BOM_UTF8):
        return [Problem(at, f"must hold users without a byte order mark, got one at {USERS_FILE}:1; save it without")]
    try:
        text = file.data.decode()
    except UnicodeDecodeError as error:
        where = f"{USERS_FILE}:{_line_of(file.data, error.start)}"
        return [Problem(at, f"must hold users in UTF-8, got something else at {where}")]
    listing = node_module(PurePosixPath(_USERS_READER).stem).read(text)
    found = [f"{USERS_FILE}:{line}: {sentence}" for line, sentence in listing.problems]
    return [Problem(at, sentence) for sentence in (*found, *_home_texts(listing.users, mounts))]


def _number_texts(text: str) -> Iterator[str]:
    """Yield which numbers of users cannot be theirs, where lines have the form ``name,number``."""
    first: dict[int, tuple[str, int]] = {}
    for line, said in enumerate(text.splitlines(), start=1):
        found = re.match(r"\s*([^\s,#]+)\s*,\s*([0-9]{1,10})\s*(?:,|$)", said)
        if found is None:
            continue
        name, number = found[1], int(found[2])
        owner, before = first.setdefault(number, (name, line))
        if number == 0 and name != "root":
            yield f"{USERS_FILE}:{line}: must have another number than 0, which is root's, got {shown(name)}"
        elif owner != name:
            yield f"{USERS_FILE}:{line}: number {number} belongs to {shown(owner)} on line {before}, got {shown(name)}"


def _home_texts(users: Sequence[Any], mounts: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with homes on shared file systems, on which ``ubuntu`` has one too."""
    for user in users:
        for mount in mounts:
            if not unresolved(mount) and (f"{mount}/".startswith(f"{user.home}/") or user.home == f"{mount}/ubuntu"):
                taken = f"must not be the file system {mount}, around it, or the home of 'ubuntu' on it"
                yield f"{USERS_FILE}: home of '{user.name}' {taken}, got '{user.home}'"


def _interpreter_problems(file: BundleFile) -> list[str]:
    if re.match(rb"#![ \t]*/", file.data):
        return []
    first = file.data.split(b"\n", 1)[0][:40].decode(errors="replace").strip()
    got = "a byte order mark first; save it without" if first.startswith("\ufeff") else f"{first!r}"
    return [f"must begin with '#!' and the path of an interpreter, as '#!/bin/bash', at {file.name}:1, got {got}"]


def _line_end_problems(file: BundleFile) -> list[str]:
    if not file.is_text or b"\r" not in file.data or _is_named(file, _ANY_LINE_ENDS, lower=True):
        return []
    lines = [number for number, line in enumerate(file.data.split(b"\n"), start=1) if line.endswith(b"\r")]
    if not lines:
        return []
    more = f" ({len(lines)} lines in all)" if len(lines) > 1 else ""
    return [f"must hold LF line ends only, got CR LF at {file.name}:{lines[0]}{more}; convert it with dos2unix"]


def _bytes(file: BundleFile) -> int:
    return len(file.data) + file.unread


def _size_problems(file: BundleFile) -> list[str]:
    size = _bytes(file) / _MIB
    if size <= _FILE_MIB:
        return []
    return [
        (
            f"must hold files of at most {_FILE_MIB} MiB, got {file.name} with {size:.1f} MiB; "
            "keep data in a bucket of its own and fetch it in a script"
        )
    ]


def _secret_problems(file: BundleFile) -> list[str]:
    got = [f"{what} at {file.name}:{_line_of(file.data, start)}" for what, start in secrets_in(file.data)]
    if not got and _has_secret_name(file):
        got = [f"{file.name}, whose name is one of keys or passwords"]
    return [
        (
            f"must not hold secrets: everybody who reads the bucket reads them, got {found}; "
            "let the script fetch it from AWS Secrets Manager"
        )
        for found in got
    ]


def _has_secret_name(file: BundleFile) -> bool:
    # a .pem of certificates or public keys alone is as public as they are
    return _is_named(file, _SECRET_NAMES) and not _is_named(file, _SAMPLE_NAMES) and not _PUBLIC.search(file.data)


def _is_named(file: BundleFile, patterns: Sequence[str], *, lower: bool = False) -> bool:
    name = PurePosixPath(file.name).name
    return any(fnmatchcase(name.lower() if lower else name, pattern) for pattern in patterns)


def _line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
