"""The content of a request, which is read before the service reads it."""

import io
from typing import Any


def body_of(environ: dict[str, Any]) -> bytes:
    """Return the content of a request, and leave it there to be read again."""
    stream = environ["wsgi.input"]
    if not isinstance(stream, io.BytesIO):
        chunked = environ.get("wsgi.input_terminated", False)
        stream = io.BytesIO(stream.read() if chunked else stream.read(int(environ.get("CONTENT_LENGTH") or 0)))
        environ["wsgi.input"] = stream
    return bytes(stream.getvalue())
