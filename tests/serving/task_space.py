"""A program: a task in a network of its own, with what it would find there, and its agent as it was deployed.

It gets what was deployed as JSON, and prints what arrived. Around the agent: the task's metadata and its role's
credentials (169.254.170.2), an engine, a node_exporter, and a workspace that refuses what is not signed with them. The
workspace is shut until the agent has been sent away twice.
"""

import io
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.access.signature import Signature, is_signed_with, signature_of

KEY = Credentials(access_key_id="ASIAEXAMPLE", secret_access_key="example", session_token="token")  # noqa: S106
TASK = "arn:aws:ecs:us-west-2:111111111111:task/models/158d1c8083dd49d6b527399fd6414f5c"
STORE = "http://127.0.0.1:9090"
PATIENCE = 240
seen: dict[str, Any] = {"shut": 0, "unsigned": 0, "written": 0, "region": "", "service": "", "paths": []}
arrived = threading.Event()


class Quiet(BaseHTTPRequestHandler):
    """Answers, and logs nothing."""

    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Stay silent."""


class Metadata(Quiet):
    """Task metadata (version 4) and the credentials of the task's role, as ECS's agent has them."""

    def do_GET(self) -> None:
        if self.path.endswith("/task"):
            self.answer(200, json.dumps({"Cluster": "models", "TaskARN": TASK, "Family": "f"}).encode())
        else:
            told = {
                "AccessKeyId": KEY.access_key_id,
                "SecretAccessKey": KEY.secret_access_key,
                "Token": KEY.session_token,
                "Expiration": "2099-01-01T00:00:00Z",
            }
            self.answer(200, json.dumps(told).encode())


class Engine(Quiet):
    """What an engine says at /metrics."""

    said = b""

    def do_GET(self) -> None:
        self.answer(200, self.said)


class Workspace(Quiet):
    """Takes what is signed with the role's credentials, to a Prometheus."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = signed_with(KEY, self, body)
        if signature is None:
            seen["unsigned"] += 1
            self.answer(403)
        elif seen["shut"] < 2:
            seen["shut"] += 1
            seen["opened"] = time.time()
            self.answer(503)
        else:
            seen.update(region=signature.region, service=signature.service, path=self.path)
            headers = {
                name: self.headers[name] for name in ("Content-Encoding", "Content-Type") if name in self.headers
            }
            request = urllib.request.Request(f"{STORE}/api/v1/write", body, headers)  # noqa: S310  in this space
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                seen["written"] += 1
                self.answer(answer.status)


def signed_with(key: Credentials, request: Quiet, body: bytes) -> Signature | None:
    """Return the signature of a request, when botocore makes the same one of it with this key."""
    environ: dict[str, Any] = {f"HTTP_{name.upper().replace('-', '_')}": said for name, said in request.headers.items()}
    environ |= {"REQUEST_METHOD": "POST", "RAW_URI": request.path, "QUERY_STRING": "", "wsgi.input": io.BytesIO(body)}
    signature = signature_of(environ)
    return signature if signature and is_signed_with(environ, signature, key) else None


def serve(handler: type[Quiet], host: str, port: int) -> None:
    threading.Thread(target=ThreadingHTTPServer((host, port), handler).serve_forever, daemon=True).start()


def ask(path: str, **words: str) -> Any:
    with urllib.request.urlopen(f"{STORE}/api/v1/{path}?{urllib.parse.urlencode(words)}") as told:  # noqa: S310
        return json.load(told)["data"]


def until(question: Any, shown: Any = seen) -> Any:
    """Return what a question is answered with, once it is."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if found := question():
                return found
        except OSError:
            pass
        time.sleep(0.2)
    raise TimeoutError(shown)


def main() -> None:
    """Run the task, wait for its samples, and print them."""
    said = json.load(sys.stdin)
    root = Path(said["root"])
    for words in (["link", "set", "lo", "up"], ["addr", "add", "169.254.170.2/32", "dev", "lo"]):
        subprocess.run(["ip", *words], check=True)  # noqa: S607
    Engine.said = said["metrics"].encode()
    serve(Metadata, "169.254.170.2", 80)
    serve(Engine, "127.0.0.1", 8080)
    serve(Workspace, "127.0.0.1", 9999)
    task = {
        "PATH": said["path"],
        "ROOT": str(root),
        "ECS_CONTAINER_METADATA_URI_V4": "http://169.254.170.2/v4/abc",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/abc",
        **said["environment"],
    }
    store = [*said["store"], f"--storage.tsdb.path={root}/store", "--web.listen-address=127.0.0.1:9090"]
    with (root / "log").open("w") as log:
        programs = [
            subprocess.Popen(words, stdout=log, stderr=log, env=environment)
            for words, environment in (
                (store, {**os.environ}),
                (said["exporter"], {**os.environ}),
                (said["agent"], task),
            )
        ]
        try:
            until(lambda: len(ask("query", query="up == 1")["result"]) == 3)
            series = ask("series", **{"match[]": '{cluster!=""}'})
            (first,) = ask("query", query='up{job="engine"}[10m]')["result"]
            json.dump({**seen, "series": series, "first": first["values"][0][0]}, sys.stdout)
        finally:
            for program in programs:
                program.terminate()
            sys.stderr.write((root / "log").read_text()[-4000:])


if __name__ == "__main__":
    main()
