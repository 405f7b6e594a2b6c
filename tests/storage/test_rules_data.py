# ruff: noqa: E501  the messages are the point, each on its line
"""Every rule of data repositories, buckets and the accounting database, by its exact sentence."""

from collections.abc import Iterable
from typing import Any

import pytest
from aws_cdk import Stack, Token
from aws_cdk import aws_s3 as s3
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.stand_ins import DatabaseClass, DeploymentBucket, Key, Span
from cdk_trainyard.problems import Problem, sentence
from cdk_trainyard.storage import BucketPurpose, DataRepository, RepositoryEvent
from cdk_trainyard.storage.rules_data import (
    accounting_problems,
    bucket_problems,
    buckets_problems,
    growth_warnings,
    overlap_problems,
    repository_problems,
)
from cdk_trainyard.storage.spec import AccountingSpec, BucketSpec, BucketsSpec, DatabaseEngine, ExistingBucket
from tools import generate_database_classes

TEXT = Token.as_string({"Ref": "Text"})
NUMBER: Any = Token.as_number({"Ref": "Number"})
BUCKET: Any = DeploymentBucket("datasets")
OTHER: Any = DeploymentBucket("models")
OWN: Any = ExistingBucket(bucket_name="data")
KEY: Any = Key("arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef")


ENCRYPTED: Any = ExistingBucket(bucket_name="logs", key=KEY)
FOUR: Any = {
    name: ExistingBucket(bucket_name=f"my-{name}") for name in ("scripts", "datasets", "checkpoints", "models")
}


def link(path: str = "/d", **more: Any) -> DataRepository:
    return DataRepository(**{"file_system_path": path, "bucket": BUCKET} | more)


def links(*paths: str) -> list[DataRepository]:
    return [link(path, prefix=f"p{number}") for number, path in enumerate(paths)]


def said(problems: Iterable[Problem]) -> list[str]:
    return [sentence(problem) for problem in problems]


@pytest.mark.parametrize("path", ["/", "/datasets", "/datasets/", "/a/b-c/d_e", "/with space/inside"])
def test_paths(path: str) -> None:
    assert list(repository_problems(link(path))) == []


@pytest.mark.parametrize("path", ["", "datasets", "//", "/a//b", "/a/../b", "/./a", "/ a", "/a\n", "s3://x", "/" * 9])
def test_fails_paths(path: str) -> None:
    must = "must be an absolute directory such as '/datasets', of at most 4096 characters"
    why = "it starts at the root of the file system, not at its mount point"
    assert list(repository_problems(link(path))) == [("file_system_path", f"{must}, got {path!r}; {why}")]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"file_system_path": TEXT}, ("file_system_path", "must be known at synthesis, got a Token: it identifies the link; write it out")),
        *(
            ({"prefix": prefix}, ("prefix", f"must be a key prefix such as 'tokenized/', got {prefix!r}; remove the bucket and extra slashes"))
            for prefix in ("/tokenized", "s3://data/tokenized", "a//b")
        ),
        *(
            ({"prefix": f"a/{part}/"}, ("prefix", f"must be a key prefix to the letter, got {part!r} in it, in whose place nothing is put"))
            for part in ("*", "<prefix>", "$USER")
        ),
        ({"bucket": DeploymentBucket("scripts"), "export_events": [RepositoryEvent.NEW]}, ("export_events", "must be left out for the bucket scripts: root runs what it holds, and every user of the file system would write there")),
    ],
)  # fmt: skip
def test_fails_the_rest_of_a_link(more: dict[str, Any], says: tuple[str, str]) -> None:
    assert list(repository_problems(link(**more))) == [says]


@pytest.mark.parametrize(
    "more", [{"bucket": DeploymentBucket("scripts")}, {"bucket": OTHER, "export_events": [RepositoryEvent.NEW]}]
)
def test_what_root_does_not_run_is_exported_and_what_it_runs_is_read(more: dict[str, Any]) -> None:
    assert list(repository_problems(link(**more))) == []


@pytest.mark.parametrize("prefix", ["a\u200b/", " a/", "a/ "])
def test_a_prefix_is_one_to_the_letter(prefix: str) -> None:
    judge = Judge(environment=Environment())
    judge.judged(link(prefix=prefix))
    (found,) = judge.problems
    assert (found.at, found.text.partition(",")[0]) == (("prefix",), "must be one line to the letter")


def test_tokens_pass() -> None:
    repository = link(prefix=TEXT, chunk_mib=NUMBER)
    assert list(repository_problems(repository)) == []
    assert list(overlap_problems([repository, repository])) == []


@pytest.mark.parametrize(("one", "other"), [("/ns1", "/ns1/ns2"), ("/a/b", "/a"), ("/a", "/a/"), ("/", "/a")])
def test_fails_overlapping_paths(one: str, other: str) -> None:
    text = f"must not overlap that of another data repository, got {one!r} and {other!r}; use directories side by side"
    assert said(overlap_problems(links(one, other))) == [f"'data_repositories[1].file_system_path' {text}"]


def test_paths_side_by_side() -> None:
    assert list(overlap_problems(links("/a", "/ab", "/b/a"))) == []


@pytest.mark.parametrize(("one", "other"), [("x/", "x"), ("x/", "x/y/"), ("x/y", "x"), ("", "x/"), ("x/", "")])
def test_fails_prefixes_of_a_bucket_that_overlap(one: str, other: str) -> None:
    repositories = [link("/a", prefix=one), link("/b", prefix=other), link("/c", prefix=other, bucket=OTHER)]
    got = f"got {one!r} and {other!r}; use prefixes side by side, or one link"
    text = f"must not overlap that of another data repository on the bucket, {got}"
    assert said(overlap_problems(repositories)) == [f"'data_repositories[1].prefix' {text}"]


def test_prefixes_side_by_side() -> None:
    repositories = [link(f"/{number}", prefix=prefix) for number, prefix in enumerate(("x/", "xy/", "y/x/", "y/z"))]
    assert list(overlap_problems(repositories)) == []


def test_buckets_of_cdk_are_told_apart_too() -> None:
    stack = Stack()
    one, other = (s3.Bucket.from_bucket_name(stack, name, "data") for name in ("One", "Other"))
    assert len(list(overlap_problems([link("/a", bucket=one), link("/b", bucket=one)]))) == 1
    assert list(overlap_problems([link("/a", bucket=one), link("/b", bucket=other)])) == []


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sampled_from("abc"), max_size=3))
def test_a_directory_always_overlaps_what_is_in_it(outer: list[str], inner: list[str]) -> None:
    paths = ["/" + "/".join(outer), "/" + "/".join(outer + inner)]
    assert len(list(overlap_problems(links(*paths)))) == 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (BucketSpec(purpose=BucketPurpose.ACCESS_LOGS, key=KEY), "'key' must be left out for ACCESS_LOGS: S3 delivers logs only under its own encryption"),
        (BucketSpec(purpose=BucketPurpose.ACCESS_LOGS, access_logs=OWN), "'access_logs' must be left out for ACCESS_LOGS: its own log would log itself"),
        (BucketSpec(purpose=BucketPurpose.SCRIPTS, expire_after_days=30), "'expire_after_days' is for CHECKPOINTS and ACCESS_LOGS, got 30 for SCRIPTS; remove it"),
        (BucketSpec(purpose=BucketPurpose.CHECKPOINTS, expire_after_days=0), "'expire_after_days' must be 1 to 2147483647, got 0"),
    ],
)  # fmt: skip
def test_fails_what_a_purpose_does_not_take(spec: BucketSpec, says: str) -> None:
    judge = Judge(environment=Environment())
    assert said(bucket_problems(judge.judged(spec))) + said(judge.problems) == [says]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("10.1.0.5", "formed as an IP address"),
        ("amzn-s3-demo-x", "one that begins with amzn-s3-demo-, sthree- or xn--, which S3 reserves"),
        ("my-s3alias", "one that ends with .mrap, -s3alias, --ol-s3, --x-s3 or --table-s3, which S3 reserves"),
        ("a.-b", "one with '.' beside '.' or '-'"),
        ("none", "a word for none, or for any"),
        ("default", "a word for none, or for any"),
    ],
)
def test_fails_names_that_s3_reserves(name: str, what: str) -> None:
    judge = Judge(environment=Environment())
    judge.judged(ExistingBucket(bucket_name=name))
    text = f"must be the name of a bucket, which is not {what}, got {name!r}"
    assert said(judge.problems) == [f"'bucket_name' {text}"]


def test_a_directory_bucket_is_told_to_be_one() -> None:
    judge = Judge(environment=Environment())
    judge.judged(ExistingBucket(bucket_name="ckpt--usw2-az2--x-s3"))
    assert said(judge.problems) == [
        (
            "'bucket_name' must be the name of a general purpose bucket, got 'ckpt--usw2-az2--x-s3'; directory buckets of S3 "
            "Express One Zone are not taken"
        )
    ]


@pytest.mark.parametrize("name", ["my.bucket-1", "10.1.0.5.6", "s3alias", "xn-a", "a--b"])
def test_names_that_look_like_those(name: str) -> None:
    judge = Judge(environment=Environment())
    judge.judged(ExistingBucket(bucket_name=name))
    assert judge.problems == []


@pytest.mark.parametrize("days", [None, 1, NUMBER])
def test_what_a_purpose_takes(days: int | None) -> None:
    spec = BucketSpec(purpose=BucketPurpose.CHECKPOINTS, key=KEY, access_logs=OWN, expire_after_days=days)
    assert list(bucket_problems(spec)) == []


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (BucketsSpec(checkpoints=OWN, checkpoint_days=30), "'checkpoint_days' must be left out with 'checkpoints': the rules of your own bucket are yours"),
        (BucketsSpec(**FOUR, key=KEY), "'key' must be left out where every bucket exists: none is made"),
        (BucketsSpec(datasets=OWN, models=OWN), "'models' must be a bucket of its own, got data, which is 'datasets' too"),
    ],
)  # fmt: skip
def test_fails_buckets_that_do_not_go_together(spec: BucketsSpec, says: str) -> None:
    assert said(buckets_problems(spec)) == [says]


def test_buckets_that_go_together() -> None:
    other: Any = ExistingBucket(bucket_name="other")
    assert list(buckets_problems(BucketsSpec(datasets=OWN, models=other, checkpoint_days=7))) == []
    assert list(buckets_problems(BucketsSpec(datasets=ENCRYPTED, access_logs=OWN, key=KEY))) == []
    assert list(buckets_problems(BucketsSpec(**FOUR))) == []


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (AccountingSpec(storage_gb=100, max_storage_gb=105), "'max_storage_gb' must be a tenth more than 'storage_gb' 100, got 105; use 111"),
        (AccountingSpec(storage_gb=20, max_storage_gb=21), "'max_storage_gb' must be a tenth more than 'storage_gb' 20, got 21; use 31"),
        (AccountingSpec(instance_type=DatabaseClass("t4g.nano")), "'instance_type' must be a class of RDS without 'db.', as t4g.medium, got 't4g.nano'; the family has micro, small, medium, large, xlarge or 2xlarge"),
        (AccountingSpec(instance_type=DatabaseClass("T4G.medium")), "'instance_type' must be a class of RDS without 'db.', as t4g.medium, got 'T4G.medium'; did you mean 't4g.medium'?"),
        (AccountingSpec(instance_type=DatabaseClass("m7a.large")), "'instance_type' must be a class of RDS without 'db.', as t4g.medium, got 'm7a.large'; did you mean 'm8a.large' or 'm7i.large' or 'm7g.large'?"),
        (AccountingSpec(backup_retention=Span(0)), "'backup_retention' must be 1 to 35 days, got 0"),
        (AccountingSpec(backup_retention=Span(36 * 86400)), "'backup_retention' must be 1 to 35 days, got 36"),
        (
            AccountingSpec(schema_name="Select"),
            ("'schema_name' must be a name that the database takes without quotes, got 'Select', a reserved word of "
            "mysql; use 'slurm_Select'"),
        ),
        (
            AccountingSpec(schema_name="order", engine=DatabaseEngine.MARIADB),
            ("'schema_name' must be a name that the database takes without quotes, got 'order', a reserved word of "
            "mariadb; use 'slurm_order'"),
        ),
        *(
            (
                AccountingSpec(schema_name=name),
                (f"'schema_name' must be a name that the database takes without quotes, got '{name}', a number to it; "
                f"use 'slurm_{name}'"),
            )
            for name in ("0x1f", "0b1", "1e3", "1E3jobs")
        ),
    ],
)  # fmt: skip
def test_fails_an_accounting_database_that_rds_would_not_make(spec: AccountingSpec, says: str) -> None:
    assert said(accounting_problems(spec)) == [says]


def test_an_accounting_database() -> None:
    assert list(accounting_problems(AccountingSpec())) == []
    assert list(accounting_problems(AccountingSpec(storage_gb=NUMBER))) == []
    for name in ("status", "user", "0x1fz", "0x", "2026jobs", "1e", "jobs"):
        assert list(accounting_problems(AccountingSpec(schema_name=name))) == []
    assert list(accounting_problems(AccountingSpec(schema_name="rank", engine=DatabaseEngine.MARIADB))) == []
    assert list(accounting_problems(AccountingSpec(instance_type=DatabaseClass("x2g.large")))) == []


@pytest.mark.parametrize(
    ("storage", "most", "growing"),
    [
        (20, 22, 31),
        (20, 30, 31),
        (20, 31, None),
        (200, 220, 221),
        (200, 221, None),
        (NUMBER, 22, None),
        (180, 200, None),
    ],
)
def test_storage_that_never_grows_is_said(storage: int, most: int, growing: int | None) -> None:
    texts = [*growth_warnings(AccountingSpec(storage_gb=storage, max_storage_gb=most))]
    assert [text.rpartition("; ")[2] for text in texts] == [f"use {growing} or more"] * bool(growing)


def test_the_classes_of_rds_are_those_of_the_installed_data() -> None:
    assert generate_database_classes.OUTPUT.read_text() == generate_database_classes.dump(
        generate_database_classes.classes()
    )
