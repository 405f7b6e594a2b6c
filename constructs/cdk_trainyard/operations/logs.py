"""Log streams of CloudWatch Logs, read and followed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.operations.timeline import Event


@dataclass(frozen=True, kw_only=True, slots=True)
class Streams:
    """Log streams.

    Attributes:
        group: Their log group.
        prefix: How their names begin. Empty: all streams of the group.
    """

    group: str
    prefix: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of a log.

    Attributes:
        id: The id of the event of CloudWatch Logs.
        at: When it was written.
        stream: Its stream.
        text: The line.
    """

    id: str
    at: datetime
    stream: str
    text: str


FAILURES: Final = ("ERROR", "Error", "error", "FAILED", "Failed", "failed", "FATAL", "fatal", "Traceback")
"""Words of lines that say that something failed."""


def call(streams: Streams, since: datetime, words: Iterable[str] = ()) -> Call:
    """Return the call that tells of lines.

    Args:
        streams: Where.
        since: The time of the oldest line.
        words: A line has one of these. Default - every line. Source of the pattern: Amazon CloudWatch Logs user guide,
            "Filter pattern syntax", read 2026-11.
    """
    asked: dict[str, Any] = {"logGroupName": streams.group, "startTime": int(since.timestamp() * 1000)}
    if streams.prefix:
        asked["logStreamNamePrefix"] = streams.prefix
    if pattern := " ".join(f"?{word}" for word in words):
        asked["filterPattern"] = pattern
    return Call("logs", "FilterLogEvents", asked)


def lines(answer: Answer) -> Iterator[Line]:
    """Yield the lines of an answer.

    Args:
        answer: What CloudWatch Logs said.
    """
    for row in answer.items("events"):
        at = datetime.fromtimestamp(row["timestamp"] / 1000, UTC)
        yield Line(id=row["eventId"], at=at, stream=row["logStreamName"], text=row["message"].rstrip())


def failures(answer: Answer) -> Iterator[Event]:
    """Yield the lines that say that something failed while nodes were set up, as events.

    Args:
        answer: What CloudWatch Logs said.
    """
    for line in lines(answer):
        if any(word in line.text for word in FAILURES):
            yield Event(at=line.at, source="provisioning log", subject=line.stream, text=line.text, failed=True)


def read(account: Account, streams: Iterable[Streams], since: datetime) -> tuple[list[Line], list[Answer]]:
    """Return the lines of log streams in the order in which they were written, and what was refused.

    Args:
        account: The account.
        streams: Where; a group that is not there has no lines.
        since: The time of the oldest line.
    """
    answers = account.ask_all(call(each, since) for each in streams).values()
    found = sorted((line for answer in answers for line in lines(answer)), key=lambda line: (line.at, line.stream))
    return found, [answer for answer in answers if answer.refusal is not None and not answer.absent]
