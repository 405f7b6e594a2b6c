"""A call of an API, as its parameters say it: read from the request, before the service reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.utils import get_service_model
from moto.utilities.utils import get_partition
from werkzeug.exceptions import NotFound

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.accounts import current


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call of an API.

    Attributes:
        service: botocore's name of the service.
        operation: Its name in the API: ``GetObject``.
        parameters: As boto3 takes them.
        region: Where it is made.
    """

    service: str
    operation: str
    parameters: Mapping[str, Any]
    region: str

    @property
    def account(self) -> str:
        """The account that is called: there is one."""
        return current()

    @property
    def partition(self) -> str:
        """Partition of the region."""
        return get_partition(self.region)

    def get(self, name: str) -> Any:
        """Return a parameter, or None."""
        return self.parameters.get(name)


_PROMETHEUS = re.compile(r"/workspaces/([^/]+)/api/v1/(\w+)")
_OF_PROMETHEUS = {
    ("POST", "remote_write"): "RemoteWrite",
    **{(method, path): "QueryMetrics" for method in ("GET", "POST") for path in ("query", "query_range")},
}
"""Operations of no service model: Prometheus and who speaks its API call them."""


def of_prometheus(environ: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return operation and workspace of a request to Prometheus' API of a workspace, or None of any other request.

    Args:
        environ: The request.
    """
    found = _PROMETHEUS.fullmatch(environ.get("PATH_INFO", ""))
    operation = _OF_PROMETHEUS.get((environ["REQUEST_METHOD"], found[2])) if found else None
    return (operation, found[1]) if found and operation else None


def call_of(environ: Mapping[str, Any], body: bytes, service: str, region: str) -> Call:
    """Return the call that a request makes.

    Args:
        environ: The request, which stays as it is.
        body: Its content.
        service: botocore's name of the service.
        region: Of the request's signature.

    Raises:
        ApiError: The service has no such operation.
    """
    if service == "amp" and (asked := of_prometheus(environ)):
        return Call(service=service, operation=asked[0], parameters={"workspaceId": asked[1]}, region=region)
    request = Request({**environ, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))})
    try:
        operation, uri_params = get_service_router(service).match(request)
    except NotFound:
        message = f"local AWS: {service} has no operation for {request.method} {request.path}"
        raise ApiError("NotImplemented", message) from None
    protocol = determine_request_protocol(get_service_model(service), request.content_type)
    parsed = PROTOCOL_PARSERS[protocol](operation).parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": body,
            "url_path": request.path,
            "url_params": uri_params,
        }
    )
    return Call(service=service, operation=operation.name, parameters=parsed, region=region)
