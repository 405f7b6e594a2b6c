"""Bad input that only constructs can see: the table, for whoever synthesizes.

Each row is an edit of the good file (and files beside it) that loads, and what is said when its stacks are built.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.deployment.good_file import Edit, edited

SCRIPT = b"#!/bin/bash\necho done >>/var/log/provision/provisioning.log\n"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One deployment that loads and cannot be built.

    Attributes:
        name: Its name.
        edits: Edits of the good file.
        place: Line and column of the problem.
        says: Parts of the message, in order.
        files: Files beside the deployment file; those that begin with ``#!`` are executable.
    """

    name: str
    edits: tuple[Edit, ...]
    place: str
    says: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the deployment file and what stands beside it."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if content.startswith(b"#!") else 0o644)
        path = folder / "x.yaml"
        path.write_text(edited(*self.edits), encoding="utf-8")
        return path


def cluster(text: str) -> tuple[Edit, ...]:
    return (("cluster:\n", f"cluster:\n  {text}\n"),)


def network(text: str) -> tuple[Edit, ...]:
    return (("zone: use1-az4\n", f"zone: use1-az4\n  {text}\n"),)


def lustre(text: str) -> tuple[Edit, ...]:
    return (("1200\n", f"1200\n    {text}\n"),)


ROWS = [
    Row(
        name="subnet-too-small",
        edits=network("cidr: 10.1.0.0/24\n  accelerator_cidr: 10.1.0.128/27"),
        place="6:21",
        says=("'accelerator_cidr' must hold 51 addresses", "workers 4 x trn1.32xlarge x 8 = 32", "use a /26 or larger"),
    ),
    Row(
        name="default-subnet-too-small",
        edits=(("count: 4\n", "count: 6000\n"),),
        place="3:1",
        says=("'accelerator_cidr' must hold 48019 addresses", "got 10.1.128.0/17", "use a /16 or larger"),
    ),
    Row(
        name="folder-missing",
        edits=cluster("lifecycle: {on_create: own.sh, folder: nothing}"),
        place="10:42",
        says=("'folder' must be an existing folder", "nothing'"),
    ),
    Row(
        name="script-missing-in-own-folder",
        edits=cluster("lifecycle: {on_create: own.sh, folder: own}"),
        files={"own/other.sh": SCRIPT},
        place="10:26",
        says=("the script must be a file at the top of the folder", "got 'own.sh'"),
    ),
    Row(
        name="script-missing-in-the-project's-folder",
        edits=cluster("lifecycle: {on_create: on_craete.sh}"),
        place="10:26",
        says=("the script must be a file at the top of the folder", "got 'on_craete.sh'"),
    ),
    Row(
        name="script-in-a-directory",
        edits=cluster("lifecycle: {on_create: lib/own.sh}"),
        place="10:26",
        says=("must be the name of a file at the", "got 'lib/own.sh'"),
    ),
    Row(
        name="script-with-crlf",
        edits=cluster("lifecycle: {on_create: own.sh, folder: own}"),
        files={"own/own.sh": SCRIPT.replace(b"\n", b"\r\n")},
        place="10:42",
        says=("'folder' must hold LF line ends only, got CR LF at own.sh:1",),
    ),
    Row(
        name="script-without-interpreter",
        edits=cluster("lifecycle: {on_create: own.sh, folder: own}"),
        files={"own/own.sh": b"echo hello\n"},
        place="10:26",
        says=("the script must",),
    ),
    Row(
        name="legacy-file-beside-slurm-config",
        edits=cluster("lifecycle: {on_create: own.sh, folder: own}"),
        files={"own/own.sh": SCRIPT, "own/provisioning_parameters.json": b"{}"},
        place="10:42",
        says=("'folder' must not hold provisioning_parameters.json", "'topology' is api", "set 'topology' to legacy"),
    ),
    Row(
        name="two-file-systems-at-one-path",
        edits=(("1200\n", "1200\n  open_zfs: {dns_name: fs-12345678.fsx.us-east-1.amazonaws.com, at: /fsx}\n"),),
        place="12:5",
        says=("'mounts' of group 'head' must be at different paths, got /fsx, /fsx",),
    ),
    Row(
        name="accounting-without-zones",
        edits=cluster("provisioning: Continuous\n  accounting: {}"),
        place="3:1",
        says=("'network' must have", "in at least 2 zones", "give a new network its 'service_zones'"),
    ),
    Row(
        name="accounting-without-continuous",
        edits=(*cluster("accounting: {}"), *network("service_zones: [use1-az1, use1-az2]")),
        place="11:3",
        says=("'accounting' needs 'provisioning' Continuous",),
    ),
    Row(
        name="accounting-with-one-role-for-all",
        edits=(
            *cluster("provisioning: Continuous\n  accounting: {}\n  role_arn: arn:aws:iam::111111111111:role/nodes"),
            *network("service_zones: [use1-az1, use1-az2]"),
        ),
        place="10:1",
        says=("'controller_role_arn' must be given beside a role of yours", "every node could read its password"),
    ),
    Row(
        name="accounting-schema-and-backups",
        edits=(
            *cluster("provisioning: Continuous\n  accounting: {schema_name: a-b}"),
            *network("service_zones: [use1-az1, use1-az2]"),
        ),
        place="12:29",
        says=("'schema_name' must be 1 to 64 letters", "got 'a-b'"),
    ),
]
