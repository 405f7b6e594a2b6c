"""The model bucket: the job's own calls of the aws CLI, through a stand-in with the CLI's options, to the local AWS."""

import json
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from aws_cdk import aws_s3 as s3
from model_export import ExportError, TemporaryError
from model_export.bucket import MANIFEST, Bucket, Target
from model_export.staging import sha256

from cdk_trainyard import NeuronModel
from cdk_trainyard.local import LocalAws
from tests.jobs.parts import aws_cli

pytestmark = pytest.mark.programs

NAMES = ["model-00001-of-00001.safetensors", "tokenizer.json", "model.safetensors.index.json", "config.json"]
FACTS = {"version": 1, "checkpoint": "step_00000012"}


def keys(lines: list[str], action: str) -> list[str]:
    """The ends of the keys of the calls of an action, in order."""
    calls = [json.loads(line) for line in lines]
    return [call[call.index("--key") + 1].split("/")[-1] for call in calls if call[1] == action]


class Shop:
    """A bucket, and a directory with a model."""

    def __init__(self, directory: Path, client: Any) -> None:
        self.directory, self.client, self.name = directory / "model", client, f"models-{uuid4().hex[:8]}"
        self.calls = directory / "calls"
        client.create_bucket(Bucket=self.name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        self.directory.mkdir()
        for name in NAMES:
            (self.directory / name).write_text(f"content of {name}")
        self.said: list[str] = []

    def upload(self, prefix: str = "models/tiny", names: list[str] = NAMES, owner: str | None = None) -> None:
        sums = {name: sha256(self.directory / name) for name in names}
        target = Target.parse(f"s3://{self.name}/{prefix}", owner)
        Bucket(target, self.said.append).upload(self.directory, names, sums, FACTS)

    def there(self, prefix: str = "models/tiny") -> list[str]:
        found = self.client.list_objects_v2(Bucket=self.name, Prefix=f"{prefix}/").get("Contents", [])
        return [entry["Key"].removeprefix(f"{prefix}/") for entry in found]

    def called(self, action: str) -> list[str]:
        """The keys of the calls of an action, in order."""
        return keys(self.calls.read_text().splitlines(), action)


def open_shop(directory: Path, aws: LocalAws, patch: pytest.MonkeyPatch) -> Shop:
    """Make a shop, with the stand-in for the aws CLI in reach."""
    for name, value in aws_cli(directory, aws).items():
        patch.setenv(name, value)
    client = aws.client("s3", "us-west-2")
    return Shop(directory, client)


@pytest.fixture
def shop(tmp_path: Path, aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Shop:
    return open_shop(tmp_path, aws, monkeypatch)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory, aws: LocalAws) -> tuple[Shop, list[str], list[str]]:
    """A model that was uploaded twice, and the calls of the first time and of the second, to look at."""
    with pytest.MonkeyPatch.context() as patch:
        shop = open_shop(tmp_path_factory.mktemp("twice"), aws, patch)
        shop.upload()
        first = shop.calls.read_text().splitlines()
        shop.calls.unlink()
        shop.upload()
        second = shop.calls.read_text().splitlines()
    return shop, first, second


def test_the_weights_come_first_and_the_manifest_last(twice: tuple[Shop, list[str], list[str]]) -> None:
    shop, first, _ = twice
    assert keys(first, "put-object") == [*NAMES, MANIFEST]
    assert sorted(shop.there()) == sorted([*NAMES, MANIFEST])
    manifest = json.loads(shop.client.get_object(Bucket=shop.name, Key=f"models/tiny/{MANIFEST}")["Body"].read())
    assert manifest["checkpoint"] == "step_00000012"
    assert manifest["files"]["config.json"] == {"bytes": 22, "sha256": sha256(shop.directory / "config.json")}


def test_s3_keeps_the_sum_of_every_object(twice: tuple[Shop, list[str], list[str]]) -> None:
    shop, first, _ = twice
    for name in NAMES:
        found = shop.client.head_object(Bucket=shop.name, Key=f"models/tiny/{name}", ChecksumMode="ENABLED")
        assert found["ChecksumSHA256"]
    puts = [call for call in map(json.loads, first) if call[1] == "put-object"]
    assert all("--checksum-sha256" in call for call in puts[:-1])
    assert puts[-1][-2:] == ["--if-none-match", "*"]


def test_nothing_but_three_actions_is_asked_for(twice: tuple[Shop, list[str], list[str]]) -> None:
    """As the policy in the README has it: no listing, no deleting, no access lists."""
    _, first, second = twice
    assert {json.loads(line)[1] for line in first + second} == {"head-object", "get-object", "put-object"}


def test_a_second_upload_of_the_same_model_puts_nothing(twice: tuple[Shop, list[str], list[str]]) -> None:
    shop, _, second = twice
    assert second
    assert keys(second, "put-object") == []
    assert shop.said[-1].endswith("has this model already")


@pytest.mark.slow
def test_the_prefix_is_that_of_the_serving_room(shop: Shop) -> None:
    model = NeuronModel(
        name="tiny", preset="llama-3.1-8b", bucket=cast("s3.IBucket", None), prefix="models/tiny/",
        tensor_parallel=2, precompiled=False,
    )  # fmt: skip
    shop.upload(prefix=model.prefix)
    assert Target.parse(f"s3://{shop.name}/{model.prefix}", None).prefix == model.folder
    assert f"{model.folder}config.json" in [
        entry["Key"] for entry in shop.client.list_objects_v2(Bucket=shop.name, Prefix=model.folder)["Contents"]
    ]


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, len(NAMES) + 1))]
)
def test_cut_off_after_any_object_there_is_no_manifest_and_the_next_run_goes_on(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("AWS_FAULT", f"put-object {[*NAMES, MANIFEST][number]} SlowDown 1")
    with pytest.raises(TemporaryError, match=r"aws s3api put-object .* failed: .*\(SlowDown\)"):
        shop.upload()
    assert sorted(shop.there()) == sorted(NAMES[:number])
    shop.calls.unlink()
    shop.upload()
    assert shop.called("put-object") == [*NAMES[number:], MANIFEST]
    assert MANIFEST in shop.there()


@pytest.mark.slow
def test_an_object_of_an_earlier_try_with_other_content_is_replaced(shop: Shop) -> None:
    shop.client.put_object(Bucket=shop.name, Key=f"models/tiny/{NAMES[0]}", Body=b"half", ChecksumAlgorithm="SHA256")
    shop.client.put_object(Bucket=shop.name, Key=f"models/tiny/{NAMES[1]}", Body=b"of unknown sum")
    shop.upload()
    found = shop.client.get_object(Bucket=shop.name, Key=f"models/tiny/{NAMES[0]}")["Body"].read()
    assert found == f"content of {NAMES[0]}".encode()


def test_fails_where_another_model_is(shop: Shop) -> None:
    shop.upload()
    (shop.directory / "config.json").write_text("another")
    with pytest.raises(ExportError, match="has another model already; a prefix is written once, take another"):
        shop.upload()
    found = shop.client.get_object(Bucket=shop.name, Key="models/tiny/config.json")["Body"].read()
    assert found == b"content of config.json"


@pytest.mark.slow
def test_fails_when_two_finish_at_once_and_takes_its_own_manifest_for_good(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Bucket._is_there
    shop.upload()

    def late(_self: Bucket, _document: str) -> bool:
        monkeypatch.setattr(Bucket, "_is_there", there)  # at the first look, the other one had not finished
        return False

    monkeypatch.setattr(Bucket, "_is_there", late)
    shop.upload()  # the manifest that is there already is its own: an answer was lost
    (shop.directory / "tokenizer.json").write_text("another")
    monkeypatch.setattr(Bucket, "_is_there", late)
    with pytest.raises(ExportError, match="has another model already"):
        shop.upload()


def test_fails_when_what_arrives_is_not_what_was_sent(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    true_sum = sha256(shop.directory / NAMES[0])
    monkeypatch.setattr("tests.jobs.test_bucket.sha256", lambda _: true_sum)  # of another file, for the others
    with pytest.raises(ExportError, match="BadDigest"):
        shop.upload()
    assert MANIFEST not in shop.there()


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("403", ExportError, "the role needs s3:GetObject and s3:PutObject below the prefix, s3:ListBucket with it"),
        ("503", TemporaryError, "cannot be looked at"),
    ],
)
def test_fails_when_the_bucket_does_not_answer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, code: str, kind: type[ExportError], message: str
) -> None:
    monkeypatch.setenv("AWS_FAULT", f"head-object {MANIFEST} {code} 1")
    with pytest.raises(kind) as caught:
        shop.upload()
    assert type(caught.value) is kind
    assert message in str(caught.value)
    assert shop.there() == []


def test_fails_when_putting_is_not_allowed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_FAULT", f"put-object {NAMES[0]} AccessDenied 9")
    with pytest.raises(ExportError, match="AccessDenied") as caught:
        shop.upload()
    assert type(caught.value) is ExportError  # trying again would not help


def test_fails_without_the_cli(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(shop.directory))
    with pytest.raises(ExportError, match="the aws CLI must be installed where this runs"):
        shop.upload()


@pytest.mark.slow
def test_the_owner_of_the_bucket_is_asked_for(shop: Shop) -> None:
    shop.upload(owner="123456789012")
    calls = [json.loads(line) for line in shop.calls.read_text().splitlines()]
    assert all(call[call.index("--expected-bucket-owner") + 1] == "123456789012" for call in calls)


def test_fails_with_an_object_that_is_too_large_for_one_put(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model_export.bucket.LARGEST_PUT", 10)
    with pytest.raises(ExportError, match="must have at most 10 bytes, has 43; use a smaller '--file-gib'"):
        shop.upload()


@pytest.mark.parametrize("uri", ["s3://models", "s3://models/", "models/tiny", "s3:///tiny", "s3://models/a//b"])
def test_fails_with_an_address_that_is_no_prefix(uri: str) -> None:
    with pytest.raises(ExportError, match="must be s3://BUCKET/PREFIX, and never the whole bucket"):
        Target.parse(uri, None)


def test_fails_with_an_owner_that_is_no_account() -> None:
    with pytest.raises(ExportError, match="must be an account number of 12 digits, got 'me'"):
        Target.parse("s3://models/tiny", "me")
