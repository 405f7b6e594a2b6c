"""The environment: no way to a real account is left in it."""

import os

from cdk_trainyard.local.environment import environment

_INHERITED = {
    "PATH": "/bin",
    "AWS_PROFILE": "production",
    "AWS_ACCESS_KEY_ID": "AKIAREAL",
    "AWS_SESSION_TOKEN": "real",
    "AWS_ENDPOINT_URL_EC2": "https://elsewhere",
    "AWS_ROLE_ARN": "arn:aws:iam::1:role/real",
    "CDK_DEFAULT_ACCOUNT": "111111111111",
    "NO_PROXY": "corp.example.com",
}


def test_everything_of_a_real_account_is_dropped() -> None:
    found = environment("http://127.0.0.1:1", "us-west-2", _INHERITED)
    assert found == {
        "PATH": "/bin",
        "NO_PROXY": "corp.example.com,127.0.0.1,localhost",
        "no_proxy": "corp.example.com,127.0.0.1,localhost",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "local-123456789012",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_REGION": "us-west-2",
        "AWS_DEFAULT_REGION": "us-west-2",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": "123456789012",
        "CDK_DEFAULT_REGION": "us-west-2",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "1",
        "CDK_NOTICES": "false",
    }


def test_every_account_has_keys_of_its_own() -> None:
    """The cdk CLI remembers in the user's home which account a key is of, and refuses to deploy to another."""
    keys = {environment("http://127.0.0.1:1", "us-west-2", {}, number)["AWS_ACCESS_KEY_ID"] for number in ("1", "2")}
    assert len(keys) == 2


def test_nothing_inherited_is_enough() -> None:
    assert environment("http://127.0.0.1:1", "us-west-2", {})["NO_PROXY"] == "127.0.0.1,localhost"
