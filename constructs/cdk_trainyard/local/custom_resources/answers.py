"""Where functions put their answers to CloudFormation: ``ResponseURL`` is an address on this server."""

import json
from threading import Condition
from typing import Any
from uuid import uuid4

from cdk_trainyard.local.clients import endpoint

PATH = "/local-aws/answers/"
_arrived = Condition()
_answers: dict[str, dict[str, Any]] = {}


def new_url() -> tuple[str, str]:
    """Return a token, and the address on which its answer is expected."""
    token = uuid4().hex
    return token, f"{endpoint()}{PATH}{token}"


def put(token: str, body: bytes) -> None:
    """Take an answer."""
    with _arrived:
        _answers[token] = json.loads(body)
        _arrived.notify_all()


def take(token: str, patience_s: float) -> dict[str, Any] | None:
    """Return the answer to ``token``, waiting for it; ``None`` when none came."""
    with _arrived:
        _arrived.wait_for(lambda: token in _answers, timeout=patience_s)
        return _answers.pop(token, None)
