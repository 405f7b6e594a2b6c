"""The nodes' egress proxy. Runs in their namespaces, as a program, and needs the standard library only.

A connection for a site's name gets the files of its directory; any other goes, decrypted, to a socket file. Every
request is noted: who asked which host for what, and whether it was signed::

    python egress_proxy_server.py --address 10.1.0.1 --certificate server.pem --socket aws.sock --site a.example=/srv/a
"""

import argparse
import contextlib
import http.server
import json
import select
import socket
import socketserver
import ssl
import sys
import threading
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PORT = 443
_BUFFER = 65536
_END = b"\r\n\r\n"
_LONGEST_HEAD = 65536


class Server(socketserver.ThreadingTCPServer):
    """Takes connections, and looks at the name that they ask for."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self, address: str, certificate: Path, relay: Path, sites: dict[str, Path], requests: Path | None = None
    ) -> None:
        super().__init__((address, PORT), Connection)
        self.relay = relay
        self.sites = sites
        self.requests = requests
        self.writing = threading.Lock()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        self.context.sni_callback = _note_name

    def note(self, address: str, request: dict[str, object]) -> None:
        """Note that a node asked for something."""
        if self.requests is not None:
            with self.writing, self.requests.open("a") as file:
                file.write(json.dumps({"address": address, **request}) + "\n")


class Connection(socketserver.BaseRequestHandler):
    """One connection of a node."""

    server: Server

    def handle(self) -> None:
        """Serve files, or pass everything on."""
        try:
            with self.server.context.wrap_socket(self.request, server_side=True) as near:
                name = getattr(near, "asked_for", None)
                if name in self.server.sites:
                    _Files(near, self.client_address, self.server, directory=str(self.server.sites[name]))
                else:
                    self._pass_on(near)
        except OSError as error:  # a node that is cut off, or does not trust this server
            sys.stderr.write(f"{self.client_address[0]}: {error}\n")

    def _pass_on(self, near: ssl.SSLSocket) -> None:
        """Pass on what each end says, until the far one has nothing more to say: that ends the connection.

        One thread does it: two in one TLS connection, a reader and a writer, corrupt OpenSSL's memory.
        """
        with socket.socket(socket.AF_UNIX) as far:
            far.connect(str(self.server.relay))
            passing = Requests()
            speaking: list[socket.socket] = [near, far]
            while far in speaking:
                decrypted = near in speaking and near.pending()
                ready = [near] if decrypted else select.select(speaking, [], [])[0]
                if far in ready and not _pass_some_on(far, near):
                    speaking.remove(far)
                if near in ready:
                    said = _pass_some_on(near, far)
                    for request in passing.feed(said):
                        self.server.note(self.client_address[0], request)
                    if not said:
                        speaking.remove(near)
                        far.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):  # an end that is gone already
            near.unwrap()


class _Files(http.server.SimpleHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Note what is asked, and serve it."""
        self.server.note(self.client_address[0], described("GET", self.path, self.headers))
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is the base class's
        """Keep quiet."""


def described(method: str, path: str, headers: Message) -> dict[str, object]:
    """Return what a request is for: host, path, whether somebody has signed it.

    Args:
        method: The method.
        path: The path with its query.
        headers: The headers.
    """
    query = parse_qs(urlsplit(path).query)
    signed = (headers["Authorization"] or "").startswith("AWS4-") or "X-Amz-Signature" in query
    host = (headers["Host"] or "").partition(":")[0].lower()
    return {"host": host, "method": method, "path": urlsplit(path).path, "signed": signed}


class Requests:
    """The requests of one connection of HTTP/1.1, whose bytes come in pieces. After what is no HTTP nothing is read."""

    def __init__(self) -> None:
        self._data = b""
        self._skip = 0
        self._chunked = False
        self._lost = False

    def feed(self, piece: bytes) -> list[dict[str, object]]:
        """Take the next bytes; return the requests whose heads are whole with them."""
        found: list[dict[str, object]] = []
        self._data += piece
        while not self._lost and self._step(found):
            pass
        return found

    def _step(self, found: list[dict[str, object]]) -> bool:
        """Read a body's part, a chunk's head or a request's head; return whether there may be more."""
        if self._skip:
            taken = min(self._skip, len(self._data))
            self._data, self._skip = self._data[taken:], self._skip - taken
            return not self._skip and bool(self._data)
        if self._chunked:
            return self._next_chunk()
        head, end, rest = self._data.partition(_END)
        if not end:
            self._lost = len(head) > _LONGEST_HEAD
            return False
        self._data = rest
        first, _, lines = head.lstrip(b"\r\n").partition(b"\r\n")
        words = first.decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):  # noqa: PLR2004  method, path, version
            self._lost = True
            return False
        headers = BytesHeaderParser().parsebytes(lines + _END)
        found.append(described(words[0], words[1], headers))
        self._chunked = (headers["Transfer-Encoding"] or "").lower() == "chunked"
        length = headers["Content-Length"] or "0"
        self._skip = 0 if self._chunked or not length.isdigit() else int(length)
        return bool(self._data)

    def _next_chunk(self) -> bool:
        line, end, rest = self._data.partition(b"\r\n")
        if not end:
            return False
        size = int(line.split(b";")[0] or b"0", 16)
        self._data, self._chunked = rest, size > 0
        self._skip = size + 2
        return bool(self._data)


def _note_name(connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
    connection.asked_for = name  # type: ignore[attr-defined]


def _pass_some_on(source: socket.socket, target: socket.socket) -> bytes:
    """Pass on what there is to read, and return it; nothing at the end."""
    data = source.recv(_BUFFER)
    target.sendall(data)
    return data


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True, help="where nodes find it")
    parser.add_argument("--certificate", type=Path, required=True, help="its key and certificate")
    parser.add_argument("--socket", type=Path, required=True, help="where everything else goes")
    parser.add_argument("--site", action="append", default=[], metavar="NAME=DIRECTORY", help="files under a name")
    parser.add_argument("--requests", type=Path, metavar="FILE", help="where every request is noted")
    chosen = parser.parse_args()
    sites = {name: Path(place) for name, _, place in (pair.partition("=") for pair in chosen.site)}
    Server(chosen.address, chosen.certificate, chosen.socket, sites, chosen.requests).serve_forever()


if __name__ == "__main__":
    main()
