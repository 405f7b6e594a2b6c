"""One line of a diagnosis: what is needed, what the account has, and who said so."""

from dataclasses import dataclass
from enum import StrEnum

from cdk_trainyard.account import Answer, Call, Why


class Verdict(StrEnum):
    """What is to be said of a need."""

    SHORT = "short"
    """The account does not have it."""
    UNKNOWN = "unknown"
    """The account did not say, or its API does not tell."""
    NOT_ASKED = "not asked"
    """There are no credentials to ask with."""
    OK = "ok"
    """The account has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line of a diagnosis.

    Attributes:
        check: The check that it is of.
        needed: What the deployment needs.
        has: What the account has; AWS's words where it did not say.
        verdict: What is to be said of it.
        call: The call that said so. None: none was made.
        remedy: What to do: a command, or a sentence. Empty: nothing.
        at: Where the file says what needs it. Empty: no one place.
    """

    check: str
    needed: str
    has: str
    verdict: Verdict
    call: Call | None = None
    remedy: str = ""
    at: str = ""


def unanswered(check: str, needed: str, answer: Answer, at: str = "") -> Finding:
    """Return the finding of a call that was refused: never that all is well.

    Args:
        check: The check.
        needed: What the deployment needs.
        answer: What was answered.
        at: Where the file says it.
    """
    refusal = answer.refusal
    if refusal is None or refusal.why is Why.CREDENTIALS:
        return Finding(check=check, needed=needed, has="", verdict=Verdict.NOT_ASKED, call=answer.call, at=at)
    remedy = f"allow {answer.call.permission}" if refusal.why is Why.DENIED else ""
    return Finding(
        check=check, needed=needed, has=str(refusal), verdict=Verdict.UNKNOWN, call=answer.call, remedy=remedy, at=at
    )
