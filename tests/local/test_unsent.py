"""Calls of this process of its own server: answered without a connection as they are with one."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.httpsession import URLLib3Session

from cdk_trainyard.local import LocalAws, clients

BUCKET = "unsent"


def _refused(client: Any) -> str:
    with pytest.raises(ClientError) as error:
        client.head_object(Bucket=BUCKET, Key="gone")
    return f"{error.value.response['Error']}"


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.put_object(Bucket=BUCKET, Key="a b/ü?", Body=b"12", Metadata={"my_key": "1"})["ETag"],
        lambda client: client.put_object(Bucket=BUCKET, Key="file", Body=io.BytesIO(b"x" * 100_000))["ETag"],
        lambda client: client.get_object(Bucket=BUCKET, Key="a b/ü?")["Body"].read(),
        lambda client: list(client.get_object(Bucket=BUCKET, Key="file")["Body"].iter_chunks(70_000)),
        lambda client: client.head_object(Bucket=BUCKET, Key="a b/ü?")["Metadata"],
        lambda client: [row["Key"] for row in client.list_objects_v2(Bucket=BUCKET, Prefix="a b/")["Contents"]],
        _refused,
    ],
)
def test_answers_are_those_of_a_connection(aws: LocalAws, ask: Callable[[Any], Any]) -> None:
    unsent, sent = aws.client("s3", "us-east-1"), aws.session.client("s3", region_name="us-east-1")
    sent.create_bucket(Bucket=BUCKET)
    for key, body in (("a b/ü?", b"12"), ("file", b"x" * 100_000)):
        sent.put_object(Bucket=BUCKET, Key=key, Body=body, Metadata={"my_key": "1"})
    said = ask(unsent)
    assert said
    assert said == ask(sent)


def test_nothing_is_sent(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    def send(*_words: object) -> None:
        raise AssertionError("it was sent")

    monkeypatch.setattr(URLLib3Session, "send", send)
    assert aws.client("sts").get_caller_identity()["Account"] == aws.account


def test_where_no_server_runs_it_is_sent(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    client = aws.client("sts")
    monkeypatch.setattr(clients._Server, "connection", None)

    def send(_session: object, request: Any) -> None:
        raise ZeroDivisionError(request.url)

    monkeypatch.setattr(URLLib3Session, "send", send)
    with pytest.raises(ZeroDivisionError, match=f"{aws.endpoint}/"):
        client.get_caller_identity()
