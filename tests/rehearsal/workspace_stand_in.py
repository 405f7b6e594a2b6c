"""Stands in for what a workspace has around Prometheus: its door, and the topic that its alert manager tells.

The door hands metrics on to Prometheus; it is shut while there is a file ``/run/shut``. It asks for no signature, since
Debian's build of Prometheus makes none. What the topic is told is a line of JSON in ``/root/messages``.
"""

import json
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

DOOR, TOPIC = 9009, 9010
PROMETHEUS = "http://127.0.0.1:9091/api/v1/write"
SHUT, MESSAGES = Path("/run/shut"), Path("/root/messages")
PUBLISHED = (
    '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>1</MessageId>'
    "</PublishResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></PublishResponse>"
)


class Handler(BaseHTTPRequestHandler):
    """What both have."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def say(self, status: int, text: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


class Door(Handler):
    """Lets metrics in, while it is open."""

    def do_POST(self) -> None:
        body = self.body()
        if SHUT.exists():
            self.say(503)
        else:
            names = ("Content-Encoding", "Content-Type", "X-Prometheus-Remote-Write-Version")
            kept = {name: self.headers[name] for name in names}
            with urllib.request.urlopen(urllib.request.Request(PROMETHEUS, body, kept)) as answer:
                self.say(answer.status)


class Topic(Handler):
    """Keeps what is published."""

    def do_POST(self) -> None:
        told = {name: value for name, (value, *_) in parse_qs(self.body().decode()).items()}
        with MESSAGES.open("a") as file:
            file.write(json.dumps(told) + "\n")
        self.say(200, PUBLISHED)


if __name__ == "__main__":
    Thread(target=ThreadingHTTPServer(("127.0.0.1", TOPIC), Topic).serve_forever, daemon=True).start()
    sys.exit(ThreadingHTTPServer(("127.0.0.1", DOOR), Door).serve_forever())
