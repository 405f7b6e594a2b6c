"""A stand-in engine, and a reverse proxy that does what a synthesized door says: for the tests of the contract.

The proxy reads a template and nothing else: the listener's default action, its rules with their conditions and
actions, and the load balancer's idle time-out. Its clock runs ``HASTE`` times as fast as a real one.
"""

import base64
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from aws_cdk.assertions import Template
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

HASTE = 40
WORDS = ("Hello", " from", " inf2")


class Quiet(BaseHTTPRequestHandler):
    """Logs nothing, and speaks HTTP/1.1."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Stay silent."""

    def answer(self, status: int, body: bytes, content_type: str = "application/json") -> None:
        """Answer at once."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> bytes:
        """Read the request's body."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))


class Engine(Quiet):
    """The routes of TGI and vLLM that matter, with their answers."""

    environment: ClassVar[Mapping[str, str]] = {}
    key: ClassVar[str | None] = None
    payload_limit: ClassVar[int | None] = None

    def do_GET(self) -> None:
        """Answer what needs no body."""
        routes = {
            "/health": (200, b""),
            "/metrics": (200, b"tgi_queue_size 0\n"),
            "/info": (200, b"{}"),
            "/v1/models": (200, json.dumps({"object": "list", "data": [{"id": "llama", "object": "model"}]}).encode()),
        }
        self.answer(*routes.get(self.path, (404, b"")))

    def do_POST(self) -> None:
        """Answer a chat completion, whole or streamed."""
        body = self.body()
        if self.payload_limit is not None and len(body) > self.payload_limit:
            self.answer(413, b"")
        elif self.key is not None and self.headers.get("Authorization") != f"Bearer {self.key}":
            self.answer(401, b'{"error":"unauthorized"}')
        elif self.path != "/v1/chat/completions":
            self.answer(404, b"")
        else:
            self._complete(json.loads(body))

    def _complete(self, request: dict[str, Any]) -> None:
        silent = float(request.get("user") or 0)  # the one free field of the protocol: seconds of silence
        time.sleep(silent / HASTE)
        if not request.get("stream"):
            self.answer(200, json.dumps(_completion("".join(WORDS))).encode())
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for word in WORDS:
            self.wfile.write(f"data: {json.dumps(_chunk(word))}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


@dataclass(frozen=True)
class Door:
    """What a template says about a door."""

    default: Mapping[str, Any]
    rule: Mapping[str, Any]
    idle_seconds: float

    @classmethod
    def of(cls, template: Template) -> "Door":
        """Read a template."""

        def only(kind: str) -> dict[str, Any]:
            (found,) = template.find_resources(f"AWS::ElasticLoadBalancingV2::{kind}").values()
            return dict(found["Properties"])

        attributes = {entry["Key"]: entry["Value"] for entry in only("LoadBalancer")["LoadBalancerAttributes"]}
        return cls(
            default=only("Listener")["DefaultActions"][0]["FixedResponseConfig"],
            rule=only("ListenerRule"),
            idle_seconds=float(attributes["idle_timeout.timeout_seconds"]),
        )

    def lets_in(self, method: str, path: str) -> bool:
        """Whether every condition of the rule holds."""
        conditions = {condition["Field"]: condition for condition in self.rule["Conditions"]}
        paths = conditions.pop("path-pattern")["PathPatternConfig"]["Values"]
        methods = conditions.pop("http-request-method")["HttpRequestMethodConfig"]["Values"]
        assert conditions == {}, "the stand-in knows no further conditions"
        return method in methods and any(fnmatchcase(path, pattern) for pattern in paths)

    def accepts(self, authorization: str | None, keys: Mapping[str, rsa.RSAPublicKey]) -> bool:
        """Whether the token passes, where the rule verifies tokens."""
        actions = sorted(self.rule["Actions"], key=lambda action: action.get("Order", 0))
        verify = [action["JwtValidationConfig"] for action in actions if action["Type"] == "jwt-validation"]
        assert [action["Type"] for action in actions][-1] == "forward"
        return all(_verified(authorization, config, keys[config["JwksEndpoint"]]) for config in verify)


@contextmanager
def serve(
    door: Door,
    *,
    proxy: Callable[[Door, int, Mapping[str, rsa.RSAPublicKey]], AbstractContextManager[str]],
    keys: Mapping[str, rsa.RSAPublicKey] | None = None,
    api_key: str | None = None,
    payload_limit: int | None = None,
) -> Iterator[str]:
    """Run an engine and a proxy before it; yield the base URL of the proxy."""
    engine_type = type("TheEngine", (Engine,), {"key": api_key, "payload_limit": payload_limit})
    with _running(engine_type) as engine, proxy(door, engine, keys or {}) as url:
        yield url


@contextmanager
def stand_in_proxy(door: Door, engine: int, keys: Mapping[str, rsa.RSAPublicKey]) -> Iterator[str]:
    """Run this module's own proxy before an engine's port; yield its base URL."""
    proxy_type = type("TheProxy", (_Proxy,), {"door": door, "keys": keys, "target": engine})
    with _running(proxy_type) as port:
        yield f"http://127.0.0.1:{port}"


def token(key: rsa.RSAPrivateKey, **claims: Any) -> str:
    """Return a token (RS256) of an issuer."""
    header = _encode(json.dumps({"alg": "RS256", "typ": "JWT"}).encode())
    payload = _encode(json.dumps({"exp": time.time() + 3600, **claims}).encode())
    signature = key.sign(f"{header}.{payload}".encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{header}.{payload}.{_encode(signature)}"


class _Proxy(Quiet):
    door: ClassVar[Door]
    keys: ClassVar[Mapping[str, rsa.RSAPublicKey]]
    target: ClassVar[int]

    def _pass(self) -> None:
        body = self.body()
        if not self.door.lets_in(self.command, self.path):
            default = self.door.default
            self.answer(int(default["StatusCode"]), default["MessageBody"].encode(), default["ContentType"])
            return
        if not self.door.accepts(self.headers.get("Authorization"), self.keys):
            self.answer(401, b"")
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=self.door.idle_seconds / HASTE)
        try:
            connection.request(self.command, self.path, body, dict(self.headers))
            response = connection.getresponse()
        except TimeoutError:
            connection.close()
            self.answer(504, b"")
            return
        finally_close = response.headers.get("Content-Length") is None
        self.send_response(response.status)
        for name, value in response.headers.items():
            if name.lower() not in {"connection", "transfer-encoding"}:
                self.send_header(name, value)
        if finally_close:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        while piece := response.read1():
            self.wfile.write(piece)
            self.wfile.flush()
        connection.close()

    do_GET = do_POST = do_PUT = do_DELETE = _pass  # noqa: N815  the base class's names


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        """A caller that has gone is no failure of a test."""


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _verified(authorization: str | None, config: Mapping[str, Any], key: rsa.RSAPublicKey) -> bool:
    scheme, _, text = (authorization or "").partition(" ")
    parts = text.split(".")
    if scheme != "Bearer" or len(parts) != 3:
        return False
    try:
        key.verify(_decode(parts[2]), f"{parts[0]}.{parts[1]}".encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return False
    claims = json.loads(_decode(parts[1]))
    if claims.get("iss") != config["Issuer"] or claims.get("exp", 0) < time.time():
        return False
    return all(_has(claims.get(claim["Name"]), claim) for claim in config["AdditionalClaims"])


def _has(value: Any, claim: Mapping[str, Any]) -> bool:
    values = {
        "single-string": lambda: [value],
        "space-separated-values": lambda: str(value).split(),
        "string-array": lambda: list(value or []),
    }[claim["Format"]]()
    return any(each in claim["Values"] for each in values)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _completion(text: str) -> dict[str, Any]:
    return {
        "id": "chat-1", "object": "chat.completion", "created": 1, "model": "llama",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 3, "total_tokens": 4},
    }  # fmt: skip


def _chunk(text: str) -> dict[str, Any]:
    return {
        "id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "llama",
        "choices": [{"index": 0, "finish_reason": None, "delta": {"role": "assistant", "content": text}}],
    }  # fmt: skip
