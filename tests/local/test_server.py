"""The server: on 127.0.0.1 only, one at a time, honest about what it lacks."""

import socket

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws, clients


def test_it_listens_on_loopback_only(aws: LocalAws) -> None:
    port = int(aws.endpoint.rsplit(":", 1)[1])
    assert aws.endpoint == f"http://127.0.0.1:{port}"
    with socket.create_connection(("127.0.0.1", port), timeout=60):
        pass
    with socket.socket() as other:
        other.settimeout(0.2)
        assert other.connect_ex(("127.0.0.2", port)) != 0


def test_fails_to_run_twice_in_a_process(aws: LocalAws) -> None:
    with pytest.raises(RuntimeError, match=f"a LocalAws runs in this process already, on {aws.endpoint}"):
        LocalAws().start()


def test_fails_before_it_is_entered() -> None:
    with pytest.raises(RuntimeError, match="this LocalAws does not run; enter it first"):
        LocalAws().endpoint  # noqa: B018  reading it is the point


def test_fails_for_a_number_that_is_no_account() -> None:
    with pytest.raises(ValueError, match="'4711' is no account number, which has 12 digits"):
        LocalAws(account="4711")


def test_clients_need_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients._Server, "connection", None)
    with pytest.raises(RuntimeError, match="no local AWS runs in this process"):
        clients.endpoint()


def test_clients_ignore_the_users_configuration(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert aws.client("sts", "ap-south-1").get_caller_identity()["Account"] == aws.account


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("cloudformation", "list_types", {}),
        ("cloudformation", "create_stack_set", {"StackSetName": "x"}),
        ("sagemaker", "update_cluster_software", {"ClusterName": "x"}),
        ("ec2", "describe_local_gateways", {}),
        ("kms", "list_grants", {"KeyId": "nobody"}),
    ],
)
def test_what_is_not_emulated_is_refused_at_once(
    aws: LocalAws, service: str, operation: str, parameters: dict[str, str]
) -> None:
    with pytest.raises(ClientError) as caught:
        getattr(aws.client(service), operation)(**parameters)
    code = caught.value.response["ResponseMetadata"]["HTTPStatusCode"]
    assert code in (400, 501), "a 500 would make every SDK try again for most of a minute"
