"""What roles were asked for: every permission that their calls needed, and the policies that decided.

A recording is the same in every run of the same deployment: what has another name each time (a bucket, an instance) has
one that does not change, the same is told once, and rows are sorted. It holds what it takes to decide again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.access.names import Names
from cdk_trainyard.local.access.sessions import Session
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.accounts import current
from cdk_trainyard.local.state import Store
from cdk_trainyard.policy import Decision, Policies, Policy, Request

_OF_THE_MOMENT = {"aws:CurrentTime", "aws:EpochTime", "aws:TokenIssueTime"}
_LINE = ",\n"
_lock = RLock()


class Judgment(Protocol):
    """A permission that a call needs, and what the policies say of it."""

    @property
    def request(self) -> Request:
        """What was asked."""

    @property
    def policies(self) -> Policies:
        """What applies."""

    @property
    def decision(self) -> Decision:
        """What came of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedCall:
    """A call that a role's session made.

    Attributes:
        session: Who called.
        call: What was called.
        judgments: Each permission that it needed.
        error: What it was answered instead: code and message. None when it was let pass.
        time: When.
    """

    session: Session
    call: Call
    judgments: tuple[Judgment, ...]
    error: ApiError | None = None
    time: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def allowed(self) -> bool:
        """Whether every permission was there."""
        return self.error is None


@dataclass(slots=True)
class _Recording:
    calls: list[RecordedCall]
    names: Names


_RECORDINGS: Store[_Recording] = Store(lambda _account, _region: _Recording([], Names()))


def _recording() -> _Recording:
    return _RECORDINGS.of(current(), "aws-global")


def note(session: Session, call: Call, judgments: Iterable[Judgment], error: ApiError | None = None) -> None:
    """Remember a call, allowed or not."""
    with _lock:
        _recording().names.learn()  # what is deleted later has its name now
        _recording().calls.append(RecordedCall(session=session, call=call, judgments=tuple(judgments), error=error))


def calls() -> list[RecordedCall]:
    """Return every call that a role's session has made, in their order."""
    with _lock:
        return list(_recording().calls)


def recording() -> dict[str, Any]:
    """Return the recording: ``policies`` by name, and ``calls``, a row for each permission, which name them."""
    with _lock:
        names, made = _recording().names, list(_recording().calls)
        names.learn()
    judged = [(one, judgment) for one in made for judgment in one.judgments]
    policies = {
        policy.name: {"kind": policy.kind.name, "statements": [statement.source for statement in policy.statements]}
        for _, judgment in judged
        for policy in judgment.policies.all()
    }
    rows = {json.dumps(names.stable(_row(one, judgment)), sort_keys=True) for one, judgment in judged}
    return {
        "policies": names.stable(dict(sorted(policies.items()))),
        "calls": [json.loads(row) for row in sorted(rows)],
    }


def write(path: Path) -> None:
    """Write the recording to a file, a policy and a call in each line."""
    made = recording()
    policies = (
        f"{json.dumps(name)}: {json.dumps(policy, sort_keys=True)}" for name, policy in made["policies"].items()
    )
    rows = (json.dumps(row, sort_keys=True) for row in made["calls"])
    text = f'{{"policies": {{\n{_LINE.join(policies)}\n}},\n"calls": [\n{_LINE.join(rows)}\n]}}\n'
    path.write_text(text, encoding="utf-8")


def _row(one: RecordedCall, judgment: Judgment) -> Mapping[str, Any]:
    request, applying = judgment.request, judgment.policies
    return {
        "role": one.session.role_arn,
        "kind": one.session.kind,
        "call": f"{one.call.service}:{one.call.operation}",
        "action": request.action,
        "resource": request.resource,
        "keys": {name: value for name, value in request.keys.items() if name not in _OF_THE_MOMENT},
        "policies": {
            "identity": _named(applying.identity),
            "boundary": _named([applying.boundary]),
            "resource": _named(applying.resource),
            "endpoint": _named([applying.endpoint]),
        },
        "allowed": judgment.decision.allowed,
    }


def _named(policies: Iterable[Policy | None]) -> list[str]:
    return sorted(policy.name for policy in policies if policy is not None)
