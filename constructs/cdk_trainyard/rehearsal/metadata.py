"""What EC2 gives a subnet: the name, time and instance metadata services. Runs in the namespaces, as a program.

Started by its path with a state file, and needs nothing but the standard library. The state file is read again whenever
it changes::

    {"names": {"ip-10-1-0-10.us-east-1.compute.internal": "10.1.0.10"},
     "name_service": true,
     "seconds_ahead": 0,
     "instances": {"10.1.0.10": {"instance-id": "i-0123456789abcdef0"}}}
"""

import argparse
import http.server
import json
import secrets
import socketserver
import struct
import threading
import time
from http import HTTPStatus
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, ClassVar

USER_DATA = "/user-data"
"""Where the user data of an instance stands among what is known of it: not below ``meta-data``."""

_TTL = "X-aws-ec2-metadata-token-ttl-seconds"
_LONGEST_TTL = 21600  # seconds; EC2's limit
_NAME_TTL = 5
_A, _PTR, _ANY_CLASS = 1, 12, 1
_NO_ERROR, _NO_SUCH_NAME = 0, 3
_HEADER = 12  # bytes
_EPOCH = 2208988800  # seconds from 1900, where NTP begins to count, to 1970
_REVERSE = ".in-addr.arpa"


class State:
    """The state file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._content: dict[str, Any] = {}
        self._lock = threading.Lock()

    def read(self) -> dict[str, Any]:
        """Return what the file says now."""
        with self._lock:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_ino)
            if stamp != self._stamp:
                self._content = json.loads(self._path.read_text())
                self._stamp = stamp
            return self._content


def answer(query: bytes, names: dict[str, str]) -> bytes:
    """Return the answer to a DNS query: addresses of names and names of addresses, at once, and no other kind.

    Args:
        query: A datagram with one question.
        names: Address by name, without a dot at its end.
    """
    name, end = _question_name(query)
    kind, _ = struct.unpack_from("!HH", query, end)
    known, data = _look_up(name.lower(), kind, names)
    flags = 0x8580 | (_NO_ERROR if known else _NO_SUCH_NAME)  # an answer, with authority, recursion as asked
    header = struct.pack("!HHHHHH", int.from_bytes(query[:2], "big"), flags, 1, 1 if data else 0, 0, 0)
    record = struct.pack("!HHHIH", 0xC00C, kind, _ANY_CLASS, _NAME_TTL, len(data)) + data if data else b""
    return header + query[_HEADER : end + 4] + record


def time_answer(query: bytes, now: float) -> bytes:
    """Return the answer of a time service (SNTP, RFC 4330): the hour, and the one that the query said.

    Args:
        query: The question.
        now: Seconds since 1970.
    """
    stamp = struct.pack("!Q", int((now + _EPOCH) * 2**32))
    return bytes([0x24, 3, 4, 0xEC]) + bytes(12) + stamp + query[40:48] + stamp + stamp


def _question_name(query: bytes) -> tuple[str, int]:
    labels = []
    at = _HEADER
    while length := query[at]:
        labels.append(query[at + 1 : at + 1 + length].decode("ascii", "replace"))
        at += 1 + length
    return ".".join(labels), at + 1


def _look_up(name: str, kind: int, names: dict[str, str]) -> tuple[bool, bytes]:
    """Return whether the name exists, and its data of this kind, if any."""
    if name.endswith(_REVERSE):
        address = ".".join(reversed(name.removesuffix(_REVERSE).split(".")))
        found = next((host for host, known in names.items() if known == address), None)
        return found is not None, _encode(found) if found and kind == _PTR else b""
    known = names.get(name) or names.get(f"*.{name.partition('.')[2]}")
    return known is not None, IPv4Address(known).packed if known and kind == _A else b""


def _encode(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def metadata_of(path: str, instance: dict[str, str]) -> str | None:
    """Return what IMDS answers for a path, or None when it has nothing there.

    Args:
        path: As ``/latest/meta-data/placement/region``.
        instance: What is known of the instance that asks, by path below ``meta-data``.
    """
    if path.rstrip("/") == "/latest/dynamic/instance-identity/document":
        fields = {"instance-id": "instanceId", "instance-type": "instanceType", "placement/region": "region",
                  "placement/availability-zone": "availabilityZone", "local-ipv4": "privateIp"}  # fmt: skip
        return json.dumps({name: instance[key] for key, name in fields.items() if key in instance})
    if path == "/latest/user-data":
        return instance.get(USER_DATA)
    if not path.startswith("/latest/meta-data"):
        return None
    key = path.removeprefix("/latest/meta-data").strip("/")
    if key in instance:
        return instance[key]
    below = key + "/" if key else ""
    listed = {name[len(below) :].partition("/") for name in instance if name.startswith(below) and name != USER_DATA}
    return "\n".join(sorted({first + slash for first, slash, _ in listed})) or None


class _NameService(socketserver.BaseRequestHandler):
    state: State
    unknown: Path | None = None
    noted: ClassVar[set[tuple[str, str]]] = set()

    def handle(self) -> None:
        query, socket = self.request
        content = self.state.read()
        if content["name_service"]:  # else silence, as from a name service that is down
            said = answer(query, content["names"])
            self._note(query, known=said[3] & 15 == _NO_ERROR)
            socket.sendto(said, self.client_address)

    def _note(self, query: bytes, *, known: bool) -> None:
        """Note the name that a node looked up in vain: it wanted to go there."""
        asked = (self.client_address[0], _question_name(query)[0].lower())
        if not known and asked not in self.noted and self.unknown is not None:
            self.noted.add(asked)
            with self.unknown.open("a") as file:
                file.write(json.dumps({"address": asked[0], "host": asked[1]}) + "\n")


class _TimeService(socketserver.BaseRequestHandler):
    state: State

    def handle(self) -> None:
        query, socket = self.request
        ahead = self.state.read().get("seconds_ahead", 0)
        socket.sendto(time_answer(query, time.time() + ahead), self.client_address)


class MetadataServer(http.server.ThreadingHTTPServer):
    """The instance metadata service, which answers many nodes."""

    request_queue_size = 64  # all nodes of a cluster ask at once


class MetadataService(http.server.BaseHTTPRequestHandler):
    """A request for instance metadata (IMDSv2)."""

    state: State
    tokens: dict[str, float]

    def do_PUT(self) -> None:
        """Hand out a token."""
        ttl = self.headers.get(_TTL, "")
        if self.path != "/latest/api/token" or not ttl.isdigit() or not 1 <= int(ttl) <= _LONGEST_TTL:
            self._say(HTTPStatus.BAD_REQUEST)
            return
        token = secrets.token_urlsafe(32)
        self.tokens[token] = time.monotonic() + int(ttl)
        self._say(HTTPStatus.OK, token, **{_TTL: ttl})  # the AWS SDK for Go takes no token without it

    def do_GET(self) -> None:
        """Answer the instance that asks; version 2 only."""
        if self.tokens.get(self.headers.get("X-aws-ec2-metadata-token", ""), 0) < time.monotonic():
            self._say(HTTPStatus.UNAUTHORIZED)
            return
        instance = self.state.read()["instances"].get(self.client_address[0])
        found = metadata_of(self.path, instance) if instance else None
        self._say(HTTPStatus.NOT_FOUND if found is None else HTTPStatus.OK, found or "")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is the base class's
        """Keep quiet."""

    def _say(self, status: HTTPStatus, text: str = "", **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--name-service", required=True, help="address to answer DNS on")
    parser.add_argument("--time-service", required=True, help="address to answer NTP on")
    parser.add_argument("--metadata-service", required=True, help="address to answer IMDS on")
    parser.add_argument("--unknown-names", type=Path, help="where names that there are not are noted")
    chosen = parser.parse_args()
    _NameService.unknown = chosen.unknown_names
    _NameService.state = _TimeService.state = MetadataService.state = State(chosen.state)
    MetadataService.tokens = {}
    names = socketserver.UDPServer((chosen.name_service, 53), _NameService)
    metadata = MetadataServer((chosen.metadata_service, 80), MetadataService)
    hours = socketserver.UDPServer((chosen.time_service, 123), _TimeService)
    for service in (names, hours):
        threading.Thread(target=service.serve_forever, daemon=True).start()
    metadata.serve_forever()


if __name__ == "__main__":
    main()
