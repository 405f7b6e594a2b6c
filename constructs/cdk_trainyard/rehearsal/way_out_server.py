"""The server at the nodes' way out. Runs in the capsule, as a program, and needs the standard library only.

A connection for a site's name gets the files of its directory; any other goes, decrypted, to a socket file::

    python way_out_server.py --address 10.1.0.1 --certificate server.pem --socket aws.sock --site example.com=/srv/x
"""

import argparse
import contextlib
import http.server
import select
import socket
import socketserver
import ssl
import sys
from pathlib import Path

PORT = 443
_BUFFER = 65536


class Server(socketserver.ThreadingTCPServer):
    """Takes connections, and looks at the name that they ask for."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: str, certificate: Path, relay: Path, sites: dict[str, Path]) -> None:
        super().__init__((address, PORT), Connection)
        self.relay = relay
        self.sites = sites
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        self.context.sni_callback = _note_name


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
            speaking: list[socket.socket] = [near, far]
            while far in speaking:
                decrypted = near in speaking and near.pending()
                ready = [near] if decrypted else select.select(speaking, [], [])[0]
                if far in ready and not _pass_some_on(far, near):
                    speaking.remove(far)
                if near in ready and not _pass_some_on(near, far):
                    speaking.remove(near)
                    far.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):  # an end that is gone already
            near.unwrap()


class _Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is the base class's
        """Keep quiet."""


def _note_name(connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
    connection.asked_for = name  # type: ignore[attr-defined]


def _pass_some_on(source: socket.socket, target: socket.socket) -> bool:
    """Pass on what there is to read; return whether there was anything before the end."""
    data = source.recv(_BUFFER)
    target.sendall(data)
    return bool(data)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True, help="where nodes find it")
    parser.add_argument("--certificate", type=Path, required=True, help="its key and certificate")
    parser.add_argument("--socket", type=Path, required=True, help="where everything else goes")
    parser.add_argument("--site", action="append", default=[], metavar="NAME=DIRECTORY", help="files under a name")
    chosen = parser.parse_args()
    sites = {name: Path(place) for name, _, place in (pair.partition("=") for pair in chosen.site)}
    Server(chosen.address, chosen.certificate, chosen.socket, sites).serve_forever()


if __name__ == "__main__":
    main()
