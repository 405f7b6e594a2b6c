"""Logs and accounting that cannot work are refused when the app is synthesized."""

from pathlib import Path

import pytest
from aws_cdk import Aws, CfnParameter, Stack
from aws_cdk import aws_s3 as s3

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.lifecycle import (
    DatabaseAccounting,
    LifecycleScripts,
    LogRotation,
    NodeLustre,
    NodeOpenZfs,
    NodeSettings,
    NodeSetup,
)

SECRET = "arn:aws:secretsmanager:us-west-2:111111111111:secret:db-AbCdEf"  # noqa: S105
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def scripts(
    stack: Stack,
    bucket: s3.IBucket,
    settings: NodeSettings,
    setup: NodeSetup,
    *,
    lustre: NodeLustre | None = None,
    openzfs: NodeOpenZfs | None = None,
) -> LifecycleScripts:
    wanted = NodeSettings(groups=settings.groups, setup=setup, lustre=lustre, openzfs=openzfs)
    return LifecycleScripts(stack, "Scripts", bucket=bucket, settings=wanted)


@pytest.mark.parametrize(
    ("setup", "problems"),
    [
        (
            NodeSetup(logs=LogRotation(days=0, size_mb=-1)),
            (
                "'settings.setup.logs.days' must be 1 to 3650, got 0",
                "'settings.setup.logs.size_mb' must be 1 to 100000 MB, got -1",
            ),
        ),
        (
            NodeSetup(rotate_logs=False, logs=LogRotation(days=3)),
            ("'settings.setup.logs' must be left out when 'rotate_logs' is false: nothing would heed it",),
        ),
        (
            NodeSetup(local_accounting=True, accounting=DatabaseAccounting(endpoint="db", secret_arn=SECRET)),
            (
                (
                    "'settings.setup.local_accounting' must be false beside 'accounting': Slurm keeps its accounting "
                    "in one place"
                ),
            ),
        ),
        (
            NodeSetup(accounting=DatabaseAccounting(endpoint="db", secret_arn="hunter2", port=0)),  # noqa: S106
            (
                "'settings.setup.accounting.port' must be 1 to 65535, got 0",
                (
                    "'settings.setup.accounting.secret_arn' must be the ARN of a secret, "
                    "arn:aws:secretsmanager:us-west-2:<account>:secret:<name>, got 'hunter2'"
                ),
            ),
        ),
        *(
            (
                NodeSetup(accounting=DatabaseAccounting(endpoint="db", secret_arn=SECRET, authority=path)),
                (f"'settings.setup.accounting.authority' must be an existing file that can be read, got '{path}'",),
            )
            for path in ("/no/such.pem", "/proc/self/mem", "/proc")
        ),
        (
            NodeSetup(accounting=DatabaseAccounting(endpoint="db", secret_arn=SECRET, authority=Aws.STACK_NAME)),
            (
                (
                    "'settings.setup.accounting.authority' must be known when the app is synthesized, got a Token; "
                    "write the file's name"
                ),
            ),
        ),
    ],
)
def test_fails_with_every_problem(
    stack: Stack, bucket: s3.IBucket, settings: NodeSettings, setup: NodeSetup, problems: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigurationError) as told:
        scripts(stack, bucket, settings, setup)
    assert told.value.problems == problems


def test_fails_with_an_authority_that_holds_no_certificate(
    stack: Stack, bucket: s3.IBucket, settings: NodeSettings, tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    accounting = DatabaseAccounting(endpoint="db", secret_arn=SECRET, authority=str(tmp_path / "ca.pem"))
    with pytest.raises(ConfigurationError) as told:
        scripts(stack, bucket, settings, NodeSetup(accounting=accounting))
    assert told.value.problems == (
        f"'settings.setup.accounting.authority' must hold certificates (PEM), got '{tmp_path / 'ca.pem'}' without one",
    )


def test_fails_with_two_file_systems_at_one_path(stack: Stack, bucket: s3.IBucket, settings: NodeSettings) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"'settings\.openzfs.mount_path' must differ from 'mount_path' of 'lustre', got '/fsx'",
    ):
        scripts(
            stack,
            bucket,
            settings,
            NodeSetup(),
            lustre=NodeLustre(dns_name="fs-1", mount_name="x"),
            openzfs=NodeOpenZfs(dns_name="fs-2", mount_path="/fsx"),
        )


def test_the_authority_is_uploaded_beside_the_scripts_and_changes_their_place(
    stack: Stack, bucket: s3.IBucket, settings: NodeSettings, tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_text(CERTIFICATE)
    with_it = DatabaseAccounting(endpoint="db", secret_arn=SECRET, authority=str(tmp_path / "ca.pem"))
    made = scripts(stack, bucket, settings, NodeSetup(accounting=with_it))
    assert made._bundle.find("accounting-ca.pem")
    assert made._bundle.find("accounting-ca.pem").data == CERTIFICATE.encode()


def test_tokens_pass(stack: Stack, bucket: s3.IBucket, settings: NodeSettings) -> None:
    word = CfnParameter(stack, "Word").value_as_string
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    accounting = DatabaseAccounting(endpoint=word, secret_arn=word, schema=word, port=number)
    assert scripts(stack, bucket, settings, NodeSetup(accounting=accounting)).s3_uri
