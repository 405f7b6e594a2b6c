"""The gate of the server: what is let in, before anything is done.

Whatever this machine's browser shows may call a server on 127.0.0.1, and by a name that resolves to it may even read
the answers; so may every user of the machine. Neither knows the access key of this run.
"""

from collections.abc import Callable, Mapping
from typing import Any

from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.access.signature import Signature, is_signed_with, is_whole, signature_of
from cdk_trainyard.local.errors import ApiError

_OWN_NAMES = ("127.0.0.1", "localhost")
_NAMES_OF_AWS = (".amazonaws.com", ".amazonaws.com.cn")
"""Under which nodes of a rehearsal find it; who resolves them is AWS, and no stranger."""
_FROM_A_PAGE = ("cross-site", "same-site")
_CLOSED_PATHS = ("/moto-api", "/latest/meta-data/", "/latest/api/", "/favicon.ico")
"""moto's own: a dashboard, a reset of everything, instance metadata with made-up credentials."""

KeyOf = Callable[[str], Credentials | None]
"""Finds the credentials with an access key id."""


def check_source(environ: Mapping[str, Any], port: int) -> None:
    """Let in what calls this server by its own name, and no web page.

    Raises:
        ApiError: The request names another host, comes from a page, or asks for what is moto's own.
    """
    host, origin = environ.get("HTTP_HOST", ""), environ.get("HTTP_ORIGIN")
    own = [f"{name}:{port}" for name in _OWN_NAMES]
    if host not in own and not host.partition(":")[0].endswith(_NAMES_OF_AWS):
        raise _refusal(f"requests for the host '{host}' are refused: it is {' and '.join(own)}")
    if origin is not None and origin not in [f"http://{name}" for name in own]:
        raise _refusal(f"requests from pages of '{origin}' are refused")
    if environ.get("HTTP_SEC_FETCH_SITE") in _FROM_A_PAGE:
        raise _refusal("requests from pages of other sites are refused")
    if environ.get("PATH_INFO", "").startswith(_CLOSED_PATHS):
        raise _refusal("moto's own addresses are closed")


def check_signature(environ: dict[str, Any], key_of: KeyOf) -> Signature:
    """Let in what is signed with a key that this server has given out.

    Args:
        environ: The request.
        key_of: Finds a key that was given out.

    Raises:
        ApiError: The request is not signed, or with another key, or not this very request is, or no more.
    """
    if "AWSAccessKeyId=" in environ.get("QUERY_STRING", "") or environ.get("HTTP_AUTHORIZATION", "").startswith("AWS "):
        message = "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."
        raise ApiError("InvalidRequest", message)
    signature = signature_of(environ)
    if signature is None:
        raise ApiError("MissingAuthenticationToken", "Request is missing Authentication Token")
    key = key_of(signature.access_key_id)
    if key is None:
        raise ApiError("InvalidClientTokenId", "The security token included in the request is invalid.")
    if not is_signed_with(environ, signature, key):
        message = "The request signature we calculated does not match the signature you provided."
        raise ApiError("SignatureDoesNotMatch", message)
    if not is_whole(environ, signature):
        raise ApiError("AccessDenied", "There were headers present in the request which were not signed")
    if signature.is_expired:
        raise ApiError("AccessDenied", "Request has expired")
    return signature


def _refusal(reason: str) -> ApiError:
    return ApiError("AccessDenied", f"local AWS: {reason}")
