"""What answers a request: moto's services and this package's own, behind the gate."""

import logging
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from cdk_trainyard.local import faults
from cdk_trainyard.local.access.authorization import authorize, status_of
from cdk_trainyard.local.access.body import body_of
from cdk_trainyard.local.access.call import call_of, of_prometheus
from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.access.gate import check_signature, check_source
from cdk_trainyard.local.access.refusals import StartResponse, refuse, service_of
from cdk_trainyard.local.access.sessions import caller, key_of, principal_of
from cdk_trainyard.local.access.signature import signature_of
from cdk_trainyard.local.custom_resources import answers
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services import grafana, imagebuilder, prometheus

_log = logging.getLogger(__name__)
_Environ = dict[str, Any]
Application = Callable[[_Environ, StartResponse], Iterable[bytes]]
_LACKING: Final[Mapping[str, Application]] = {
    grafana.NAME: grafana.respond,
    imagebuilder.NAME: imagebuilder.respond,
}
"""Services that moto lacks."""


def application(administrator: Credentials) -> Application:
    """Return the application of a server, as WSGI knows it.

    Args:
        administrator: The key of this run, which may do everything.
    """
    inner = DomainDispatcherApplication(create_backend_app)

    def key(access_key_id: str) -> Credentials | None:
        return administrator if access_key_id == administrator.access_key_id else key_of(access_key_id)

    def served(environ: _Environ, service: str) -> Application:
        if service == "amp" and of_prometheus(environ):
            return prometheus.respond
        return _LACKING.get(service, inner)

    def gate(environ: _Environ, start_response: StartResponse) -> Iterable[bytes]:
        path, signature = environ.get("PATH_INFO", ""), signature_of(environ)
        service = service_of(signature.service, path) if signature else ""
        try:
            check_source(environ, int(environ["SERVER_PORT"]))
            if path.startswith(answers.PATH):
                return _take_answer(environ, start_response, path.removeprefix(answers.PATH))
            signature = check_signature(environ, key)
            session = principal_of(signature.access_key_id)
            if session is not None:
                authorize(session, call_of(environ, body_of(environ), service, signature.region))
        except ApiError as refusal:
            return refuse(environ, start_response, refusal, service, status_of(refusal, service))
        token = caller.set(session)
        try:
            return faults.answer(environ, start_response, service, signature.region, served(environ, service))
        except Exception as error:  # noqa: BLE001  moto raises anything
            _log.exception("not emulated: %s %s", environ.get("HTTP_X_AMZ_TARGET", ""), path)
            # moto raises on what it does not know. A 500 makes every SDK try again for most of a minute; a 501 does not
            answer = ApiError("NotImplemented", f"local AWS: {type(error).__name__}: {error}")
            return refuse(environ, start_response, answer, service, HTTPStatus.NOT_IMPLEMENTED)
        finally:
            caller.reset(token)

    return gate


def _take_answer(environ: _Environ, start_response: StartResponse, token: str) -> Iterable[bytes]:
    """Take a custom resource's answer to CloudFormation.

    Raises:
        ApiError: Nobody waits for it.
    """
    if environ["REQUEST_METHOD"] != "PUT" or not answers.put(token, body_of(environ)):
        raise ApiError("AccessDenied", "Request has expired")
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b""]
