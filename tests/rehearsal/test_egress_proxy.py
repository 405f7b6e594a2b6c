"""The nodes' way to AWS and to package repositories, and what it keeps out."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography import x509

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import EgressProxy, Machine, Machines, egress_proxy_server
from cdk_trainyard.rehearsal.asked import Asked, unknown_hosts
from cdk_trainyard.rehearsal.egress_proxy import Authority, service_names
from cdk_trainyard.rehearsal.hyperpod.agent import HyperPodAgent
from cdk_trainyard.rehearsal.metadata import answer
from tests.rehearsal.clusters import make_cluster
from tests.rehearsal.node_role import may_everything
from tests.rehearsal.test_metadata import query

REGION = "us-west-2"
_PIECE = 4096


def test_the_certificate_is_for_these_names_and_signed_by_the_authority() -> None:
    names = service_names(REGION)
    made = Authority.for_names(names)
    certificate = x509.load_pem_x509_certificate(made.server)
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(made.certificate))
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert found.get_values_for_type(x509.DNSName) == names


def test_a_bucket_has_a_name_of_its_own() -> None:
    names = {"*.s3.us-west-2.amazonaws.com": "10.0.0.1", "fs-1.fsx.us-west-2.amazonaws.com": "10.0.0.2"}
    assert answer(query("bucket.s3.us-west-2.amazonaws.com", 1), names).endswith(bytes([10, 0, 0, 1]))
    assert answer(query("fs-9.fsx.us-west-2.amazonaws.com", 1), names)[3] & 15 == 3  # no such name


class Echo(socketserver.StreamRequestHandler):
    """Answers a line with that many bytes, read and written in pieces as they come, and closes."""

    def handle(self) -> None:
        size = int(self.rfile.readline())
        for _ in range(size):
            self.wfile.write(self.rfile.read(_PIECE))


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, ssl.SSLContext]]:
    """The server in front of a program that answers what it is told: its port, and who trusts it."""
    made = Authority.for_names(["aws.example"])
    (tmp_path / "server.pem").write_bytes(made.server)
    monkeypatch.setattr(egress_proxy_server, "PORT", 0)
    relay = tmp_path / "aws.sock"
    with (
        socketserver.ThreadingUnixStreamServer(str(relay), Echo) as far,
        egress_proxy_server.Server("127.0.0.1", tmp_path / "server.pem", relay, {}) as server,
    ):
        for one in (far, server):
            one.daemon_threads = True
            threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield int(server.server_address[1]), ssl.create_default_context(cadata=made.certificate.decode())
        for one in (server, far):
            one.shutdown()


@pytest.mark.parametrize("talks", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_what_both_ends_say_at_once_is_passed_on_whole(echo: tuple[int, ssl.SSLContext], talks: int) -> None:
    port, trust = echo

    def talk(number: int) -> bool:
        pieces = [bytes([number % 251, piece % 251]) * (_PIECE // 2) for piece in range(40)]
        with (
            socket.create_connection(("127.0.0.1", port), timeout=300) as plain,
            trust.wrap_socket(plain, server_hostname="aws.example") as near,
        ):
            near.sendall(f"{len(pieces)}\n".encode())
            told = b""
            for piece in pieces:
                near.sendall(piece)
                told += near.recv(_PIECE)
            while data := near.recv(_PIECE):
                told += data
        return told == b"".join(pieces)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(talk, range(talks)))


@pytest.fixture(scope="module")
def machines(aws: LocalAws, image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines[HyperPodAgent]]:
    """One node with an egress proxy to the local AWS and to a site."""
    site = tmp_path_factory.mktemp("site")
    (site / "file").write_text("hello\n")
    egress_proxy = EgressProxy(endpoint=aws.endpoint, region=REGION, sites={"files.example": site})
    agent = HyperPodAgent(make_cluster(workers=0), bundles={})
    with (
        egress_proxy,
        Machines(agent, image=image, egress_proxy=egress_proxy, role_of=may_everything(aws, REGION)) as machines,
    ):
        machines.boot()
        yield machines


@pytest.fixture(scope="module")
def machine(machines: Machines[HyperPodAgent]) -> Machine:
    return machines.machine("controller-group-1")


@pytest.mark.nodes
def test_the_command_line_of_aws_reaches_the_local_one(machine: Machine, aws: LocalAws) -> None:
    bucket = aws.client("s3", REGION)
    bucket.create_bucket(Bucket="egress-proxy", CreateBucketConfiguration={"LocationConstraint": REGION})
    bucket.put_object(Bucket="egress-proxy", Key="folder/file", Body=b"from the bucket")
    copy = ["aws", "s3", "cp", "--recursive", "--only-show-errors", "s3://egress-proxy/folder/", "/root/folder/"]
    machine.run("env", f"AWS_DEFAULT_REGION={REGION}", *copy)  # with the role of its metadata service
    assert machine.run("cat", "/root/folder/file").out == "from the bucket"
    keys = ["AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", f"AWS_DEFAULT_REGION={REGION}"]
    assert "InvalidClientTokenId" in machine.run("env", *keys, *copy, check=False).err


@pytest.mark.nodes
def test_a_site_serves_its_files_and_nothing_above(machine: Machine) -> None:
    assert machine.run("curl", "-fsS", "https://files.example/file").out == "hello\n"
    assert machine.run("curl", "-fsS", "--path-as-is", "https://files.example/../server.pem", check=False).code == 22


@pytest.mark.nodes
def test_a_name_that_was_not_opened_leads_nowhere(machine: Machine) -> None:
    assert machine.run("curl", "-fsS", "https://iam.amazonaws.com/", check=False).code == 6  # no such name
    address = machine.run("getent", "ahostsv4", "files.example").out.split()[0]
    assert machine.run("curl", "-fsS", f"https://{address}/", check=False).code == 60  # no certificate for it


@pytest.mark.nodes
def test_what_a_node_asks_for_is_noted(machine: Machine, machines: Machines[HyperPodAgent], aws: LocalAws) -> None:
    bucket = aws.client("s3", REGION)
    bucket.create_bucket(Bucket="noted", CreateBucketConfiguration={"LocationConstraint": REGION})
    bucket.put_object(Bucket="noted", Key="file", Body=b"x")
    copy = ["aws", "s3", "cp", "--only-show-errors", "s3://noted/file", "/root/noted"]
    machine.run("env", f"AWS_DEFAULT_REGION={REGION}", *copy)
    machine.run("curl", "-fsS", "https://files.example/file?x=1")
    machine.run("curl", "-sS", "https://downloads.example.org/tool", check=False)
    asked = machines.asked()
    node = machine.node.name
    of_bucket = [one for one in asked if one.bucket == "noted"]
    assert {(one.node, one.host, one.path, one.signed) for one in of_bucket} == {
        (node, f"noted.s3.{REGION}.amazonaws.com", "/file", True)
    }
    assert Asked(node=node, host="files.example", path="/file") in asked
    assert Asked(node=node, host="downloads.example.org") in asked
    assert unknown_hosts(asked, REGION)["downloads.example.org"] == [node]
