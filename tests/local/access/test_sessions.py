"""Sessions of roles: what they are called, who has them, and what their keys are good for."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws, clients
from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.access.sessions import issue, principal_of
from cdk_trainyard.local.errors import ApiError

MakeRole = Callable[..., Any]
_ANYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}


def _assumed(client: Any, role: str, name: str) -> Credentials:
    made = client.assume_role(RoleArn=role, RoleSessionName=name)["Credentials"]
    return Credentials(
        access_key_id=made["AccessKeyId"],
        secret_access_key=made["SecretAccessKey"],
        session_token=made["SessionToken"],
    )


def _calls_as(aws: LocalAws, key: Credentials) -> str:
    return str(clients.client("sts", aws.region, key).get_caller_identity()["Arn"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [("i-0123456789abcdef0", "instance"), ("i-me", "assumed"), ("deployment", "assumed")],
)
def test_an_instances_session_is_called_by_its_id(aws: LocalAws, role: MakeRole, name: str, kind: str) -> None:
    made = role()
    key = _assumed(aws.client("sts"), made.arn, name)
    session = principal_of(key.access_key_id)
    assert session is not None
    assert (session.role_arn, session.role_name, session.name, session.kind) == (made.arn, made.name, name, kind)
    assert _calls_as(aws, key) == f"arn:aws:sts::{aws.account}:assumed-role/{made.name}/{name}"


def test_a_session_is_all_three_of_its_credentials(aws: LocalAws, role: MakeRole) -> None:
    whole = _assumed(aws.client("sts"), role().arn, "whole")
    other = _assumed(aws.client("sts"), role().arn, "other")
    for token in ("", "guessed", other.session_token):
        part = Credentials(
            access_key_id=whole.access_key_id, secret_access_key=whole.secret_access_key, session_token=token
        )
        with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
            _calls_as(aws, part)


def test_what_a_session_assumes_is_what_it_was(aws: LocalAws, role: MakeRole) -> None:
    """An instance that assumes a role is no administrator."""
    first, second = role(_ANYTHING), role()
    sts = clients.client("sts", aws.region, _assumed(aws.client("sts"), first.arn, "i-0123456789abcdef0"))
    session = principal_of(_assumed(sts, second.arn, "further").access_key_id)
    assert session is not None
    assert (session.role_arn, session.kind) == (second.arn, "instance")


def test_a_service_has_one_session_of_a_role(aws: LocalAws, role: MakeRole) -> None:
    made = role()
    first = issue(made.arn, "function", "function", aws.region)
    assert issue(made.arn, "function", "function", aws.region) is first
    assert issue(made.arn, "other", "function", aws.region) is not first
    assert _calls_as(aws, first.credentials).endswith("/function")


def test_there_are_no_sessions_of_roles_that_do_not_exist(aws: LocalAws) -> None:
    arn = f"arn:aws:iam::{aws.account}:role/nobody"
    with pytest.raises(ClientError, match=f"AccessDenied.*sts:AssumeRole on resource: {arn}"):
        aws.client("sts").assume_role(RoleArn=arn, RoleSessionName="nobody")
    with pytest.raises(ApiError, match=arn):
        issue(arn, "x", "function", aws.region)


def test_a_user_has_a_key_that_counts(aws: LocalAws) -> None:
    iam = aws.client("iam")
    iam.create_user(UserName="of-sessions")
    made = iam.create_access_key(UserName="of-sessions")["AccessKey"]
    key = Credentials(access_key_id=made["AccessKeyId"], secret_access_key=made["SecretAccessKey"])
    assert _calls_as(aws, key) == f"arn:aws:iam::{aws.account}:user/of-sessions"
    iam.delete_access_key(UserName="of-sessions", AccessKeyId=key.access_key_id)
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        _calls_as(aws, key)


@pytest.mark.usefixtures("empty_aws")
def test_keys_end_with_what_they_were_for(aws: LocalAws, role: MakeRole) -> None:
    key = _assumed(aws.client("sts"), role().arn, "over")
    aws.reset()
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        _calls_as(aws, key)
