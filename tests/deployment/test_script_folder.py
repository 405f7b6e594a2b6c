"""Folders of scripts that a file names are read when the file is."""

import json
import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.lifecycle import bundle
from cdk_trainyard.node_scripts import scripts_folder
from stacks import build_stacks
from tests.deployment.good_file import edited, problems_of

SCRIPT = b"#!/bin/bash\necho done >>/var/log/provision/provisioning.log\n"
NAMES = "must name groups of this file in provisioning_parameters.json"
READER = {"shared_users.py": (scripts_folder() / "hyperpod/shared_users.py").read_bytes()}
OWN = ("cluster:\n", "cluster:\n  lifecycle: {on_create: own.sh, folder: own}\n")


@pytest.mark.parametrize(
    ("files", "place", "says"),
    [
        (
            {"own.sh": SCRIPT.replace(b"\n", b"\r\n")},
            "10:42: 'cluster.lifecycle.folder'",
            "must hold LF line ends only, got CR LF at own.sh:1",
        ),
        ({"own.sh": b"echo hello\n"}, "10:26: 'cluster.lifecycle.on_create'", "must begin with '#!'"),
        ({"own2.sh": SCRIPT}, "10:26: 'cluster.lifecycle.on_create'", "must be a file at the top of the folder"),
        (
            {"own.sh": SCRIPT, "provisioning_parameters.json": b"{}"},
            "10:42: 'cluster.lifecycle.folder'",
            "must not hold provisioning_parameters.json when 'topology' is api",
        ),
        (
            READER | {"own.sh": SCRIPT, "shared_users.txt": b"ada,1001,/fsx/ada\nroot,0,/root\n"},
            "10:42: 'cluster.lifecycle.folder'",
            "shared_users.txt:2: uid must be a number from 1001 to 2147483646, not 65534 or 65535, got '0'",
        ),
        (
            READER | {"own.sh": SCRIPT, "shared_users.txt": b"ada,1001,/fsx/ada\nbob,1002,/fsx/ubuntu\n"},
            "10:42: 'cluster.lifecycle.folder'",
            "shared_users.txt: home of 'bob' must not be the file system /fsx, around it, or the home of 'ubuntu'",
        ),
        (
            READER | {"own.sh": SCRIPT, "shared_users.txt": b"ada,1001,/fsx\n"},
            "10:42: 'cluster.lifecycle.folder'",
            "shared_users.txt: home of 'ada' must not be the file system /fsx",
        ),
        (
            READER | {"own.sh": SCRIPT, "shared_users.txt": b"\xef\xbb\xbfada,1001,/fsx/ada\n"},
            "10:42: 'cluster.lifecycle.folder'",
            "must hold users without a byte order mark, got one at shared_users.txt:1; save it without",
        ),
        (None, "10:42: 'cluster.lifecycle.folder'", "must be an existing folder beside this file, got 'own'"),
    ],
)
def test_what_is_wrong_in_a_folder_is_said_where_it_is_named(
    files: dict[str, bytes] | None, place: str, says: str, write: Callable[[str], Path]
) -> None:
    path = write(edited(OWN))
    write_folder(path.parent / "own", files)
    assert [problem for problem in problems_of(path) if problem.startswith(f"{place} {says}")]


@pytest.mark.parametrize("reader", [{}, {"shared_users.py": b"#!/usr/bin/env python3\n"}])
@pytest.mark.parametrize("users", [b"", b"Ada.L,500,/fsx\nubuntu,1000,/fsx/ubuntu\n"])
def test_users_that_another_reader_reads_are_not_judged(
    reader: dict[str, bytes], users: bytes, write: Callable[[str], Path]
) -> None:
    path = write(edited(OWN))
    write_folder(path.parent / "own", reader | {"own.sh": SCRIPT, "shared_users.txt": users})
    assert problems_of(path) == []


def test_a_copy_of_the_projects_scripts_has_their_library_and_gets_settings(write: Callable[[str], Path]) -> None:
    path = write(edited((OWN[0], OWN[1].replace("own.sh", "on_create.sh"))))
    shutil.copytree(scripts_folder() / "hyperpod", path.parent / "own")
    assert problems_of(path) == [
        "10:48: 'cluster.lifecycle.folder' must hold lib/steps.sh, with which 'on_create.sh' runs its steps, got none; copy the folder lib of the project's own scripts into it"  # noqa: E501
    ]
    shutil.copytree(scripts_folder() / "lib", path.parent / "own/lib")
    assert problems_of(path) == []
    training = build_stacks(App(outdir=str(path.parent / "out")), Deployment.load(path))[-1]
    (upload,) = Template.from_stack(training).find_resources("Custom::CDKBucketDeployment").values()
    assert len(upload["Properties"]["SourceObjectKeys"]) == 2  # the folder, and settings.json


def test_a_folder_that_only_names_the_library_is_no_copy(write: Callable[[str], Path]) -> None:
    path = write(edited(OWN))
    own = b"#!/bin/bash\n# shellcheck source=lib/steps.sh\nsource ./mylib/steps.sh\n"
    steps = {"mylib/steps.sh": SCRIPT, "steps/network.sh": b"#!/bin/bash\n# no settings.json here\n"}
    write_folder(path.parent / "own", {"own.sh": own, **steps})
    assert problems_of(path) == []


def test_a_legacy_topology_wants_its_file(write: Callable[[str], Path]) -> None:
    path = write(edited((OWN[0], f"{OWN[1]}  topology: legacy\n")))
    write_folder(path.parent / "own", {"own.sh": SCRIPT})
    assert problems_of(path) == [
        "10:42: 'cluster.lifecycle.folder' must hold provisioning_parameters.json at its top when 'topology' of the cluster is legacy"  # noqa: E501
    ]


GOOD_LEGACY: dict[str, object] = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "head",
    "worker_groups": [{"instance_group_name": "workers", "partition_name": "ml.trn1"}],
}
NAME = "a name of letters, digits, '.', '_' and '-' other than DEFAULT"
IN_FILE = "in provisioning_parameters.json, got"


def legacy(**changes: object) -> bytes:
    return json.dumps({name: value for name, value in (GOOD_LEGACY | changes).items() if value is not None}).encode()


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (
            b'{\n"a" 1}',
            ["must hold provisioning_parameters.json as JSON, got something else at provisioning_parameters.json:2:5"],
        ),
        (b"\xff", ["must hold provisioning_parameters.json as JSON in UTF-8, got something else"]),
        (
            b"\xef\xbb\xbf" + legacy(),
            ["must hold provisioning_parameters.json without a byte order mark, got one; save it without"],
        ),
        (b"[]", ["must hold provisioning_parameters.json with one object in it, got []"]),
        (
            legacy(controller_group="heat"),
            [
                f"{NAMES}, got 'heat' as its controller_group; did you mean 'head'?",
            ],
        ),
        (legacy(version=None), [f"must hold 'version' '1.0.0' {IN_FILE} nothing"]),
        (legacy(version="2"), [f"must hold 'version' '1.0.0' {IN_FILE} '2'"]),
        (legacy(workload_manager="pbs"), [f"must hold 'workload_manager' 'slurm' {IN_FILE} 'pbs'"]),
        (
            legacy(controller_group="workers"),
            [
                f"must name a controller group as controller_group {IN_FILE} 'workers', whose role is compute",
            ],
        ),
        (
            legacy(login_group="workers"),
            [f"must name a login group as login_group {IN_FILE} 'workers', whose role is compute"],
        ),
        (
            legacy(worker_groups=[]),
            [
                f"must hold a list of one group or more as 'worker_groups' {IN_FILE} another",
            ],
        ),
        (
            legacy(worker_groups=None, workers_groups=GOOD_LEGACY["worker_groups"]),
            [
                f"must hold 'worker_groups' {IN_FILE} none; rename 'workers_groups'",
            ],
        ),
        *(
            (
                legacy(worker_groups=[{"instance_group_name": "workers", "partition_name": name}]),
                [f"must hold {NAME}, as worker_groups[0].partition_name {IN_FILE} '{name}'"],
            )
            for name in ("a b", "DEFAULT", "default")
        ),
        (legacy(worker_groups=[{"instance_group_name": "workers", "partition_name": "default-2"}]), []),
        (
            legacy(worker_groups=[1]),
            [
                f"must hold {NAME}, as worker_groups[0].partition_name {IN_FILE} nothing",
                f"{NAMES}, got nothing as its worker_groups[0].instance_group_name",
            ],
        ),
        (legacy(), []),
        (legacy(login_group="my-login-group"), []),  # as AWS's examples have it
        (legacy(own_key=[1], fsx_dns_name="x"), []),
    ],
)
def test_a_legacy_file_is_read(content: bytes, texts: list[str], write: Callable[[str], Path]) -> None:
    path = write(edited((OWN[0], f"{OWN[1]}  topology: legacy\n")))
    write_folder(path.parent / "own", {"own.sh": SCRIPT, "provisioning_parameters.json": content})
    assert sorted(problems_of(path)) == sorted(f"10:42: 'cluster.lifecycle.folder' {text}" for text in texts)


def test_a_partition_is_said_where_it_counts(write: Callable[[str], Path]) -> None:
    count = "      count: 4\n"
    path = write(edited((OWN[0], f"{OWN[1]}  topology: legacy\n"), (count, f"{count}      partition: other\n")))
    write_folder(path.parent / "own", {"own.sh": SCRIPT, "provisioning_parameters.json": legacy()})
    assert problems_of(path) == [
        "21:18: 'cluster.groups.workers.partition' must be 'ml.trn1', as provisioning_parameters.json in the folder says, got 'other'; leave it out"  # noqa: E501
    ]


def test_a_compute_group_may_be_left_out_of_the_legacy_file_but_no_controller(write: Callable[[str], Path]) -> None:
    more = "    more: {role: compute, instance_type: ml.m5.large, count: 1}\n"
    path = write(edited((OWN[0], f"{OWN[1]}  topology: legacy\n"), ("  groups:\n", f"  groups:\n{more}")))
    write_folder(path.parent / "own", {"own.sh": SCRIPT, "provisioning_parameters.json": legacy()})
    assert problems_of(path) == []
    write_folder(path.parent / "own", {"provisioning_parameters.json": legacy(controller_group=None)})
    assert problems_of(path) == [f"10:42: 'cluster.lifecycle.folder' must hold 'controller_group' {IN_FILE} none"]


def test_a_login_group_has_its_name_in_the_legacy_file_or_is_left_out(write: Callable[[str], Path]) -> None:
    door = "    door: {role: login, instance_type: ml.m5.large, count: 1}\n"
    path = write(edited((OWN[0], f"{OWN[1]}  topology: legacy\n"), ("  groups:\n", f"  groups:\n{door}")))
    for said in ({}, {"login_group": "door"}):
        write_folder(path.parent / "own", {"own.sh": SCRIPT, "provisioning_parameters.json": legacy(**said)})
        assert problems_of(path) == []
    write_folder(path.parent / "own", {"own.sh": SCRIPT, "provisioning_parameters.json": legacy(login_group="dor")})
    assert problems_of(path) == [
        f"10:42: 'cluster.lifecycle.folder' {NAMES}, got 'dor' as its login_group; did you mean 'door'?",
    ]


def test_a_huge_file_is_refused_unread(write: Callable[[str], Path]) -> None:
    path = write(edited(OWN))
    write_folder(path.parent / "own", {"own.sh": SCRIPT})
    with (path.parent / "own/data.bin").open("wb") as stream:
        stream.truncate(8 * 2**30)  # it takes no room on the disk, and all of the memory when it is read
    assert [problem.partition("; ")[0] for problem in problems_of(path)] == [
        "10:42: 'cluster.lifecycle.folder' must hold at most 64 MiB, got 8192.0 MiB",
        "10:42: 'cluster.lifecycle.folder' must hold files of at most 8 MiB, got data.bin with 8192.0 MiB",
    ]


def test_what_is_no_file_or_has_no_text_for_a_name_is_refused(write: Callable[[str], Path]) -> None:
    path = write(edited(OWN))
    own = path.parent / "own"
    write_folder(own, {"own.sh": SCRIPT})
    os.mkfifo(own / "pipe")
    (own / os.fsdecode(b"caf\xe9.sh")).write_bytes(SCRIPT)
    (own / "two\nlines.sh").write_bytes(SCRIPT)
    assert [problem.rpartition(", got ")[2].partition(":")[0] for problem in problems_of(path)] == [
        "pipe",
        r"'caf\udce9.sh'",
        r"'two\nlines.sh'",
    ]


def test_a_folder_that_is_none_of_scripts_is_not_walked_to_its_end(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "MOST_FILES", 3)
    path = write(edited(OWN))
    write_folder(path.parent / "own", dict.fromkeys(("own.sh", "a", "b", "c"), SCRIPT))
    assert problems_of(path) == [
        "10:42: 'cluster.lifecycle.folder' must hold at most 10000 files, got more; is it a folder of scripts?"
    ]


def test_a_folder_of_other_programs_is_not_read(write: Callable[[str], Path]) -> None:
    path = write(edited(OWN))
    write_folder(path.parent / "own", {"key.pem": b"", "lib/crlf.sh": b"#!/bin/sh\r\n"})
    assert problems_of(path) == ["10:42: 'cluster.lifecycle.folder' must have 'own.sh' at its top, got 'own' without"]


@pytest.mark.parametrize("folder", ["/", "/etc", "/etc/../usr", "HOME", "link", "/home"])
def test_a_folder_of_the_system_is_refused_in_one_line(
    folder: str, write: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for name in ("me", "team"):
        write_folder(tmp_path / name, {"own.sh": SCRIPT})
    (tmp_path / "link").symlink_to("/etc")
    said = folder.replace("HOME", str(tmp_path / "me"))
    path = write(edited((OWN[0], OWN[1].replace("folder: own", f"folder: {said}"))))
    (problem,) = problems_of(path)
    assert problem.startswith("10:42: 'cluster.lifecycle.folder' must be a folder of scripts alone, got /")
    assert problem.endswith(", which holds the system or a home")


def test_a_folder_is_read_where_the_system_knows_no_home(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(edited(OWN))
    write_folder(path.parent / "own", {"own.sh": SCRIPT})
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert problems_of(path) == []


def test_a_folder_in_a_home_is_read(
    write: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write(edited(OWN))
    write_folder(path.parent / "own", {"own.sh": SCRIPT})
    assert problems_of(path) == []


def test_what_is_wrong_with_hundreds_of_files_is_told_of_some(write: Callable[[str], Path]) -> None:
    path = write(edited(OWN))
    write_folder(path.parent / "own", {"own.sh": SCRIPT} | {f"{number}.pem": b"" for number in range(300)})
    found = problems_of(path)
    assert len(found) == 21
    assert found[0].endswith("must be a folder of scripts alone, got 300 faults in its files, of which 20 are told"), (
        found
    )


def write_folder(folder: Path, files: dict[str, bytes] | None) -> None:
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o755 if content.startswith(b"#!") else 0o644)
