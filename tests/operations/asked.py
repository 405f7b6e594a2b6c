"""Accounts that keep what they were asked, and refuse what they are told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cdk_trainyard import account
from cdk_trainyard.account import Answer, Call, Refusal, Why


class Asked:
    """What the accounts of a block were asked.

    Attributes:
        calls: The calls.
        requests: How many requests were sent for them: a page is one.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.requests = 0

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
            return client

        def ask(self, call: Call) -> Answer:
            kept.calls.append(call)
            if call.permission in denied:
                text = f"User: me is not authorized to perform: {call.permission}"
                return Answer(call=call, refusal=Refusal(why=Why.DENIED, code="AccessDenied", text=text))
            return super().ask(call)

    def _count(**_more: object) -> None:
        kept.requests += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(account, "Account", Watched, raising=False)
        yield kept
