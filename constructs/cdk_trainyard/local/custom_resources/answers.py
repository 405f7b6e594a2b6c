"""Where functions put their answers to CloudFormation: ``ResponseURL`` is an address on this server.

As the presigned address that CloudFormation gives, it needs no other key than itself, and takes one answer.
"""

import json
import secrets
from threading import Condition
from typing import Any

from cdk_trainyard.local.clients import endpoint

PATH = "/local-aws/answers/"
_TOKEN_BYTES = 32
_arrived = Condition()
_expected: set[str] = set()
_answers: dict[str, dict[str, Any]] = {}


def new_url() -> tuple[str, str]:
    """Return a token, and the address on which its answer is expected."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with _arrived:
        _expected.add(token)
    return token, f"{endpoint()}{PATH}{token}"


def put(token: str, body: bytes) -> bool:
    """Take an answer; return whether it was expected."""
    with _arrived:
        if token not in _expected:
            return False
        _expected.remove(token)
        _answers[token] = json.loads(body)
        _arrived.notify_all()
        return True


def take(token: str, patience_s: float) -> dict[str, Any] | None:
    """Return the answer to ``token``, waiting for it; ``None`` when none came, and none is expected any more."""
    with _arrived:
        _arrived.wait_for(lambda: token in _answers, timeout=patience_s)
        _expected.discard(token)
        return _answers.pop(token, None)
