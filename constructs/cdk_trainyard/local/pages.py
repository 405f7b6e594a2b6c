"""Pages of answers, as botocore's paginators describe them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlencode

from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from moto.core.request import determine_request_protocol
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model

from cdk_trainyard.local.access.body import body_of
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.access.refusals import StartResponse

_Environ = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pages:
    """How an operation has pages.

    Attributes:
        token: The parameter that asks for a further page.
        next: The member of the answer that tells it.
        results: The member of the answer that the page is about.
        more: The member of the answer that says whether there are more; empty: the token does.
    """

    token: str
    next: str
    results: str
    more: str


@lru_cache(maxsize=128)
def _pages(service: str, operation: str) -> Pages | None:
    try:
        known = Loader().load_service_model(service, "paginators-1")["pagination"].get(operation)
    except UnknownServiceError:
        known = None
    if known is None or not all(isinstance(known[name], str) for name in ("input_token", "output_token")):
        return None  # what has two tokens, S3's versions and Route 53's, has no empty page here
    results = known["result_key"]
    return Pages(
        token=known["input_token"],
        next=known["output_token"],
        results=results if isinstance(results, str) else results[0],
        more=known.get("more_results", ""),
    )


def pages_of(call: Call) -> Pages | None:
    """Return how the operation of a call has pages; None: it has none.

    Args:
        call: The call.
    """
    return _pages(call.service, call.operation)


def empty_page(
    environ: _Environ, start_response: StartResponse, call: Call, pages: Pages, token: str
) -> Iterable[bytes]:
    """Answer with a page that is empty, and is not the last.

    Args:
        environ: The request.
        start_response: Of WSGI.
        call: What it calls.
        pages: How that has pages.
        token: With which the next page is asked for.
    """
    model = get_service_model(call.service)
    protocol = determine_request_protocol(model, environ.get("CONTENT_TYPE", ""))
    serializer = get_serializer_class(call.service, protocol)(operation_model=model.operation_model(call.operation))
    said = {pages.results: [], pages.next: token} | ({pages.more: True} if pages.more else {})
    answer = serializer.serialize(said)
    start_response("200 OK", list(answer["headers"].items()))
    body = answer["body"]
    return [body.encode() if isinstance(body, str) else body]


def without_token(environ: _Environ, call: Call, pages: Pages) -> _Environ:
    """Return a request for the first page.

    Args:
        environ: The request for a further one.
        call: What it calls.
        pages: How that has pages.
    """
    model = get_service_model(call.service).operation_model(call.operation).input_shape
    name = str(model.members[pages.token].serialization.get("name", pages.token))
    body, kind = body_of(environ), environ.get("CONTENT_TYPE", "")
    if "json" in kind and body:
        body = json.dumps({key: value for key, value in json.loads(body).items() if key != name}).encode()
    elif "form" in kind:
        body = _without(body.decode(), name).encode()
    query = _without(environ.get("QUERY_STRING", ""), name)
    return {**environ, "QUERY_STRING": query, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}


def _without(query: str, name: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode([pair for pair in pairs if pair[0] != name]) if name in dict(pairs) else query
