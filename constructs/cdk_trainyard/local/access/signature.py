"""Signature Version 4, as the receiver sees it: which key a request is signed with, and whether it really is.

As in "Create a signed AWS API request" (IAM User Guide), with the key in the ``Authorization`` header, and
"Authenticating Requests: Using Query Parameters" (Amazon S3 API Reference), with the key in the address.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qsl

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as SigningKey
from moto.core.request import environ_key_for_header

from cdk_trainyard.local.access.body import body_of
from cdk_trainyard.local.access.credentials import Credentials

_ALGORITHM = "AWS4-HMAC-SHA256"
_HEADER = re.compile(_ALGORITHM + r" Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})")
_SCOPE_PARTS = 5
_TIME = "%Y%m%dT%H%M%SZ"
_SIGNATURE = "X-Amz-Signature"
_UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """What a request says of its signature.

    Attributes:
        access_key_id: The key that it claims to be signed with.
        region: Region of the scope.
        service: Service of the scope, by its signing name: ``s3``, ``monitoring``.
        time: When it was signed, as ``20260131T100000Z``.
        headers: The names of the headers that are signed.
        value: The signature itself.
        token: The session that it claims to be of, or nothing.
        expires: For how many seconds the address is valid; ``None`` where the signature is in a header.
    """

    access_key_id: str
    region: str
    service: str
    time: str
    headers: tuple[str, ...]
    value: str
    token: str
    expires: int | None = None

    @property
    def is_expired(self) -> bool:
        """Whether the address was valid once, and is no more."""
        if self.expires is None:
            return False
        signed = datetime.strptime(self.time, _TIME).replace(tzinfo=UTC)
        return datetime.now(UTC) > signed + timedelta(seconds=self.expires)


def signature_of(environ: Mapping[str, Any]) -> Signature | None:
    """Return what a request says of its signature, or None when it has none that can be read."""
    found = _HEADER.fullmatch(environ.get("HTTP_AUTHORIZATION", ""))
    if found:
        token, time = environ.get("HTTP_X_AMZ_SECURITY_TOKEN", ""), environ.get("HTTP_X_AMZ_DATE", "")
        return _parsed(*found.groups(), time=time, token=token)
    query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
    if query.get("X-Amz-Algorithm") != _ALGORITHM:
        return None
    return _parsed(
        *(query.get(name, "") for name in ("X-Amz-Credential", "X-Amz-SignedHeaders", _SIGNATURE)),
        time=query.get("X-Amz-Date", ""),
        token=query.get("X-Amz-Security-Token", ""),
        expires=query.get("X-Amz-Expires", ""),
    )


def _parsed(
    credential: str, headers: str, value: str, *, time: str, token: str, expires: str | None = None
) -> Signature | None:
    scope = credential.split("/")
    if len(scope) != _SCOPE_PARTS or not _is_time(time) or not (expires is None or expires.isdecimal()):
        return None
    access_key_id, _, region, service, _ = scope
    return Signature(
        access_key_id=access_key_id,
        region=region,
        service=service,
        time=time,
        headers=tuple(headers.split(";")),
        value=value,
        token=token,
        expires=None if expires is None else int(expires),
    )


def _is_time(text: str) -> bool:
    try:
        datetime.strptime(text, _TIME)  # noqa: DTZ007  only whether it can be read
    except ValueError:
        return False
    return True


class _Recalculation(SigV4Auth):  # type: ignore[misc]
    """Signs what the sender says it has signed, and nothing more."""

    def headers_to_sign(self, request: AWSRequest) -> Any:
        """Return the signed headers, which are all that the request was given."""
        return request.headers

    def payload(self, request: AWSRequest) -> str:
        """Return the hash of the content, or what stands for it."""
        return str(request.context["payload"])


class _S3Recalculation(_Recalculation, S3SigV4Auth):  # type: ignore[misc]
    """The same with S3's paths, which are keys and not normalized."""


def is_whole(environ: Mapping[str, Any], signature: Signature) -> bool:
    """Return whether all is signed that must be: the host, and every header of AWS's that is there."""
    needed = {"HTTP_HOST", *(name for name in environ if name.startswith("HTTP_X_AMZ_"))}
    return needed <= {environ_key_for_header(name) for name in signature.headers}


def is_signed_with(environ: dict[str, Any], signature: Signature, key: Credentials) -> bool:
    """Return whether the signature of a request was made with ``key``, of this very request."""
    if not compare_digest(signature.token.encode(), key.session_token.encode()):
        return False
    of_s3 = signature.service == "s3"
    request = AWSRequest(method=environ["REQUEST_METHOD"], url=_url(environ))
    for name in signature.headers:
        request.headers[name] = environ.get(environ_key_for_header(name), "")
    request.context.update(timestamp=signature.time, payload=_payload(environ, signature))
    signer = (_S3Recalculation if of_s3 else _Recalculation)(
        SigningKey(key.access_key_id, key.secret_access_key), signature.service, signature.region
    )
    to_sign = signer.string_to_sign(request, signer.canonical_request(request))
    return compare_digest(signer.signature(to_sign, request), signature.value)


def _url(environ: Mapping[str, Any]) -> str:
    """Return the address as it was sent, without the signature."""
    path, _, query = environ["RAW_URI"].partition("?")
    kept = [pair for pair in query.split("&") if pair.partition("=")[0] != _SIGNATURE]
    return f"http://{environ['HTTP_HOST']}{path}?{'&'.join(kept)}"


def _payload(environ: dict[str, Any], signature: Signature) -> str:
    said = environ.get("HTTP_X_AMZ_CONTENT_SHA256")
    if said:
        return str(said)
    if signature.service == "s3" and signature.expires is not None:
        return _UNSIGNED_PAYLOAD
    return sha256(body_of(environ)).hexdigest()
