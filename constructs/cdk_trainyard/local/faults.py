"""Faults of an AWS that a test switches on: refusals, throttling, slow answers, empty pages, answers of before."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http import HTTPStatus
from threading import Lock
from typing import Any

from moto.core.errors import COMMON_ERROR_CODES

from cdk_trainyard.local.access.body import body_of
from cdk_trainyard.local.access.call import Call, call_of
from cdk_trainyard.local.access.refusals import StartResponse, refuse
from cdk_trainyard.local.clients import is_own
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.pages import empty_page, pages_of, without_token

_Environ = dict[str, Any]
_Application = Callable[[_Environ, StartResponse], Iterable[bytes]]
_TOKEN = "local-aws-after-an-empty-page"  # noqa: S105  no secret
_SERVER_ERRORS = {"InternalFailure", "InternalServerError", "ServiceUnavailable", "ServiceUnavailableException"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """What goes wrong with a call.

    Attributes:
        call: Which calls: service as boto3 names it and operation, with ``*`` and ``?`` as in names of files:
            ``"ec2 DescribeInstances"``, ``"sagemaker List*"``, ``"*"``.
        code: The code of the error that answers, as ``"ThrottlingException"`` or ``"AccessDeniedException"``.
            Default - no error.
        message: What the error says. Default: ``"Rate exceeded"`` of throttling, and else that a fault is on.
        seconds: How much later the answer comes. Default: 0.
        empty_first: Whether the first page of what has pages is empty, and says that there are more. Default: False.
        stale: Whether a call is answered as the same call was before, as a reading of something that is only
            eventually consistent may be; the first is answered as it is. Default: False.
        times: How many calls it concerns. Default - all.
    """

    call: str
    code: str = ""
    message: str = ""
    seconds: float = 0.0
    empty_first: bool = False
    stale: bool = False
    times: int | None = None


@dataclass(slots=True)
class _On:
    """A fault that is on, and what it has seen."""

    fault: Fault
    hits: int = 0
    before: dict[str, tuple[str, list[tuple[str, str]], bytes]] = field(default_factory=dict)


_on: list[_On] = []
_lock = Lock()


@contextmanager
def faults(*wanted: Fault) -> Iterator[None]:
    """Have faults during a block.

    Args:
        wanted: The faults; of several that concern a call, each has its effect, and the first error answers.
    """
    added = [_On(fault) for fault in wanted]
    COMMON_ERROR_CODES.extend(fault.code for fault in wanted)  # moto warns of those that a service's model lacks
    _on.extend(added)
    try:
        yield
    finally:
        for each in added:
            _on.remove(each)


def answer(
    environ: _Environ, start_response: StartResponse, service: str, region: str, inner: _Application
) -> Iterable[bytes]:
    """Answer a call with its faults, or as it is. What the local AWS asks itself has none.

    Args:
        environ: The request.
        start_response: Of WSGI.
        service: botocore's name of the service.
        region: Of the request's signature.
        inner: What answers.
    """
    if not _on or is_own(environ):
        return inner(environ, start_response)
    call = call_of(environ, body_of(environ), service, region)
    concerned = [each for each in list(_on) if _concerns(each, call)]
    time.sleep(sum(each.fault.seconds for each in concerned))
    wrong = next((each.fault for each in concerned if each.fault.code), None)
    if wrong is not None:
        return refuse(environ, start_response, _error(wrong), service, _status(wrong))
    if any(each.fault.empty_first for each in concerned) and (pages := pages_of(call)):
        if not call.get(pages.token):
            return empty_page(environ, start_response, call, pages, _TOKEN)
        if call.get(pages.token) == _TOKEN:
            environ = without_token(environ, call, pages)
    stale = next((each for each in concerned if each.fault.stale), None)
    return _as_before(stale, call, environ, start_response, inner) if stale else inner(environ, start_response)


def _concerns(each: _On, call: Call) -> bool:
    """Whether a fault concerns a call, which counts."""
    if not fnmatchcase(f"{call.service} {call.operation}", each.fault.call):
        return False
    with _lock:
        each.hits += 1
        return each.fault.times is None or each.hits <= each.fault.times


def _error(fault: Fault) -> ApiError:
    usual = "Rate exceeded" if "Throttl" in fault.code else f"local AWS: the fault {fault.code} is on"
    return ApiError(fault.code, fault.message or usual)


def _status(fault: Fault) -> HTTPStatus:
    return HTTPStatus.INTERNAL_SERVER_ERROR if fault.code in _SERVER_ERRORS else HTTPStatus.BAD_REQUEST


def _as_before(
    on: _On, call: Call, environ: _Environ, start_response: StartResponse, inner: _Application
) -> Iterable[bytes]:
    key = f"{call.service} {call.operation} {call.region} {sorted(call.parameters.items())}"
    if key not in on.before:
        said: list[Any] = []

        def take(status: str, headers: list[tuple[str, str]], *_more: Any) -> None:
            said[:] = [status, headers]

        body = b"".join(inner(environ, take))
        on.before[key] = (said[0], said[1], body)
    status, headers, body = on.before[key]
    start_response(status, headers)
    return [body]
