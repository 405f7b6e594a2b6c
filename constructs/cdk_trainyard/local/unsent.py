"""Calls of this process of its own server, answered in the thread that makes them: nothing is sent over a connection.

The application gets what a connection would have brought it, signature and all.
"""

from email.message import Message
from io import BytesIO
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from moto.core.botocore_stubber import MockRawResponse
from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import BaseWSGIServer
from werkzeug.test import run_wsgi_app


class _Read(MotoRequestHandler):
    """A request as it would have been read from a connection."""

    def __init__(self, request: AWSPreparedRequest, server: BaseWSGIServer) -> None:
        address = urlsplit(request.url)
        body = request.body.read() if hasattr(request.body, "read") else request.body or b""
        content = body.encode() if isinstance(body, str) else bytes(body)
        self.server, self.client_address, self.connection = server, ("127.0.0.1", 0), None
        self.command, self.request_version = request.method, "HTTP/1.1"
        self.path = request.url.partition(address.netloc)[2]
        self.rfile = BytesIO(content)
        self.headers = Message()
        self.headers["Host"] = address.netloc
        for name, value in request.headers.items():
            if name.lower() not in {"host", "content-length", "transfer-encoding"}:
                self.headers[name] = value.decode() if isinstance(value, bytes) else value
        self.headers["Content-Length"] = str(len(content))


def answer(request: AWSPreparedRequest, server: BaseWSGIServer) -> AWSResponse:
    """Return what a server answers to a request that a client of botocore is about to send.

    Args:
        request: The request.
        server: The server.
    """
    content, status, headers = run_wsgi_app(server.app, _Read(request, server).make_environ(), buffered=True)
    body = b"" if request.method == "HEAD" else b"".join(content)
    return AWSResponse(request.url, int(status.split(maxsplit=1)[0]), headers, MockRawResponse(body))
