import http.client
import json
import struct
import threading
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.rehearsal.metadata import MetadataServer, MetadataService, State, answer, metadata_of, time_answer

NAMES = {"ip-10-1-0-10.us-east-1.compute.internal": "10.1.0.10", "fs-1.fsx.us-east-1.amazonaws.com": "10.1.0.1"}
A, PTR, AAAA = 1, 12, 28
INSTANCE = {
    "instance-id": "i-1",
    "local-ipv4": "10.1.0.10",
    "placement/region": "us-east-1",
    "placement/availability-zone": "us-east-1d",
}


def query(name: str, kind: int) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!HHHHHH", 0x1234, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def code_and_data(reply: bytes, asked: bytes) -> tuple[int, bytes]:
    number, flags, questions, answers = struct.unpack_from("!HHHH", reply)
    assert (number, questions, flags & 0x8000) == (0x1234, 1, 0x8000)
    return flags & 0xF, reply[len(asked) + 12 :] if answers else b""


@pytest.mark.parametrize("name", list(NAMES))
def test_names_have_addresses(name: str) -> None:
    for spelt in (name, name.upper()):
        asked = query(spelt, A)
        assert code_and_data(answer(asked, NAMES), asked) == (0, IPv4Address(NAMES[name]).packed)


def test_addresses_have_names() -> None:
    asked = query("10.0.1.10.in-addr.arpa", PTR)
    code, data = code_and_data(answer(asked, NAMES), asked)
    assert code == 0
    assert b"ip-10-1-0-10" in data


def test_a_name_without_that_kind_exists_all_the_same() -> None:
    asked = query(next(iter(NAMES)), AAAA)
    assert code_and_data(answer(asked, NAMES), asked) == (0, b"")


@pytest.mark.parametrize(("name", "kind"), [("nowhere.example", A), ("9.0.1.10.in-addr.arpa", PTR)])
def test_what_is_unknown_is_refused_at_once(name: str, kind: int) -> None:
    asked = query(name, kind)
    assert code_and_data(answer(asked, NAMES), asked) == (3, b"")


@given(st.lists(st.from_regex(r"[a-z0-9-]{1,63}", fullmatch=True), min_size=1, max_size=3), st.integers(1, 255))
def test_every_question_gets_an_answer(labels: list[str], kind: int) -> None:
    asked = query(".".join(labels), kind)
    assert answer(asked, NAMES).startswith(asked[:2])


def test_metadata_is_found_by_path_and_listed_by_folder() -> None:
    assert metadata_of("/latest/meta-data/placement/region", INSTANCE) == "us-east-1"
    assert metadata_of("/latest/meta-data/placement/", INSTANCE) == "availability-zone\nregion"
    assert metadata_of("/latest/meta-data/", INSTANCE) == "instance-id\nlocal-ipv4\nplacement/"
    assert metadata_of("/latest/meta-data/spot/instance-action", INSTANCE) is None
    assert metadata_of("/latest/user-data", INSTANCE) is None


def test_the_identity_document_says_what_is_known() -> None:
    document = json.loads(metadata_of("/latest/dynamic/instance-identity/document", INSTANCE) or "")
    assert document == {
        "availabilityZone": "us-east-1d",
        "instanceId": "i-1",
        "privateIp": "10.1.0.10",
        "region": "us-east-1",
    }


def test_the_state_is_read_again_when_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = State(path)
    for value in (1, 2):
        fresh = tmp_path / "new"
        fresh.write_text(json.dumps({"value": value}))
        fresh.rename(path)
        assert state.read() == {"value": value}


def test_the_hour_is_told_as_sntp_clients_read_it() -> None:
    query = bytes([0x23]) + bytes(39) + b"ABCDEFGH"
    told = time_answer(query, 1_000_000_000.5)
    assert len(told) == 48
    assert (told[0] & 7, told[0] >> 3 & 7, told[1]) == (4, 4, 3)  # a server, version 4, stratum 3
    assert told[24:32] == b"ABCDEFGH"
    assert struct.unpack_from("!II", told, 40) == (1_000_000_000 + 2_208_988_800, 2**31)


def test_a_token_says_how_long_it_lives() -> None:
    """The AWS SDK for Go takes no other: an agent that signs with the role's credentials would not start."""
    handler = type("Handler", (MetadataService,), {"tokens": {}})
    with MetadataServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=120)
        connection.request("PUT", "/latest/api/token", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"})
        told = connection.getresponse()
        assert (told.status, told.headers["X-Aws-Ec2-Metadata-Token-Ttl-Seconds"]) == (200, "60")
        connection.close()
        server.shutdown()
