"""The nodes' egress proxy: the local AWS and stand-ins of package repositories, under their own names, over TLS.

A node resolves ``s3.us-west-2.amazonaws.com`` or a repository's name, meets a server with a certificate that its image
trusts, and needs neither another address nor another program than on AWS. Nothing else can be reached: a rehearsal's
namespaces have no network but their own, and this server's one way to this machine is a socket file.
"""

import shutil
import socket
import socketserver
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.namespaces import STATE, Namespaces
from cdk_trainyard.rehearsal.nodes import NodeFile

SERVICES = ("autoscaling", "cloudformation", "ec2", "logs", "s3", "ssm", "sts")
"""The services of the local AWS that the nodes' scripts may call."""

_TRUSTED = ("/etc/ssl/certs/ca-certificates.crt", "/usr/lib/python3/dist-packages/awscli/botocore/cacert.pem")
"""Where the node image keeps the authorities that it trusts; the AWS CLI brings a list of its own."""

_DIRECTORY = STATE / "egress-proxy"
REQUESTS = _DIRECTORY / "requests"
"""Every request of a node, a line of JSON each."""
PROXY_LOG = _DIRECTORY / "log"
"""What the server writes when something goes wrong in it."""

_DAYS = 30
_BUFFER = 65536


def service_names(region: str) -> list[str]:
    """Return the names under which the services of a region are found; S3 has one for each bucket, too."""
    return [f"{service}.{region}.amazonaws.com" for service in (*SERVICES, "*.s3")]


@dataclass(frozen=True, kw_only=True)
class Authority:
    """A certificate authority of this rehearsal, and what it has signed for the server.

    Attributes:
        certificate: Its own certificate (PEM), which nodes trust.
        server: Certificate and key of the server (PEM).
    """

    certificate: bytes
    server: bytes

    @classmethod
    def for_names(cls, names: Sequence[str]) -> Self:
        """Make an authority and the certificate of a server with these names."""
        own_key, own = _certificate("rehearsal", [], signer=None)
        key, certificate = _certificate("egress proxy", names, signer=(own_key, own))
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return cls(certificate=_pem(own), server=secret + _pem(certificate))


@dataclass(kw_only=True)
class EgressProxy:
    """What nodes reach beyond their subnet. Use it in a ``with`` block, around the machines'.

    Attributes:
        endpoint: The local AWS, ``http://127.0.0.1:<port>``.
        region: Its region.
        sites: Further names, and the directories of this machine whose files they serve.
    """

    endpoint: str
    region: str
    sites: Mapping[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare names and certificates."""
        self.names = [*service_names(self.region), *self.sites]
        self._authority = Authority.for_names(self.names)
        self._place = Path(tempfile.mkdtemp(prefix="egress-proxy-"))
        self._server = _Relay(str(self._place / "aws.sock"), (urlsplit(self.endpoint).port or 80))

    def __enter__(self) -> Self:
        """Begin to pass on."""
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="egress-proxy", daemon=True
        ).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        shutil.rmtree(self._place, ignore_errors=True)

    def trust(self, image: Path) -> dict[str, NodeFile]:
        """Return the files with the authorities that a node trusts: those of the image, and this rehearsal's."""
        return {
            name: NodeFile(text=(image / name.lstrip("/")).read_bytes() + self._authority.certificate)
            for name in _TRUSTED
        }

    def open(self, namespaces: Namespaces, address: str) -> None:
        """Start the server in a rehearsal's namespaces, at an address of its switch.

        Raises:
            RehearsalError: It does not start.
        """
        directory = namespaces.path(_DIRECTORY)
        directory.mkdir(parents=True)
        (directory / "server.pem").write_bytes(self._authority.server)
        sites = []
        for name, source in self.sites.items():
            (directory / name).mkdir()
            namespaces.run("mount", "--bind", str(source), str(_DIRECTORY / name))
            sites.append(f"--site={name}={_DIRECTORY / name}")
        words = [
            sys.executable, "-I", "-B", str(Path(__file__).parent / "egress_proxy_server.py"), f"--address={address}",
            f"--certificate={_DIRECTORY / 'server.pem'}", f"--socket={self._place / 'aws.sock'}", *sites,
            f"--requests={REQUESTS}",
        ]  # fmt: skip
        log_file = namespaces.path(PROXY_LOG)
        with log_file.open("w") as log:
            process = namespaces.start(words, output=log)

        def listens() -> bool:
            if process.poll() is not None:
                raise RehearsalError(f"the nodes' egress proxy does not run: {log_file.read_text()}")
            return ":01BB " in namespaces.run("cat", "/proc/net/tcp").out  # port 443 as the kernel writes it

        wait_for("the nodes' egress proxy", listens, seconds=300, every=0.05)


class _Relay(socketserver.ThreadingUnixStreamServer):
    """Passes connections to a socket file on to a port of this machine."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path: str, port: int) -> None:
        super().__init__(path, _Connection)
        self.port = port


class _Connection(socketserver.BaseRequestHandler):
    server: _Relay

    def handle(self) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.server.port)) as far:
            back = threading.Thread(target=_copy, args=(far, self.request), daemon=True)
            back.start()
            _copy(self.request, far)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Pass on what one end says until it has nothing more to say."""
    with suppress(OSError):  # an end is gone: so is what it had to say
        while data := source.recv(_BUFFER):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


_Key = ec.EllipticCurvePrivateKey


def _certificate(
    name: str, names: Sequence[str], *, signer: tuple[_Key, x509.Certificate] | None
) -> tuple[_Key, x509.Certificate]:
    """Make a key and its certificate: an authority's own without a signer, else a server's."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer[1].subject if signer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
    )
    if names:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(one) for one in names])
        builder = builder.add_extension(alternatives, critical=False)
    return key, builder.sign(signer[0] if signer else key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
