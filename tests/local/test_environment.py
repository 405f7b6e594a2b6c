"""The environment: no way to a real account is left in it."""

import os

from cdk_trainyard.local.access.credentials import Credentials, new_credentials
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
_KEY = Credentials(access_key_id="AKIALOCAL", secret_access_key="hidden")  # noqa: S106  of no account
_SESSION = Credentials(access_key_id="ASIALOCAL", secret_access_key="hidden", session_token="token")  # noqa: S106


def test_everything_of_a_real_account_is_dropped() -> None:
    found = environment("http://127.0.0.1:1", "us-west-2", _INHERITED, _KEY)
    assert found == {
        "PATH": "/bin",
        "NO_PROXY": "corp.example.com,127.0.0.1,localhost",
        "no_proxy": "corp.example.com,127.0.0.1,localhost",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "AKIALOCAL",
        "AWS_SECRET_ACCESS_KEY": "hidden",
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


def test_a_session_has_its_token() -> None:
    found = environment("http://127.0.0.1:1", "us-west-2", _INHERITED, _SESSION)
    assert _SESSION.variables.items() <= found.items()
    assert len(_SESSION.variables) == 3


def test_no_key_comes_again() -> None:
    """The cdk CLI remembers in the user's home which account a key is of, and refuses to deploy to another."""
    keys = [new_credentials() for _ in range(100)]
    assert len({key.access_key_id for key in keys}) == len({key.secret_access_key for key in keys}) == 100
    assert {len(key.access_key_id) for key in keys} == {20}


def test_no_secret_is_shown() -> None:
    assert repr(_SESSION) == "Credentials(access_key_id='ASIALOCAL')"


def test_nothing_inherited_is_enough() -> None:
    assert environment("http://127.0.0.1:1", "us-west-2", {}, _KEY)["NO_PROXY"] == "127.0.0.1,localhost"
