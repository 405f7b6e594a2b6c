"""How a call is refused: in the shape that errors have in the protocol of the service that was called."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from botocore.exceptions import UnknownServiceError
from moto.core.errors import COMMON_ERROR_CODES
from moto.core.model import OperationModel
from moto.core.request import determine_request_protocol
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model

from cdk_trainyard.local.errors import ApiError

StartResponse = Callable[..., Any]

_SERVICES = {
    "aps": "amp",
    "elasticfilesystem": "efs",
    "elasticloadbalancing": "elbv2",
    "monitoring": "cloudwatch",
    "servicequotas": "service-quotas",
    "states": "stepfunctions",
    "tagging": "resourcegroupstaggingapi",
}
"""botocore's names of services that sign with another one."""
COMMON_ERROR_CODES += [
    "AccessDenied",
    "AccessDeniedException",
    "AuthorizationError",
    "InvalidClientTokenId",
    "InvalidRequest",
    "MissingAuthenticationToken",
    "NotImplemented",
    "SignatureDoesNotMatch",
    "UnauthorizedOperation",
]
"""What every service may answer, and moto would otherwise warn of."""
_JSON, _QUERY, _REST_XML = "ssm", "sts", "s3"
"""A service of each protocol, for callers that do not say which one they call."""


def service_of(signing_name: str, path: str = "") -> str:
    """Return botocore's name of the service with a signing name; two have one, and differ in their paths."""
    if signing_name == "apigateway" and path.startswith("/v2/"):
        return "apigatewayv2"
    return _SERVICES.get(signing_name, signing_name)


def refuse(
    environ: dict[str, Any],
    start_response: StartResponse,
    error: ApiError,
    service: str = "",
    status: HTTPStatus = HTTPStatus.FORBIDDEN,
) -> Iterable[bytes]:
    """Answer a request with an error, as a WSGI application does.

    Args:
        environ: The request.
        start_response: Of WSGI.
        error: Code and message.
        service: botocore's name of the service that was called. Default - guessed from the kind of content.
        status: Of the answer.
    """
    content_type = environ.get("CONTENT_TYPE", "")
    try:
        model = get_service_model(service or _guess(content_type))
        protocol = determine_request_protocol(model, content_type)
    except (UnknownServiceError, NotImplementedError):
        model = get_service_model(_guess(content_type))
        protocol = str(model.protocol)
    serializer = get_serializer_class(model.service_name, protocol)(operation_model=OperationModel({}, model))
    answer = serializer.serialize(error)
    start_response(f"{status.value} {status.phrase}", list(answer["headers"].items()))
    body = answer["body"]
    if environ["REQUEST_METHOD"] == "HEAD":
        return []
    return [body.encode() if isinstance(body, str) else body]


def _guess(content_type: str) -> str:
    if "json" in content_type:
        return _JSON
    return _QUERY if content_type.startswith("application/x-www-form-urlencoded") else _REST_XML
