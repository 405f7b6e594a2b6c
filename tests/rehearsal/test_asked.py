"""What nodes asked for beyond their subnet: how it is noted, and what is held against the table of fetches."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from cdk_trainyard.rehearsal.asked import Asked, archive_hosts, as_json, unknown_hosts
from cdk_trainyard.rehearsal.egress_proxy_server import Requests
from cdk_trainyard.rehearsal.report import Report
from cdk_trainyard.rehearsal.scenario import AnyScenario
from cdk_trainyard.rehearsal.scenarios import check_asked

HEAD = b"GET /folder/file?list-type=2 HTTP/1.1\r\nHost: bucket.s3.us-west-2.amazonaws.com:443\r\n"
SIGNED = HEAD + b"Authorization: AWS4-HMAC-SHA256 Credential=x\r\n\r\n"
PUT = b"PUT /key HTTP/1.1\r\nHost: bucket.s3.us-west-2.amazonaws.com\r\nContent-Length: 11\r\n\r\nGET / HTTP/"
CHUNKED = (
    b"POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
)


def said(data: bytes, pieces: int) -> list[dict[str, object]]:
    requests = Requests()
    size = max(1, len(data) // pieces)
    return [found for at in range(0, len(data), size) for found in requests.feed(data[at : at + size])]


@pytest.mark.parametrize("pieces", [1, 2, 7, 40, 10_000])
def test_every_request_of_a_connection_is_read_however_its_bytes_come(pieces: int) -> None:
    found = said(SIGNED + PUT + CHUNKED + HEAD + b"\r\n", pieces)
    assert [(one["method"], one["path"], one["signed"]) for one in found] == [
        ("GET", "/folder/file", True),
        ("PUT", "/key", False),
        ("POST", "/", False),
        ("GET", "/folder/file", False),
    ]
    assert found[0]["host"] == "bucket.s3.us-west-2.amazonaws.com"


def test_a_presigned_link_is_signed() -> None:
    (found,) = said(b"GET /key?X-Amz-Signature=0 HTTP/1.1\r\nHost: b.s3.amazonaws.com\r\n\r\n", 1)
    assert found["signed"] is True


@pytest.mark.parametrize("data", [b"1000\nabcdef\r\n\r\n" + SIGNED, b"x" * 70_000 + b"\r\n\r\n" + SIGNED])
def test_what_is_no_http_is_not_read(data: bytes) -> None:
    assert said(data, 50) == []


def test_what_was_noted_is_told_by_node_once() -> None:
    rows = [
        {"address": "10.0.0.1", "host": "b.s3.us-west-2.amazonaws.com", "path": "/x", "signed": True},
        {"address": "10.0.0.1", "host": "b.s3.us-west-2.amazonaws.com", "path": "/x", "signed": True},
        {"address": "10.0.0.9", "host": "s3.amazonaws.com", "path": "/tools/x.tar.gz", "signed": False},
        {"address": "10.0.0.1", "host": "ip-10-0-0-9.us-west-2.compute.internal"},
        {"address": "10.0.0.1", "host": "localhost"},
        {"address": "10.0.0.1", "host": "fs-1.fsx.us-west-2.amazonaws.com"},
        {"address": "10.0.0.1", "host": "db.abc.us-west-2.rds.amazonaws.com"},
    ]
    found = Asked.read(map(json.dumps, rows), {"10.0.0.1": "worker-1"})
    assert found == [
        Asked(node="10.0.0.9", host="s3.amazonaws.com", bucket="tools", path="/tools/x.tar.gz"),
        Asked(node="worker-1", host="b.s3.us-west-2.amazonaws.com", bucket="b", path="/x", signed=True),
    ]
    assert json.loads(as_json(found))[1]["bucket"] == "b"


def asked(host: str, bucket: str = "", *, signed: bool = False) -> Asked:
    return Asked(node="worker-1", host=host, bucket=bucket, signed=signed)


def test_a_host_that_no_table_knows_is_named_with_who_asked() -> None:
    known = [
        asked("logs.us-west-2.amazonaws.com"),
        asked("apt.repos.neuron.amazonaws.com"),
        asked("us-west-2.ec2.archive.ubuntu.com"),
        asked("any-bucket-of-ours.s3.us-west-2.amazonaws.com", "any-bucket-of-ours", signed=True),
        asked("s3.us-west-2.amazonaws.com", "any-bucket-of-ours", signed=True),
        asked("s3.amazonaws.com", "mountpoint-s3-release"),
        asked("archive.example.org"),
    ]
    assert unknown_hosts(known, "us-west-2", ["archive.example.org"]) == {}
    lacking = [
        *known,
        asked("downloads.example.org"),
        asked("logs.eu-west-1.amazonaws.com"),
        asked("any-bucket.s3.us-west-2.amazonaws.com", "any-bucket"),
        asked("s3.amazonaws.com", "somebodys-bucket"),
    ]
    assert unknown_hosts(lacking, "us-west-2", ["archive.example.org"]) == {
        "downloads.example.org": ["worker-1"],
        "logs.eu-west-1.amazonaws.com": ["worker-1"],
        "any-bucket.s3.us-west-2.amazonaws.com": ["worker-1"],
        "s3.amazonaws.com": ["worker-1"],
    }


def test_the_archive_of_the_node_image_stands_for_that_of_the_nodes_system(tmp_path: Path) -> None:
    apt = tmp_path / "etc" / "apt"
    (apt / "sources.list.d").mkdir(parents=True)
    (apt / "sources.list").write_text(
        "# deb http://old.example/x y\ndeb [trusted=yes] http://one.example/debian x main\n"
    )
    (apt / "sources.list.d" / "more.sources").write_text("Types: deb\nURIs: https://two.example/debian\n")
    assert archive_hosts(tmp_path) == {"one.example", "two.example"}
    assert archive_hosts(tmp_path / "nothing") == set()


@pytest.mark.parametrize(
    ("hosts", "passed", "note"),
    [
        (["logs.us-west-2.amazonaws.com"], True, "logs.us-west-2.amazonaws.com"),
        ([], True, "nothing beyond their subnet"),
        (
            ["logs.us-west-2.amazonaws.com", "downloads.example.org"],
            False,
            "no row of reach/data knows downloads.example.org, asked by worker-1",
        ),
    ],
)
def test_a_rehearsal_fails_for_a_host_that_no_table_knows(
    hosts: list[str], passed: bool, note: str, tmp_path: Path
) -> None:
    report = Report(io.StringIO())
    cluster = SimpleNamespace(region="us-west-2")
    machines = SimpleNamespace(asked=lambda: [asked(host) for host in hosts], cluster=cluster)
    check_asked(cast("AnyScenario", SimpleNamespace(machines=machines, stage=SimpleNamespace(image=tmp_path))), report)
    assert report.passed is passed
    assert report.steps[-1].notes == [note]
    assert [one.host for one in report.asked] == hosts
