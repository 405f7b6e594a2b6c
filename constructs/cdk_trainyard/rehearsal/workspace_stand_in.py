"""Stands in for what a metrics workspace has around Prometheus: its door, and SNS. Runs on a node, as a program.

Both are found on 443 under AWS's own names, over TLS, and told apart by them. The door, ``aps-workspaces``, hands
metrics on to Prometheus when they are signed for the service, and looks no closer; it is shut while there is the file
``--shut``. What SNS is told is a line of JSON in ``--messages``. Needs the standard library alone.
"""

import argparse
import json
import ssl
import urllib.error
import urllib.request
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

_PASSED_ON = ("Content-Encoding", "Content-Type", "X-Prometheus-Remote-Write-Version")
_PUBLISHED = (
    '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>1</MessageId>'
    "</PublishResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></PublishResponse>"
)


class StandIn(BaseHTTPRequestHandler):
    """Answers for both."""

    prometheus: str
    path_of_writes: str
    shut: Path
    messages: Path

    def do_POST(self) -> None:
        """Take metrics, or a message."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Host"].startswith("sns."):
            told = {name: value for name, (value, *_) in parse_qs(body.decode()).items()}
            with self.messages.open("a") as file:
                file.write(json.dumps(told) + "\n")
            self._say(HTTPStatus.OK, _PUBLISHED)
        elif "/aps/aws4_request," not in self.headers.get("Authorization", ""):
            self._say(HTTPStatus.FORBIDDEN, "metrics are to be signed for aps")
        elif self.path != self.path_of_writes:
            self._say(HTTPStatus.NOT_FOUND, f"there is no {self.path}")
        elif self.shut.exists():
            self._say(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self._say(*self._pass_on(body))

    def _pass_on(self, body: bytes) -> tuple[int, str]:
        kept = {name: self.headers[name] for name in _PASSED_ON}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.prometheus, body, kept)) as answer:  # noqa: S310
                return answer.status, ""
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except OSError as error:  # it has not started yet: the agent tries again
            return HTTPStatus.BAD_GATEWAY, str(error)

    def _say(self, status: int, text: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name that it has
        """Keep quiet."""


def main() -> None:
    """Answer until it is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certificate", required=True, help="PEM file with certificate and key")
    parser.add_argument("--prometheus", required=True, help="where metrics are passed on to")
    parser.add_argument("--path", required=True, help="the path that metrics are written to")
    parser.add_argument("--shut", type=Path, required=True, help="while there is this file, no metrics are taken")
    parser.add_argument("--messages", type=Path, required=True, help="where messages are kept")
    chosen = parser.parse_args()
    StandIn.prometheus, StandIn.path_of_writes = chosen.prometheus, chosen.path
    StandIn.shut, StandIn.messages = chosen.shut, chosen.messages
    server = ThreadingHTTPServer(("127.0.0.1", 443), StandIn)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chosen.certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


if __name__ == "__main__":
    main()
