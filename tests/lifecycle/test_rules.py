"""What is refused before it is uploaded, with file and line."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack

from cdk_trainyard.lifecycle import GroupRole, NodeGroup, NodeLustre, NodeSettings, SlurmTopology, rules
from cdk_trainyard.lifecycle.bundle import Bundle, BundleFile, own_bundle
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.problems import sentence

NO_SECRETS = (
    "'folder' must not hold secrets: everybody who reads the bucket reads them, got {}; "
    "let the script fetch it from AWS Secrets Manager"
)
NO_FILE = "'entry' must be a file at the top of the folder, got '{}'"
NO_PATH = (
    "'entry' must be the name of a file at the top of the folder, of 1 to 128 characters and without a path, got '{}'"
)
NO_LARGE_FILES = (
    "'folder' must hold files of at most 8 MiB, got big with 8.5 MiB; "
    "keep data in a bucket of its own and fetch it in a script"
)
NOT_BOTH = (
    "'folder' must not hold provisioning_parameters.json when 'topology' is api: HyperPod refuses "
    "both together, got lib/provisioning_parameters.json; remove the file, or set 'topology' to legacy"
)
NOT_WITHOUT = (
    "'legacy_topology' must be given when 'topology' is legacy, or the folder must hold "
    "provisioning_parameters.json at its top; got neither"
)
API, LEGACY = SlurmTopology.API_DRIVEN, SlurmTopology.LEGACY
CONTROLLER = NodeGroup(name="head", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"])
# written in two halves, so that this file holds no key
KEY = b"-----BEGIN RSA " + b"PRIVATE KEY-----\n"
SECRET_KEY = b"aB3dE5gH7j" * 2 + b"K9mN1pQ4sT" * 2  # of nobody
LETTERS = b"aBcDeFgHiJkLmNoPqR" + b"sTuVwXyZaCeGiKmO"
READER = ("shared_users.py", (scripts_folder() / "hyperpod/shared_users.py").read_bytes())
ACCESS_KEY = b"AKIA" + b"ABCDEFGHIJKLMNOP"


class Asked:
    """The rules, what they find as sentences."""

    def __getattr__(self, name: str) -> Callable[..., list[str]]:
        return lambda *values, **more: [sentence(problem) for problem in getattr(rules, name)(*values, **more)]


ASKED = Asked()


def bundle_of(*files: tuple[str, bytes], executable: bool = True) -> Bundle:
    return Bundle(files=tuple(BundleFile(name=name, data=data, executable=executable) for name, data in files))


SOUND = bundle_of(("lib/a.sh", b"true\n"), ("on_create.sh", b"#!/bin/bash\n"))


def test_a_sound_folder_has_no_problem() -> None:
    assert ASKED.entry_problems(SOUND, "on_create.sh") == []
    assert ASKED.content_problems(SOUND) == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("on_craete.sh", NO_FILE.format("on_craete.sh") + "; did you mean 'on_create.sh'?"),
        ("a.sh", NO_FILE.format("a.sh")),
        *((entry, NO_PATH.format(entry)) for entry in ("lib/a.sh", "lib\\a.sh", "")),
        ("x" * 129, NO_PATH.format(f"{'x' * 99}…")),
    ],
)
def test_fails_for_an_entry_that_is_no_file_at_the_top(entry: str, problem: str) -> None:
    assert ASKED.entry_problems(SOUND, entry) == [problem]


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (b"set -e\n", "'set -e'"),
        (b"", "''"),
        (b"\n#!/bin/bash\n", "''"),
        (b"#!C:\\bash\n", r"'#!C:\\bash'"),
        (b"#!bash\n", "'#!bash'"),
        (b"#!\n", "'#!'"),
        (b"\xef\xbb\xbf#!/bin/bash\n", "a byte order mark first; save it without"),
    ],
)
def test_fails_for_an_entry_without_interpreter(data: bytes, got: str) -> None:
    assert ASKED.entry_problems(bundle_of(("e.sh", data)), "e.sh") == [
        f"'entry' must begin with '#!' and the path of an interpreter, as '#!/bin/bash', at e.sh:1, got {got}"
    ]


def test_modes_are_not_judged_as_they_do_not_reach_s3() -> None:
    assert ASKED.entry_problems(bundle_of(("e.sh", b"#!/bin/sh\n"), executable=False), "e.sh") == []


def test_fails_for_an_entry_that_is_a_token(stack: Stack) -> None:
    entry = CfnParameter(stack, "Entry").value_as_string
    assert ASKED.entry_problems(SOUND, entry) == [
        "'entry' must be known when the app is synthesized, got a Token; write the file's name"
    ]


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.sh", b"a\nb\r\n", "'folder' must hold LF line ends only, got CR LF at a.sh:2; convert it with dos2unix"),
        (
            "u.txt",
            b"a\r\nb\r\nc\r\n",
            "'folder' must hold LF line ends only, got CR LF at u.txt:1 (3 lines in all); convert it with dos2unix",
        ),
        ("a.sh", b"exit 0\r", "'folder' must hold LF line ends only, got CR LF at a.sh:1; convert it with dos2unix"),
        (
            "big",
            b"\0" * (8 * 2**20 + 2**19),
            NO_LARGE_FILES,
        ),
        ("a.sh", b"echo\n" + KEY, NO_SECRETS.format("a private key at a.sh:2")),
        ("a.sh", b"export AWS_ACCESS_KEY_ID=" + ACCESS_KEY, NO_SECRETS.format("an AWS access key at a.sh:1")),
        (
            "a.sh",
            b"\naws configure set aws_secret_access_key " + SECRET_KEY,
            NO_SECRETS.format("an AWS secret access key at a.sh:2"),
        ),
        (
            "a.py",
            b"os.environ['AWS_SECRET_ACCESS_KEY'] = '" + SECRET_KEY + b"'",
            NO_SECRETS.format("an AWS secret access key at a.py:1"),
        ),
        *(
            ("a.sh", b"export TOKEN=" + begin + SECRET_KEY.replace(b"/", b""), NO_SECRETS.format("a token at a.sh:1"))
            for begin in (b"hf_", b"ghp_", b"github_pat_", b"glpat-", b"xoxb-1", b"xapp-1-")
        ),
        ("a.sh", b"export TOKEN=hf_" + LETTERS, NO_SECRETS.format("a token at a.sh:1")),
        ("lib/id_rsa", b"x", NO_SECRETS.format("lib/id_rsa, whose name is one of keys or passwords")),
        (
            "tls.pem",
            b"-----BEGIN PUBLIC KEY-----\n-----BEGIN RSA PRIVATE KEY-----\n",
            NO_SECRETS.format("a private key at tls.pem:2"),
        ),
        ("tls.pem", b"x", NO_SECRETS.format("tls.pem, whose name is one of keys or passwords")),
        (".env", b"x", NO_SECRETS.format(".env, whose name is one of keys or passwords")),
        ("conf/.env.prod", b"x", NO_SECRETS.format("conf/.env.prod, whose name is one of keys or passwords")),
        ("munge.key", b"x", NO_SECRETS.format("munge.key, whose name is one of keys or passwords")),
        (".env.example", b"A=" + ACCESS_KEY, NO_SECRETS.format("an AWS access key at .env.example:1")),
        (".aws/credentials", b"x", NO_SECRETS.format(".aws/credentials, whose name is one of keys or passwords")),
    ],
)
def test_fails_for_a_file_that_must_not_be_there(name: str, data: bytes, problem: str) -> None:
    assert ASKED.content_problems(bundle_of((name, data))) == [problem]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("blob", b"\0\r\n"),
        ("a.sh", b"printf 'a\\r\\n'\n"),
        ("progress.sh", b"printf 'a\rb'\n"),
        ("ca.pem", b"-----BEGIN CERTIFICATE-----\n"),
        ("apt/Release.key", b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n"),
        *(
            ("signer.pem", f"-----BEGIN {kind}-----\n".encode())
            for kind in ("PUBLIC KEY", "X509 CRL", "CERTIFICATE REQUEST", "DH PARAMETERS")
        ),
        *(
            (name, b"{}\r\n")
            for name in (
                "a.json",
                "A.JSON",
                "page.htm",
                "a.csv",
                "README.md",
                "lib/README.rst",
                "upload.ps1",
                "upload.bat",
            )
        ),
        ("id_rsa.pub", b"ssh-rsa AAAA\n"),
        ("doc.md", b"AKIAIOSFODNN7EXAMPLE\n"),
        ("environment.sh", b"x\n"),
        *((name, b"PASSWORD=\n") for name in (".env.example", "conf/.env.sample", ".env.prod.template", ".env.dist")),
        ("a.sh", b"export HF_TOKEN=hf_" + b"x" * 34),
        *(
            ("a.sh", b"export TOKEN=" + placeholder + b"\n")
            for placeholder in (
                b"xoxb-your-slack-bot-token-here",
                b"xoxp-1234567890-your-user-token-goes-here",
                b"xapp-socket-mode-connection-handler-2",
                b"glpat-your-personal-access-token",
                b"glpat-your-personal-access-token-of-project-2",
                b"ghp_thePersonalAccessGoesHereBeforeYouRun",
                b"hf_YourHuggingFaceTokenGoesHereReplaceMe",
                b"hf_" + LETTERS + b"x",
            )
        ),
        ("a.sh", b"github_pat_secret_name_in_secrets_manager=x\n"),
        ("a.sh", b"github_pat_of_project_2_in_secrets_manager=x\n"),
        ("a.sh", b"hf_download_model_and_its_tokenizer_from_hub() { :; }\n"),
        ("a.sh", b"export HF_TOKEN=$(aws secretsmanager get-secret-value --secret-id hf_token)\n"),
        ("a.sh", b"aws configure set aws_secret_access_key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"),
        ("a.sh", b'export AWS_SECRET_ACCESS_KEY="${KEY}"\n'),
    ],
)
def test_what_only_looks_like_it_is_accepted(name: str, data: bytes) -> None:
    assert ASKED.content_problems(bundle_of((name, data))) == []


def test_fails_for_a_folder_that_is_too_large_in_all() -> None:
    files = [(f"f{number}", b"\0" * (8 * 2**20)) for number in range(9)]
    assert ASKED.content_problems(bundle_of(*files)) == [
        "'folder' must hold at most 64 MiB, got 72.0 MiB; every node downloads it"
    ]


def test_fails_for_what_could_not_be_read() -> None:
    (told,) = ASKED.content_problems(Bundle(files=(), unreadable=("out",)))
    assert told.startswith("'folder' must hold files of its own, got out: a link out of the folder, to nothing or to a")


def test_fails_with_every_problem_at_once() -> None:
    files = bundle_of(("a.sh", b"x\r\n" + KEY), ("b.sh", b"x\r\n"), (".env", b""))
    assert len(ASKED.content_problems(files)) == 4


def test_fails_for_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert ASKED.folder_problems(tmp_path / "x") == [f"'folder' must be an existing folder, got '{tmp_path}/x'"]


def test_fails_for_a_file_of_users_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "x", tmp_path, tmp_path / "pipe", Path("/proc/self/mem"), Path("x" * 5000)):
        assert ASKED.users_file_problems(path, in_folder=False) == [
            f"'users_file' must be an existing file that can be read, got '{path}'"
        ]


def test_fails_for_two_files_of_users(tmp_path: Path) -> None:
    (tmp_path / "u").touch()
    assert ASKED.users_file_problems(tmp_path / "u", in_folder=True) == [
        f"'users_file' must be left out when the folder holds shared_users.txt, got '{tmp_path}/u'; keep one of them"
    ]
    assert ASKED.users_file_problems(None, in_folder=True) == []


# ---------------------------------------------------------------- topology
@pytest.mark.parametrize(
    ("names", "topology", "legacy", "problems"),
    [
        ([], API, None, []),
        ([], LEGACY, {"version": "1.0.0"}, []),
        (["provisioning_parameters.json"], LEGACY, None, []),
        (
            ["lib/provisioning_parameters.json"],
            API,
            None,
            [NOT_BOTH],
        ),
        (
            [],
            API,
            {},
            ["'legacy_topology' must be left out when 'topology' is api; remove one of them"],
        ),
        (
            ["provisioning_parameters.json"],
            LEGACY,
            {},
            ["'legacy_topology' must be left out when the folder holds provisioning_parameters.json; keep one of them"],
        ),
        (
            ["lib/provisioning_parameters.json"],
            LEGACY,
            None,
            [NOT_WITHOUT],
        ),
    ],
)
def test_the_legacy_file_is_there_exactly_when_it_is_asked_for(
    names: Sequence[str], topology: SlurmTopology, legacy: dict[str, Any] | None, problems: list[str]
) -> None:
    assert ASKED.topology_problems(bundle_of(*((name, b"{}") for name in names)), topology, legacy) == problems


# ---------------------------------------------------------------- settings
def settings_problems(
    settings: NodeSettings | None, *, own_scripts: bool = False, names: Sequence[str] = ()
) -> list[str]:
    judge = Judge(environment=NOWHERE)
    judged = settings and judge.judged(settings, ("settings",))
    bundle = own_bundle() if own_scripts else bundle_of(*((name, b"{}") for name in names))
    found = [*judge.problems, *rules.settings_problems(bundle, judged, entry="on_create.sh")]
    return [sentence(problem) for problem in found]


def test_own_scripts_of_a_user_need_no_settings() -> None:
    assert settings_problems(None) == []


def test_sound_settings_have_no_problem() -> None:
    lustre = NodeLustre(dns_name="fs", mount_name="x", mount_path="/data/fsx")
    assert (
        settings_problems(NodeSettings(groups=[CONTROLLER], lustre=lustre, home="/home/ubuntu"), own_scripts=True) == []
    )


def test_fails_when_the_projects_scripts_get_none() -> None:
    assert settings_problems(None, own_scripts=True) == [
        "'settings' must be given with the project's own scripts: they learn the role of each group from them"
    ]


def test_a_copy_of_the_projects_scripts_needs_settings_unless_it_has_some_or_runs_something_else() -> None:
    copy = own_bundle()
    assert rules.lacks_settings(copy, "on_create.sh")
    assert not rules.lacks_settings(copy, "hostfile.sh")
    assert not rules.lacks_settings(copy.with_file(BundleFile(name="settings.json", data=b"{}")), "on_create.sh")


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([], "'settings.groups' must have one of the role controller, got no group"),
        (
            [NodeGroup(name="w", role=GroupRole.COMPUTE, instance_types=["ml.m5.large"])],
            "'settings.groups' must have one of the role controller, got compute",
        ),
        ([CONTROLLER, CONTROLLER], "'settings.groups[1].name' must be a name of its own, got 'head' again"),
        (
            [NodeGroup(name="head", role=GroupRole.CONTROLLER, instance_types=[])],
            "'settings.groups[0].instance_types' must hold at least one type, got none",
        ),
        (
            [NodeGroup(name="head", role=GroupRole.CONTROLLER, instance_types=["ml.trn1.33xlarge"])],
            "'settings.groups[0].instance_types[0]' must be the name of an EC2 instance type, got 'ml.trn1.33xlarge'",
        ),
    ],
)
def test_fails_for_groups_that_cannot_be(groups: list[NodeGroup], problem: str) -> None:
    (told,) = settings_problems(NodeSettings(groups=groups))
    assert told.startswith(problem)


@pytest.mark.parametrize("path", ["fsx", "/fsx/", "/", "/fs x", "//fsx"])
def test_fails_for_paths_that_are_not_absolute(path: str) -> None:
    lustre = NodeLustre(dns_name="fs", mount_name="x", mount_path=path)
    assert settings_problems(NodeSettings(groups=[CONTROLLER], lustre=lustre, home=path)) == [
        f"'settings.{option}' must be an absolute path of letters, digits, '.', '_' and '-' without a slash at the "
        f"end, as /fsx, got {path!r}"
        for option in ("lustre.mount_path", "home")
    ]


def test_fails_for_a_second_settings_file() -> None:
    assert settings_problems(NodeSettings(groups=[CONTROLLER]), names=["settings.json"]) == [
        "'settings' must be left out when the folder holds settings.json; keep one of them"
    ]


def test_tokens_pass(stack: Stack) -> None:
    token = CfnParameter(stack, "Value").value_as_string
    group = NodeGroup(name=token, role=GroupRole.CONTROLLER, instance_types=[token])
    lustre = NodeLustre(dns_name=token, mount_name=token, mount_path=token)
    assert settings_problems(NodeSettings(groups=[group, group], lustre=lustre, home=token, cluster_name=token)) == []


# ---------------------------------------------------------------- users
def test_users_are_read_with_the_reader_of_the_nodes() -> None:
    at = ("users_file",)
    files = bundle_of(READER, ("shared_users.txt", b"ada,1001,/fsx/ada\nbob,0,/fsx/bob\n"))
    assert ASKED.users_problems(files, at=at) == [
        "'users_file' shared_users.txt:2: uid must be a number from 1001 to 2147483646, not 65534 or 65535, got '0'"
    ]
    assert ASKED.users_problems(bundle_of(READER), at=at) == []


def test_users_of_another_reader_have_numbers_of_their_own() -> None:
    users = b"# name,number\nroot,0\nBob,0,/fsx/bob\nada,2001\nada,2001,/fsx\neve, 2001 ,/x\nmax,a,/x\n"
    assert ASKED.users_problems(bundle_of(("shared_users.txt", users)), at=("folder",)) == [
        "'folder' shared_users.txt:3: must have another number than 0, which is root's, got 'Bob'",
        "'folder' shared_users.txt:6: number 2001 belongs to 'ada' on line 4, got 'eve'",
    ]


def test_fails_for_users_in_another_encoding() -> None:
    assert ASKED.users_problems(bundle_of(READER, ("shared_users.txt", b"a\n\xff")), at=("folder",)) == [
        "'folder' must hold users in UTF-8, got something else at shared_users.txt:2"
    ]
