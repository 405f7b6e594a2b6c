"""Prometheus' remote write: who signs for which workspace with which permission is let in, and nobody else.

Signed by botocore, as Prometheus' sigv4 signs: there is no build of Prometheus to be had here that does.
"""

import http.client
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from cdk_trainyard.local import LocalAws
from tests.local.access.conftest import Role, allow

# a WriteRequest (remote.proto of Prometheus) of one series up{} with the sample 1 at 1 ms, in snappy's block format
SERIES = b"\x0a\x1d\x0a\x0e\x0a\x08__name__\x12\x02up\x12\x0b\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x01"
BODY = bytes([len(SERIES), (len(SERIES) - 1) << 2]) + SERIES
HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}


@pytest.fixture
def workspace(aws: LocalAws) -> Iterator[str]:
    client = aws.client("amp")
    made = str(client.create_workspace(tags={})["workspaceId"])
    yield made
    client.delete_workspace(workspaceId=made)


def administrator(aws: LocalAws) -> Credentials:
    return Credentials(aws.credentials.access_key_id, aws.credentials.secret_access_key)


def session_of(role: Role) -> Credentials:
    made = role.aws.client("sts").assume_role(RoleArn=role.arn, RoleSessionName="i-1")["Credentials"]
    return Credentials(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])


def write(
    aws: LocalAws,
    workspace: str,
    credentials: Credentials | None,
    *,
    body: bytes = BODY,
    headers: Mapping[str, str] = HEADERS,
    sent: bytes | None = None,
    region: str | None = None,
) -> tuple[int, str]:
    """Write, and return status and answer; ``sent`` is what goes out in the place of the body that was signed."""
    path = f"/workspaces/{workspace}/api/v1/remote_write"
    request = AWSRequest(method="POST", url=aws.endpoint + path, data=body, headers=dict(headers))
    if credentials:
        SigV4Auth(credentials, "aps", region or aws.region).add_auth(request)
    connection = http.client.HTTPConnection(urlsplit(aws.endpoint).netloc, timeout=120)
    connection.request("POST", path, body if sent is None else sent, dict(request.headers))
    answer = connection.getresponse()
    told = answer.status, answer.read().decode()
    connection.close()
    return told


def test_what_is_signed_is_taken(aws: LocalAws, workspace: str) -> None:
    assert write(aws, workspace, administrator(aws)) == (200, "")


def test_what_is_not_signed_or_was_changed_on_its_way_is_not(aws: LocalAws, workspace: str) -> None:
    assert write(aws, workspace, None)[0] == 403
    status, told = write(aws, workspace, administrator(aws), sent=BODY[:-1] + b"\x02")
    assert status == 403
    assert "signature we calculated does not match" in told
    key = administrator(aws)
    assert write(aws, workspace, Credentials(key.access_key, "another"))[0] == 403
    assert write(aws, workspace, Credentials("AKIAUNKNOWN", "another"))[0] == 403


def test_a_role_writes_to_the_workspace_that_its_policy_names(
    aws: LocalAws, workspace: str, role: Callable[..., Role]
) -> None:
    arn = aws.client("amp").describe_workspace(workspaceId=workspace)["workspace"]["arn"]
    other = aws.client("amp").create_workspace(tags={})["workspaceId"]
    writer = session_of(role(allow("aps:RemoteWrite", arn)))
    assert write(aws, workspace, writer) == (200, "")
    for refused in (write(aws, other, writer), write(aws, workspace, session_of(role(allow("aps:QueryMetrics"))))):
        assert refused[0] == 403
        assert "is not authorized to perform: aps:RemoteWrite on resource: arn:aws:aps:" in refused[1]
    aws.client("amp").delete_workspace(workspaceId=other)


def test_there_must_be_the_workspace_and_something_that_prometheus_writes(aws: LocalAws, workspace: str) -> None:
    assert write(aws, "ws-none", administrator(aws)) == (404, '{"message": "Workspace not found: ws-none"}')
    for body, headers in ((b"", HEADERS), (BODY, HEADERS | {"Content-Encoding": "gzip"})):
        status, told = write(aws, workspace, administrator(aws), body=body, headers=headers)
        assert status == 400
        assert "remote write takes snappy-compressed protobuf, got" in told
