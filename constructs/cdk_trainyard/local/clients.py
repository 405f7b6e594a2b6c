"""boto3 clients of this very server, for the engine and for the resource tables.

They read nothing of the user's AWS configuration: no profile, no configuration file, no credentials.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from threading import RLock
from typing import Any

import boto3
import botocore.config
import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from werkzeug.serving import BaseWSGIServer

from cdk_trainyard.local import unsent
from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.shapes import fit

_LONGEST_LAMBDA_S = 900
_OWN = "local-aws-itself"
_CONFIG = botocore.config.Config(
    retries={"max_attempts": 0},
    read_timeout=_LONGEST_LAMBDA_S + 60,
    s3={"addressing_style": "path"},
    proxies={},
    user_agent_extra=_OWN,
)
_GIVEN = botocore.config.Config(user_agent_extra="")
_S3 = botocore.config.Config(signature_version="s3v4")  # presigned addresses, too
# What botocore would otherwise look up in the user's environment: (option, variable, default, conversion).
_SESSION_VARIABLES = {
    "profile": (None, None, None, None),
    "config_file": (None, None, os.devnull, None),
    "credentials_file": (None, None, os.devnull, None),
}
_lock = RLock()


class _Server:
    """The server of this process, where it listens, and the key of its administrator."""

    connection: tuple[BaseWSGIServer, str, Credentials] | None = None


def connect(server: BaseWSGIServer, endpoint: str, administrator: Credentials) -> None:
    """Point every client at ``server``, where calls are signed with the key of ``administrator``."""
    with _lock:
        _Server.connection = server, endpoint, administrator
        client.cache_clear()


def disconnect() -> None:
    """Point no client anywhere: the server has stopped."""
    with _lock:
        _Server.connection = None
        client.cache_clear()


def _connection() -> tuple[BaseWSGIServer, str, Credentials]:
    if _Server.connection is None:
        raise RuntimeError("no local AWS runs in this process; enter a LocalAws first")
    return _Server.connection


def endpoint() -> str:
    """Return where the server of this process listens."""
    return _connection()[1]


@lru_cache(maxsize=1)
def _session() -> Any:
    return boto3.Session(botocore_session=botocore.session.Session(session_vars=_SESSION_VARIABLES))


@lru_cache(maxsize=256)
def client(service: str, region: str, credentials: Credentials | None = None, *, own: bool = True) -> Any:
    """Return a boto3 client of ``service`` in ``region`` on this server.

    Args:
        service: boto3's name of the service.
        region: Region of the calls.
        credentials: Whose calls they are. Default - the administrator's.
        own: Whether the local AWS asks itself; such calls have no faults. Default: True.
    """
    _, endpoint, administrator = _connection()
    config = _CONFIG if own else _CONFIG.merge(_GIVEN)
    key = credentials or administrator
    with _lock:
        made = _session().client(
            service,
            region_name=region,
            endpoint_url=endpoint,
            aws_access_key_id=key.access_key_id,
            aws_secret_access_key=key.secret_access_key,
            aws_session_token=key.session_token or None,
            config=config.merge(_S3) if service == "s3" else config,
        )
        made.meta.events.register("before-send", _unsent)
        return made


def _unsent(request: AWSPreparedRequest, **_more: object) -> AWSResponse | None:
    """Answer a request of this process itself; one that is made after the server has stopped finds nobody."""
    return None if _Server.connection is None else unsent.answer(request, _Server.connection[0])


class _Session(boto3.Session):  # type: ignore[misc]  # boto3 has no types
    """A session whose clients speak to this server."""

    def client(self, *words: Any, **more: Any) -> Any:
        """Make a client."""
        return super().client(*words, **{"endpoint_url": endpoint(), **more})


def session(region: str) -> Any:
    """Return a session of boto3 whose clients are those of a user of this server.

    Args:
        region: Of clients that name none.
    """
    _, _, administrator = _connection()
    return _Session(
        botocore_session=botocore.session.Session(session_vars=_SESSION_VARIABLES),
        region_name=region,
        aws_access_key_id=administrator.access_key_id,
        aws_secret_access_key=administrator.secret_access_key,
    )


def is_own(environ: Mapping[str, Any]) -> bool:
    """Return whether the local AWS asks itself.

    Args:
        environ: The request.
    """
    return _OWN in environ.get("HTTP_USER_AGENT", "")


def input_shape(service: str, region: str, operation: str) -> Any:
    """Return botocore's shape of the parameters of ``operation`` (boto3's spelling, ``create_vpc``)."""
    meta = client(service, region).meta
    return meta.service_model.operation_model(meta.method_to_api_mapping[operation]).input_shape


def call(
    service: str,
    region: str,
    operation: str,
    parameters: Mapping[str, Any],
    dropped: list[str] | None = None,
    credentials: Credentials | None = None,
) -> dict[str, Any]:
    """Call ``operation`` with ``parameters`` as CloudFormation spells them, and return the answer.

    Args:
        service: boto3's name of the service.
        region: Region of the call.
        operation: boto3's name of the operation.
        parameters: Values in CloudFormation's spelling and types; see `shapes.fit`.
        dropped: Takes the paths of what the API does not know.
        credentials: Whose call it is. Default - the administrator's.
    """
    fitted = fit(parameters, input_shape(service, region, operation), [] if dropped is None else dropped)
    answer: dict[str, Any] = getattr(client(service, region, credentials), operation)(**fitted)
    answer.pop("ResponseMetadata", None)
    return answer
