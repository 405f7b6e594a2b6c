"""Accounts that keep what they were asked, and refuse what they are told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from cdk_trainyard import account
from cdk_trainyard.account import Answer, Call, Refusal, Why


class Asked:
    """What the accounts of a block were asked.

    Attributes:
        calls: The calls.
        requests: How many requests were sent for them: a page is one.
        sent: The permissions that the requests needed, those of clients that were called otherwise among them.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.requests = 0
        self.sent: set[str] = set()

    @property
    def permissions(self) -> set[str]:
        return {call.permission for call in self.calls}


@contextmanager
def asked(*denied: str) -> Iterator[Asked]:
    """Keep what accounts are asked during a block; these permissions they do not have."""
    kept = Asked()

    class Watched(account.Account):
        def client(self, service: str, region: str | None = None) -> Any:
            client = super().client(service, region)
            client.meta.events.register("before-send", _count, unique_id="watched")
            client.meta.events.register("before-call", partial(_note, service), unique_id="noted")
            return client

        def ask(self, call: Call) -> Answer:
            kept.calls.append(call)
            if call.permission in denied:
                text = f"User: me is not authorized to perform: {call.permission}"
                return Answer(call=call, refusal=Refusal(why=Why.DENIED, code="AccessDenied", text=text))
            return super().ask(call)

    def _note(service: str, model: Any, **_more: object) -> None:
        kept.sent.add(Call(service, model.name).permission)

    def _count(**_more: object) -> None:
        kept.requests += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(account, "Account", Watched, raising=False)
        yield kept
