"""Events of several sources as one time line, with the first cause. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        at: When.
        source: Who says it: ``CloudFormation``, ``HyperPod``, ``provisioning log``, ``Auto Scaling``, ``ECS``.
        subject: What it happened to: a stack's resource, a group, a node.
        text: What.
        failed: Whether something failed.
        is_step: Whether it is a step among many, of interest to who looks for it.
    """

    at: datetime
    source: str
    subject: str
    text: str
    failed: bool = False
    is_step: bool = False


_CONSEQUENCES: Final = re.compile(
    r"Resource (creation|update) cancelled|The following resource\(s\) failed to|"
    r"Embedded stack \S+ was not successfully|ROLLBACK_(IN_PROGRESS|COMPLETE|FAILED)"
)
"""What CloudFormation says of resources that failed because others had. Source: AWS CloudFormation user guide,
"Troubleshooting CloudFormation" and "Stack failure options", read 2026-11."""
_SAME: Final = timedelta(seconds=2)
"""Within it the same text is the same event: HyperPod tells a fault twice within a second
(awslabs/awsome-distributed-ai, hyperpod-mental-model.md, 2026-07)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeLine:
    """Events in their order.

    Attributes:
        events: The events, the oldest first.
        cause: The first that failed and is not the consequence of another. None: nothing failed.
    """

    events: tuple[Event, ...]
    cause: Event | None

    @classmethod
    def of(cls, events: Iterable[Event]) -> Self:
        """Join events.

        Args:
            events: The events, in any order.
        """
        kept: list[Event] = []
        last: dict[tuple[str, str, str, bool], datetime] = {}
        for event in sorted(events, key=_order):
            key = (event.source, event.subject, event.text, event.failed)
            if key not in last or event.at - last[key] > _SAME:
                kept.append(event)
                last[key] = event.at
        failed = [event for event in kept if event.failed]
        causes = [event for event in failed if not _CONSEQUENCES.search(event.text)]
        return cls(events=tuple(kept), cause=next(iter(causes or failed), None))


def _order(event: Event) -> tuple[datetime, bool, str, str, str]:
    """At the same moment what failed comes first, since the others follow from it."""
    return event.at, not event.failed, event.source, event.subject, event.text
