"""Every rule of data repositories and buckets, by its exact sentence."""

import pytest
from aws_cdk import Stack, Token
from aws_cdk import aws_s3 as s3
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.storage import BucketPurpose, DataRepository, LustreDeployment, RepositoryEvent, rules_data

P2 = LustreDeployment.persistent_2(throughput_mb_s_per_tib=250)
TEXT = Token.as_string({"Ref": "Text"})
NUMBER = Token.as_number({"Ref": "Number"})


@pytest.fixture
def bucket(stack: Stack) -> s3.IBucket:
    return s3.Bucket.from_bucket_name(stack, "Bucket", "data")


def links(bucket: s3.IBucket, *paths: str) -> list[DataRepository]:
    return [
        DataRepository(file_system_path=path, bucket=bucket, prefix=f"p{number}") for number, path in enumerate(paths)
    ]


@pytest.mark.parametrize(
    ("deployment", "version", "count", "problem"),
    [
        (
            LustreDeployment.scratch_1(),
            "2.15",
            1,
            "'data_repositories' cannot be linked to SCRATCH_1, got 1; use LustreDeployment.persistent_2 or .scratch_2",
        ),
        (
            LustreDeployment.intelligent_tiering(),
            "2.15",
            2,
            (
                "'data_repositories' cannot be linked to PERSISTENT_2 on INTELLIGENT_TIERING, got 2; "
                "use LustreDeployment.persistent_2 or .scratch_2"
            ),
        ),
        (
            LustreDeployment.scratch_2(),
            "2.10",
            1,
            "'data_repositories' need Lustre 2.12 or 2.15, got 'lustre_version' 2.10; use 2.15",
        ),
        (P2, "2.15", 9, "'data_repositories' must be at most 8, got 9; link a common parent directory"),
    ],
)
def test_fails_linking(
    bucket: s3.IBucket, deployment: LustreDeployment, version: str, count: int, problem: str
) -> None:
    repositories = links(bucket, *(f"/d{number}" for number in range(count)))
    assert rules_data.linking_problems(deployment, version, repositories) == [problem]


def test_linking(bucket: s3.IBucket) -> None:
    assert rules_data.linking_problems(LustreDeployment.scratch_1(), "2.10", []) == []
    assert rules_data.linking_problems(LustreDeployment.scratch_2(), "2.12", links(bucket, "/a")) == []
    assert rules_data.linking_problems(P2, TEXT, links(bucket, *(f"/d{number}" for number in range(8)))) == []


@pytest.mark.parametrize("path", ["/", "/datasets", "/datasets/", "/a/b-c/d_e", "/with space/inside"])
def test_paths(bucket: s3.IBucket, path: str) -> None:
    assert rules_data.repository_problems(DataRepository(file_system_path=path, bucket=bucket)) == []


@pytest.mark.parametrize("path", ["", "datasets", "//", "/a//b", "/a/../b", "/./a", "/ a", "/a\n", "s3://x", "/" * 9])
def test_fails_paths(bucket: s3.IBucket, path: str) -> None:
    assert rules_data.repository_problems(DataRepository(file_system_path=path, bucket=bucket)) == [
        (
            f"'file_system_path' must be an absolute directory such as '/datasets', of at most 4096 characters, "
            f"got {path!r}; it starts at the root of the file system, not at its mount point"
        )
    ]


def test_fails_a_path_that_is_a_token(bucket: s3.IBucket) -> None:
    assert rules_data.repository_problems(DataRepository(file_system_path=TEXT, bucket=bucket)) == [
        "'file_system_path' must be known at synthesis, got a Token: it identifies the link; write it out"
    ]


@pytest.mark.parametrize("prefix", ["/tokenized", "s3://data/tokenized", "a//b"])
def test_fails_prefixes(bucket: s3.IBucket, prefix: str) -> None:
    assert rules_data.repository_problems(DataRepository(file_system_path="/d", bucket=bucket, prefix=prefix)) == [
        f"'prefix' must be a key prefix such as 'tokenized/', got {prefix!r}; remove the bucket and extra slashes"
    ]


def test_fails_events_and_stripes(bucket: s3.IBucket) -> None:
    repository = DataRepository(
        file_system_path="/d",
        bucket=bucket,
        import_events=(RepositoryEvent.NEW, RepositoryEvent.NEW),
        export_events=("MOVED",),  # type: ignore[arg-type]
        chunk_mib=0,
    )
    assert rules_data.repository_problems(repository) == [
        "'import_events' must be some of NEW, CHANGED, DELETED, each once, got NEW, NEW",
        "'export_events' must be some of NEW, CHANGED, DELETED, each once, got MOVED",
        "'chunk_mib' must be 1 to 512000, got 0; leave it out for 1024",
    ]


def test_tokens_pass(bucket: s3.IBucket) -> None:
    repository = DataRepository(file_system_path="/d", bucket=bucket, prefix=TEXT, chunk_mib=NUMBER)  # type: ignore[arg-type]
    assert rules_data.repository_problems(repository) == []
    assert rules_data.overlap_problems([repository, repository]) == []


@pytest.mark.parametrize(("one", "other"), [("/ns1", "/ns1/ns2"), ("/a/b", "/a"), ("/a", "/a/"), ("/", "/a")])
def test_fails_overlapping_paths(bucket: s3.IBucket, one: str, other: str) -> None:
    assert rules_data.overlap_problems(links(bucket, one, other)) == [
        (
            f"'file_system_path' of two data repositories must not overlap, got {one!r} and {other!r}; "
            f"use directories side by side"
        )
    ]


def test_paths_side_by_side(bucket: s3.IBucket) -> None:
    assert rules_data.overlap_problems(links(bucket, "/a", "/ab", "/b/a")) == []


def test_fails_two_links_to_one_prefix(stack: Stack, bucket: s3.IBucket) -> None:
    other = s3.Bucket.from_bucket_name(stack, "Other", "other")
    one = DataRepository(file_system_path="/a", bucket=bucket, prefix="x/")
    same = DataRepository(file_system_path="/b", bucket=bucket, prefix="x")
    elsewhere = DataRepository(file_system_path="/c", bucket=other, prefix="x")
    assert rules_data.overlap_problems([one, same, elsewhere]) == [
        "'prefix' of two data repositories on one bucket must differ, got 'x/' for '/a' and '/b'"
    ]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sampled_from("abc"), max_size=3))
def test_a_directory_always_overlaps_what_is_in_it(outer: list[str], inner: list[str]) -> None:
    bucket = s3.Bucket.from_bucket_name(Stack(), "Bucket", "data")
    paths = ["/" + "/".join(outer), "/" + "/".join(outer + inner)]
    assert len(rules_data.overlap_problems(links(bucket, *paths))) == 1


@pytest.mark.parametrize(
    ("purpose", "key", "logs", "days", "problem"),
    [
        (
            BucketPurpose.ACCESS_LOGS,
            True,
            False,
            None,
            "'key' must not be given for ACCESS_LOGS: S3 delivers logs only under its own encryption; remove it",
        ),
        (
            BucketPurpose.ACCESS_LOGS,
            False,
            True,
            None,
            "'access_logs' must not be given for ACCESS_LOGS: its own log would log itself; remove it",
        ),
        (
            BucketPurpose.SCRIPTS,
            False,
            False,
            30,
            "'expire_after_days' is for CHECKPOINTS and ACCESS_LOGS, got 30 for SCRIPTS; remove it",
        ),
        (
            BucketPurpose.CHECKPOINTS,
            False,
            False,
            0,
            "'expire_after_days' must be 1 or more, got 0; use 30, or leave it out for the default",
        ),
    ],
)
def test_fails_what_a_purpose_does_not_take(
    purpose: BucketPurpose, key: bool, logs: bool, days: int | None, problem: str
) -> None:
    assert rules_data.purpose_problems(purpose, key_given=key, access_logs_given=logs, expire_after_days=days) == [
        problem
    ]


def test_what_a_purpose_takes() -> None:
    for days in (None, 1, NUMBER):
        assert (
            rules_data.purpose_problems(
                BucketPurpose.CHECKPOINTS,
                key_given=True,
                access_logs_given=True,
                expire_after_days=days,  # type: ignore[arg-type]
            )
            == []
        )


def test_fails_an_age_for_the_users_own_bucket() -> None:
    assert rules_data.checkpoint_days_problems(30, checkpoints_given=True) == [
        "'checkpoint_days' must not be given with 'checkpoints': the rules of your own bucket are yours; remove it"
    ]
    assert rules_data.checkpoint_days_problems(-1, checkpoints_given=False) == [
        "'checkpoint_days' must be 1 or more, got -1; use 30, or leave it out for the default"
    ]
    assert rules_data.checkpoint_days_problems(None, checkpoints_given=True) == []
