"""What objects of each purpose may expect of time."""

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from cdk_trainyard.storage import BucketPurpose
from cdk_trainyard.storage.bucket_lifecycle import lifecycle_rules

ABORT = {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}
ENABLED = {"Status": "Enabled"}


def housekeeping(noncurrent_days: int) -> dict[str, object]:
    return {
        **ABORT,
        **ENABLED,
        "Id": "housekeeping",
        "ExpiredObjectDeleteMarker": True,
        "NoncurrentVersionExpiration": {"NoncurrentDays": noncurrent_days},
    }


EXPECTED: dict[BucketPurpose, list[dict[str, object]]] = {
    BucketPurpose.SCRIPTS: [housekeeping(90)],
    BucketPurpose.DATASETS: [
        housekeeping(30),
        {
            **ENABLED,
            "Id": "tier",
            "Transitions": [{"StorageClass": "INTELLIGENT_TIERING", "TransitionInDays": 0}],
        },
    ],
    BucketPurpose.CHECKPOINTS: [
        housekeeping(7),
        {**ENABLED, "Id": "expire-runs", "Prefix": "runs/", "ExpirationInDays": 30},
        {
            **ENABLED,
            "Id": "expire-tagged",
            "TagFilters": [{"Key": "trainyard-retention", "Value": "expire"}],
            "ExpirationInDays": 30,
        },
    ],
    BucketPurpose.MODELS: [housekeeping(90)],
    BucketPurpose.ACCESS_LOGS: [
        {**ABORT, **ENABLED, "Id": "housekeeping"},
        {**ENABLED, "Id": "expire", "ExpirationInDays": 365},
    ],
}


def rendered(rules: list[s3.LifecycleRule]) -> list[dict[str, object]]:
    stack = Stack(App(), "Stack")
    s3.Bucket(stack, "Bucket", lifecycle_rules=rules)
    (bucket,) = Template.from_stack(stack).find_resources("AWS::S3::Bucket").values()
    found: list[dict[str, object]] = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
    return found


@pytest.mark.parametrize("purpose", BucketPurpose)
def test_the_rules_of_each_purpose(purpose: BucketPurpose) -> None:
    assert rendered(lifecycle_rules(purpose)) == EXPECTED[purpose]


def test_the_age_can_be_chosen() -> None:
    ages = [
        rule.get("ExpirationInDays")
        for rule in rendered(lifecycle_rules(BucketPurpose.CHECKPOINTS, expire_after_days=3))
    ]
    assert ages == [None, 3, 3]


def expires(rules: list[dict[str, object]], key: str, tags: dict[str, str]) -> bool:
    """Whether S3 would ever expire an object: any rule with an age that selects it."""
    return any(
        "ExpirationInDays" in rule
        and key.startswith(str(rule.get("Prefix", "")))
        and all(tags.get(tag["Key"]) == tag["Value"] for tag in rule.get("TagFilters", []))  # type: ignore[attr-defined]
        for rule in rules
    )


@pytest.mark.parametrize(
    ("key", "tags", "gone"),
    [
        ("runs/llama/step-100/0.pt", {}, True),
        ("kept/llama/step-100/0.pt", {}, False),
        ("llama/step-100/0.pt", {"trainyard-retention": "expire"}, True),
        ("llama/step-100/0.pt", {"trainyard-retention": "keep"}, False),
        ("llama/step-100/0.pt", {}, False),
    ],
)
def test_a_checkpoint_expires_where_it_lies_or_as_it_is_tagged(key: str, tags: dict[str, str], gone: bool) -> None:
    assert expires(EXPECTED[BucketPurpose.CHECKPOINTS], key, tags) is gone


def test_only_what_is_rewritten_has_versions() -> None:
    assert [purpose for purpose in BucketPurpose if purpose.policy.noncurrent_days is None] == [
        BucketPurpose.ACCESS_LOGS
    ]
    assert [purpose for purpose in BucketPurpose if purpose.policy.expire_days is not None] == [
        BucketPurpose.CHECKPOINTS,
        BucketPurpose.ACCESS_LOGS,
    ]
