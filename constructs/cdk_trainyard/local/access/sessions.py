"""Who calls: the administrator of this run, a user of IAM, or a role in one of its sessions."""

import re
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from moto.iam.exceptions import NotFoundException
from moto.iam.models import AccessKey, iam_backends
from moto.sts.models import AssumedRole, STSBackend, sts_backends
from moto.utilities.utils import get_partition

from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.access.trust import Kind, check_trust
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.accounts import current
from cdk_trainyard.local.services.api import replace
from cdk_trainyard.local.state import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A role's session.

    Attributes:
        role_arn: ARN of the role.
        name: Its name, the last part of the ARN of the assumed role: of an instance its id.
        kind: What has it: who called AssumeRole, a Lambda function, an instance, a task of ECS, a build of CodeBuild.
        credentials: What its calls are signed with.
    """

    role_arn: str
    name: str
    kind: Kind
    credentials: Credentials = field(repr=False)

    @property
    def role_name(self) -> str:
        """The role's name: the ARN's last part, after its path."""
        return self.role_arn.rpartition("/")[2]


_SESSIONS: Store[dict[str, Session]] = Store(lambda _account, _region: {})
_INSTANCE = re.compile(r"i-[0-9a-f]{8,17}")
_EVERYWHERE = "aws-global"
_assume = STSBackend.assume_role
caller: ContextVar[Session | None] = ContextVar("caller", default=None)
"""Whose call is answered in this thread; ``None`` when it is an administrator's, or nobody's."""


def _sessions() -> dict[str, Session]:
    return _SESSIONS.of(current(), _EVERYWHERE)


def principal_of(access_key_id: str) -> Session | None:
    """Return the session that an access key is of; ``None`` for the administrator and for users."""
    return _sessions().get(access_key_id)


def key_of(access_key_id: str) -> Credentials | None:
    """Return the credentials of a session or a user, or None when nobody was given that access key."""
    if session := principal_of(access_key_id):
        return session.credentials
    partitions = iam_backends[current()].values()
    found: AccessKey | None = next(
        (backend.access_keys[access_key_id] for backend in partitions if access_key_id in backend.access_keys), None
    )
    if found is None:
        return None
    return Credentials(access_key_id=access_key_id, secret_access_key=found.secret_access_key)


def issue(role_arn: str, name: str, kind: Kind, region: str) -> Session:
    """Return the session of a role that a service has for what it runs: the one that it had, or a new one.

    Args:
        role_arn: ARN of the role.
        name: Name of the session.
        kind: What has it.
        region: A region of the role's partition.

    Raises:
        ApiError: There is no such role, or it does not trust the service.
    """
    for known in list(_sessions().values()):
        if (known.role_arn, known.name, known.kind) == (role_arn, name, kind):
            return known
    backend = sts_backends[current()][get_partition(region)]
    return _keep(_assumed(backend, region, name, role_arn, kind, duration=3600), kind)


def _assumed(backend: STSBackend, region: str, name: str, role_arn: str, kind: Kind, **more: Any) -> AssumedRole:
    try:
        role = iam_backends[current()][get_partition(region)].get_role_by_arn(role_arn)
    except NotFoundException:
        message = f"User is not authorized to perform: sts:AssumeRole on resource: {role_arn}"
        raise ApiError("AccessDenied", message) from None
    check_trust(role, name, kind, region)
    given = {"policy": "", "external_id": "", **more}
    return _assume(backend, region_name=region, role_session_name=name, role_arn=role_arn, **given)


def _keep(made: AssumedRole, kind: Kind) -> Session:
    credentials = Credentials(
        access_key_id=made.access_key_id,
        secret_access_key=made.secret_access_key,
        session_token=made.session_token,
    )
    session = Session(role_arn=made.role_arn, name=made.session_name, kind=kind, credentials=credentials)
    _sessions()[made.access_key_id] = session
    return session


def _assume_role(self: STSBackend, region_name: str, role_session_name: str, role_arn: str, **more: Any) -> AssumedRole:
    """AssumeRole: what a role's session assumes stays what it was.

    EC2 names the session of an instance after it; who asks for one of that name is given an instance's.
    """
    by = caller.get()
    started: Kind = "instance" if not by and _INSTANCE.fullmatch(role_session_name) else "assumed"
    made = _assumed(self, region_name, role_session_name, role_arn, started, **more)
    _keep(made, by.kind if by else started)
    return made


def extend() -> None:
    """Have moto's STS give out sessions that this package knows."""
    replace(STSBackend, {"assume_role": _assume_role})
