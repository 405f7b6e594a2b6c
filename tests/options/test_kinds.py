# ruff: noqa: E501  the messages are the point, each on its line
"""Kinds of values: one that fits, the nearest ones that do not, and sources that say the same."""

import re
from dataclasses import replace
from typing import Any

import botocore.loaders
import botocore.session
import jsonschema
import pytest

from cdk_trainyard.options import schedules, stand_ins
from cdk_trainyard.options.arns import RESERVATION_GROUP
from cdk_trainyard.options.kinds import Arn, Choice, Cidr, Email, Environment, Kind, Number, Text, resource_id
from cdk_trainyard.options.node_paths import ON_HYPERPOD, NodePath
from cdk_trainyard.options.repositories import other_registries
from cdk_trainyard.options.schedules import TimeZone
from cdk_trainyard.problems import shown

HERE = Environment(region="us-east-1", account="111111111111")
NOWHERE = Environment()
QUEUE = Arn(service="sqs", resource=r"[a-z]+", form="<name>", what="a queue", any_account=False)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Number(minimum=1), 1),
        (Number(maximum=1), -5),
        (Number(minimum=0.5, maximum=2), 0.5),
        (Choice(values=(1, 2)), 2),
        (Choice(values=("a",), open=True), "b"),
        (Text(pattern="a+", words="as", example="a", longest=3), "aaa"),
        (NodePath(), f"/{'a' * 255}/{'b' * 255}"),
        (NodePath(), "/usr/local/apps"),
        (NodePath(), "/opt/ml"),
        (NodePath(), "/usr/local/library/v2"),
        (QUEUE, "arn:aws:sqs:us-east-1:111111111111:jobs"),
        (
            stand_ins.Alarm.kind,
            "arn:aws:cloudwatch:us-east-1:111111111111:alarm:TargetTracking-arn:aws:kafka:us-east-1:x",
        ),
        (Cidr(), "10.0.0.0/8"),
        (Cidr(masks=(16, 28)), "10.0.0.0/16"),
        (Email(), "first.last+training@mail.example.com"),
        (TimeZone(), "Europe/Berlin"),
        (resource_id("vpc", "a VPC"), "vpc-0123456789abcdef0"),
        (resource_id("vpc", "a VPC"), "vpc-01234567"),
    ],
)
def test_what_fits_passes_everywhere(kind: Kind, value: Any) -> None:
    assert kind.problem(value, HERE) is None
    assert kind.problem(value, NOWHERE) is None
    jsonschema.validate(value, kind.schema())


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        (Number(minimum=1), 0, "must be 1 or more, got 0"),
        (Number(maximum=1), 2, "must be at most 1, got 2"),
        (Number(minimum=1, maximum=9, unit="GiB"), 10, "must be 1 to 9 GiB, got 10"),
        (
            Choice(values=tuple(range(20))),
            30,
            "must be 0, 1, 2, 3, 4, 5, 6, 7, … (all are in the reference of the deployment file), got 30",
        ),
        (Choice(values=("read", "write")), "writ", "must be read or write, got 'writ'; did you mean 'write'?"),
        (Text(pattern="a+", words="as", example="aa"), "b", "must be as, as aa, got 'b'"),
        (Text(pattern="a+", words="as", example="aa", remedy="press a"), "b", "must be as, as aa, got 'b'; press a"),
        (Text(pattern="a+", words="as", example="aa"), "a\n", r"must be as, as aa, got 'a\n'"),
        (Text(pattern="a*", words="as", example="aa", longest=3), "aaaa", "must have 1 to 3 characters, got 4"),
        (Text(pattern="a*", words="as", example="aa"), "", "must have 1 or more characters, got 0"),
        *(
            (Email(), text, f"must be one e-mail address and nothing else, as ops@example.com, got {text!r}")
            for text in (
                "ops",
                "Ops <ops@example.com>",
                "a@b.cc,c@d.ee",
                "ops@example",
                "o ps@example.com",
                "ops@example.com\n",
            )
        ),
        (Email(), f"{'a' * 65}@b.cc", "must have at most 64 characters before '@', got 65"),
        (QUEUE, "jobs", "must be the ARN of a queue, arn:aws:sqs:us-east-1:111111111111:<name>, got 'jobs'"),
        (
            QUEUE,
            "arn:aws:sns:us-east-1:111111111111:jobs",
            "must be the ARN of a queue, arn:aws:sqs:us-east-1:111111111111:<name>, got 'arn:aws:sns:us-east-1:111111111111:jobs'",
        ),
        (
            QUEUE,
            "arn:aws:sqs::111111111111:jobs",
            "must be the ARN of a queue, arn:aws:sqs:us-east-1:111111111111:<name>, got 'arn:aws:sqs::111111111111:jobs'",
        ),
        (
            QUEUE,
            "arn:aws:sqs:us-east-1:111111111111:JOBS",
            "must be the ARN of a queue, arn:aws:sqs:us-east-1:111111111111:<name>, got 'arn:aws:sqs:us-east-1:111111111111:JOBS'",
        ),
        (
            QUEUE,
            "arn:aws:sqs:us-east-1:111111111111:jobs ",
            "must be the ARN of a queue, arn:aws:sqs:us-east-1:111111111111:<name>, got 'arn:aws:sqs:us-east-1:111111111111:jobs '",
        ),
        (
            QUEUE,
            "arn:aws-cn:sqs:cn-north-1:222222222222:jobs",
            "must be of partition aws and Region us-east-1 and account 111111111111, got 'arn:aws-cn:sqs:cn-north-1:222222222222:jobs'",
        ),
        *(
            (kind, text, f"must be one ARN alone, got {text!r}; write one, and in a list one item each")
            for kind, one in (
                (stand_ins.Role.kind, "arn:aws:iam::111111111111:role/a"),
                (stand_ins.ManagedPolicy.kind, "arn:aws:iam::111111111111:policy/a"),
                (stand_ins.Alarm.kind, "arn:aws:cloudwatch:us-east-1:111111111111:alarm:a"),
            )
            for text in (f"{one},{one}", f"{one}; {one}", f"{one}{one}")
        ),
        *(
            (
                stand_ins.Alarm.kind,
                f"arn:aws:cloudwatch:us-east-1:111111111111:alarm:{name}",
                (
                    "must be the ARN of an alarm, arn:aws:cloudwatch:us-east-1:111111111111:alarm:<name>, got "
                    f"{f'arn:aws:cloudwatch:us-east-1:111111111111:alarm:{name}'!r}{sign}"
                ),
            )
            for name, sign in (
                ("a ", ""),
                ("a\u3000", ""),
                ("a\u200bb", " with U+200B (ZERO WIDTH SPACE)"),
                ("a\u2028b", " with U+2028 (LINE SEPARATOR)"),
            )
        ),
        (Cidr(), "10.1.0.0", "must be an IPv4 block, as 10.1.0.0/16, got '10.1.0.0'"),
        (Cidr(), "10.1.0.0/255.255.0.0", "must be an IPv4 block, as 10.1.0.0/16, got '10.1.0.0/255.255.0.0'"),
        (Cidr(), "010.1.0.0/16", "must be an IPv4 block, as 10.1.0.0/16, got '010.1.0.0/16'"),
        (Cidr(), "10.1.0.256/16", "must be an IPv4 block, as 10.1.0.0/16, got '10.1.0.256/16'"),
        (Cidr(), "10.1.0.1/16", "must begin where its mask says, got '10.1.0.1/16'; use 10.1.0.0/16"),
        (Cidr(masks=(16, 28)), "10.0.0.0/8", "must have a mask of /16 to /28, got '10.0.0.0/8'"),
        (
            resource_id("vpc", "a VPC"),
            "vpc-0123456",
            "must be the id of a VPC, as vpc-0123456789abcdef0, got 'vpc-0123456'",
        ),
        (
            resource_id("vpc", "a VPC"),
            "arn:aws:ec2:us-east-1:111111111111:vpc/vpc-01234567",
            (
                "must be the id of a VPC, as vpc-0123456789abcdef0, got "
                "'arn:aws:ec2:us-east-1:111111111111:vpc/vpc-01234567'; use 'vpc-01234567'"
            ),
        ),
        (ON_HYPERPOD, "/opt/ml/x", "must not be in a directory of the system, got '/opt/ml/x'"),
        (NodePath(), f"/fsx/{'a' * 256}", f"must have parts of at most 255 characters, got 256 in '{'a' * 99}…'"),
    ],
)
def test_what_does_not_fit_is_answered(kind: Kind, value: Any, says: str) -> None:
    assert str(kind.problem(value, HERE)) == says


@pytest.mark.parametrize(
    "value",
    [
        "arn:aws:sqs:us-east-1:111111111111:jobs${AWS::Region}",
        "arn:aws:sqs:us-east-1:111111111111:jobs{{resolve:ssm:/x}}",
        "arn:aws:sqs:us-east-1:111111111111:jobs\0",
        "arn:aws:sqs:us-east-1:111111111111:jöbs",
        "arn:aws:sqs:nowhere:111111111111:jobs",
        "arn:aws:sqs:cn-north-1:111111111111:jobs",
        "arn:aws:sqs:us-east-9:111111111111:jobs",
    ],
)
def test_an_arn_of_any_region_is_still_of_one_that_there_is(value: str) -> None:
    kind = Arn(service="sqs", resource=r"\w+", form="<name>", what="a queue", any_region=True)
    here = replace(HERE, regions=frozenset({"us-east-1", "eu-west-1", "cn-north-1"}))
    assert kind.problem("arn:aws:sqs:eu-west-1:222222222222:jobs", here) is None
    assert kind.problem(value, here)


def test_an_alarm_has_a_name_with_blanks() -> None:
    assert stand_ins.Alarm.kind.problem("arn:aws:cloudwatch:us-east-1:111111111111:alarm:CPU of heads", HERE) is None


@pytest.mark.parametrize(
    "name",
    ["*", "nemo", "team/nemo--x", "docker.io/library/ubuntu", "arn:aws:ecr:us-east-1:222222222222:repository/*"],
)
def test_repositories_by_name_and_arn(name: str) -> None:
    assert stand_ins.ImageRepository.kind.problem(name, HERE) is None


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("docker.io/app", "docker.io"),
        ("arn:aws:ecr:us-east-1:222222222222:repository/team.azurecr.io/app", "team.azurecr.io"),
        *((name, None) for name in ("v1.0/app", "a_b.io/app", "team/docker.io", "nemo2.x1/app", "docker.io")),
    ],
)
def test_a_repository_is_taken_for_another_registrys_where_it_begins_with_a_host(name: str, host: str | None) -> None:
    told = list(other_registries([name]))
    assert [f"nodes pull from {host} itself" in text for text in told] == [True] * (host is not None)


@pytest.mark.parametrize(
    "name", ["x" * 257, "a//b", "a/../b", "A", "arn:aws-cn:ecr:us-east-1:222222222222:repository/x", "", "**"]
)
def test_fails_for_what_is_no_repository(name: str) -> None:
    assert stand_ins.ImageRepository.kind.problem(name, HERE)


def test_a_name_of_one_character_is_answered_with_its_length() -> None:
    assert str(stand_ins.ImageRepository.kind.problem("a", HERE)) == "must have 2 to 256 characters, got 1"


@pytest.mark.parametrize(
    ("path", "of", "name", "more"),
    [
        ("/team/nemo:1", "one", "team/nemo", ""),
        ("", "a registry", "*", " for all that it has, or the name of each"),
        ("/", "a registry", "*", " for all that it has, or the name of each"),
    ],
)
def test_an_address_of_ecr_is_answered_with_the_arn_of_what_is_there(path: str, of: str, name: str, more: str) -> None:
    said = f"222222222222.dkr.ecr.cn-north-1.amazonaws.com.cn{path}"
    assert str(stand_ins.ImageRepository.kind.problem(said, HERE)) == (
        f"must be the name or the ARN of an ECR repository, got the address {said!r} of {of}; "
        f"use 'arn:aws-cn:ecr:cn-north-1:222222222222:repository/{name}'{more}"
    )


@pytest.mark.parametrize(("word", "meant"), [("delete", "write DESTROY"), ("Keep", "write RETAIN")])
def test_what_becomes_of_a_resource_in_other_words(word: str, meant: str) -> None:
    assert str(stand_ins.Removal.kind.problem(word, HERE)).endswith(f"; {meant}")


@pytest.mark.parametrize("name", ["mine", "key-1", "team/key.pem", "ssh-key of mine", "key-0123456789abcdef0-old"])
def test_the_name_of_a_key_pair_is_one(name: str) -> None:
    assert stand_ins.KeyPair.kind.problem(name, HERE) is None


@pytest.mark.parametrize(
    "name",
    [
        "arn:aws:ec2:us-east-1:111111111111:key-pair/key-0123456789abcdef0",
        "key-0123456789abcdef0",
        "~/.ssh/id_ed25519.pub",
        "/home/me/key.pem",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHx me@host",
        "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t me@host",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        r"C:\keys\mine",
        "C:/keys/mine",
    ],
)
def test_fails_for_what_is_not_the_name_of_a_key_pair(name: str) -> None:
    text = (
        "must be the name of an EC2 key pair, 255 ASCII characters at most, and not its id, ARN, key or file, as my-key"
    )
    assert str(stand_ins.KeyPair.kind.problem(name, HERE)) == f"{text}, got {shown(name)}"


@pytest.mark.parametrize(
    "name", ["my-key", "team key", "/prod/key", "arn:team:key", "key.pem", "key-1", "sk-ssh", "a:b"]
)
def test_a_key_pair_may_have_any_name(name: str) -> None:
    assert stand_ins.KeyPair.kind.problem(name, HERE) is None


def test_a_secret_of_rds_is_one() -> None:
    said = "arn:aws:secretsmanager:us-east-1:111111111111:secret:rds!db-0a1b2c3d-0000-4444-8888-0123456789ab-AbCdEf"
    assert stand_ins.Secret.kind.problem(said, HERE) is None


@pytest.mark.parametrize("part", [":password::", "::AWSCURRENT:", ":password", ":::"])
def test_a_part_of_a_secret_is_answered_with_all_of_it(part: str) -> None:
    whole = "arn:aws:secretsmanager:us-east-1:111111111111:secret:db/key-AbCdEf"
    assert stand_ins.Secret.kind.problem(whole, HERE) is None
    assert str(stand_ins.Secret.kind.problem(whole + part, HERE)) == (
        f"must be the ARN of a secret alone, got {whole + part!r}, with the key, stage or version that a task definition "
        f"adds: all of its value is read; use {whole!r}"
    )


@pytest.mark.parametrize(
    "path",
    [
        "aws-service-role/ecs.amazonaws.com/AWSServiceRoleForECS",
        "aws-reserved/sso.amazonaws.com/AWSReservedSSO_Admin_01234567",
    ],
)
def test_a_role_that_aws_alone_can_change_is_nobody_s_to_give(path: str) -> None:
    said = f"arn:aws:iam::111111111111:role/{path}"
    assert str(stand_ins.Role.kind.problem(said, HERE)) == (
        "must be the ARN of an IAM role (not of one that is linked to a service or to IAM Identity Center), "
        f"arn:aws:iam::111111111111:role/<name>, got {said!r}"
    )
    assert stand_ins.Role.kind.problem("arn:aws:iam::111111111111:role/service-role/mine", HERE) is None


@pytest.mark.parametrize(("kind", "arn"), [(stand_ins.Role.kind, "role"), (stand_ins.ManagedPolicy.kind, "policy")])
def test_a_path_of_many_slashes_is_answered(kind: Kind, arn: str) -> None:
    arn = f"arn:aws:iam::111111111111:{arn}"
    assert kind.problem(f"{arn}/a/b//c/name", HERE) is None
    assert kind.problem(f"{arn}{'/' * 60_000}", HERE) is not None


def test_a_misspelt_time_zone_is_answered_with_its_neighbours() -> None:
    found = TimeZone().problem("Europe/Berlim", HERE)
    assert str(found).startswith(
        "must be a time zone, as Europe/Berlin, got 'Europe/Berlim'; did you mean 'Europe/Berlin' or"
    )


@pytest.mark.parametrize("name", ["Factory", "localtime", "europe/berlin", ""])
def test_a_time_zone_is_one_of_a_place(name: str) -> None:
    assert str(TimeZone().problem(name, HERE)).startswith("must be a time zone, as Europe/Berlin, got ")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("PST", "America/Los_Angeles"), ("mdt", "America/Denver"), ("EDT", "America/New_York"), ("KST", "Asia/Seoul")],
)
def test_an_abbreviation_of_a_time_zone_is_told_its_place(name: str, meant: str) -> None:
    assert str(TimeZone().problem(name, HERE)) == (
        f"must be a time zone, as Europe/Berlin, got {name!r}; did you mean {meant!r}?"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [("cst", "; did you mean 'America/Chicago' or 'Asia/Shanghai'?"), ("XST", ""), ("utc", "; did you mean 'UTC'?")],
)
def test_no_abbreviation_is_offered_for_another(name: str, hint: str) -> None:
    assert str(TimeZone().problem(name, HERE)) == f"must be a time zone, as Europe/Berlin, got {name!r}{hint}"


def test_a_machine_without_time_zones_judges_their_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "_time_zones", set)
    assert [name for name in ("Etc/GMT+5", "America/Port-au-Prince", "UTC") if TimeZone().problem(name, HERE)] == []
    assert TimeZone().problem("Factory", HERE)
    assert TimeZone().problem("europe/berlin", HERE)


def test_retention_is_that_of_botocore() -> None:
    model = botocore.loaders.Loader().load_service_model("logs", "service-2")
    text = model["shapes"]["PutRetentionPolicyRequest"]["members"].get("retentionInDays", {})
    said = {
        int(number)
        for number in re.findall(r"\b\d+\b", text.get("documentation", "") + model["shapes"]["Days"]["documentation"])
    }
    assert set(stand_ins.Retention.kind.values) <= said


GROUP = "arn:aws:resource-groups:us-east-1:111111111111:group/"


@pytest.mark.parametrize("name", ["gpus", "x" * 300, f"{'x' * 150}/{'a1' * 13}"])
def test_the_arn_of_a_resource_group_is_one(name: str) -> None:
    assert RESERVATION_GROUP.problem(f"{GROUP}{name}", HERE) is None


@pytest.mark.parametrize("name", ["", "a/b", "x" * 301, f"{'x' * 151}/{'a1' * 13}", "größe"])
def test_fails_for_what_is_not_the_arn_of_a_resource_group(name: str) -> None:
    assert str(RESERVATION_GROUP.problem(f"{GROUP}{name}", HERE)).startswith("must be the ARN of a resource group")
