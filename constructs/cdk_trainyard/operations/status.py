"""How a deployment is: its stacks, what runs on nodes, file systems, alarms, the last events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.operations.deployed import Deployed, Stack
from cdk_trainyard.operations.events import events_of
from cdk_trainyard.operations.protocol import Condition, Listing, System
from cdk_trainyard.operations.timeline import Event, TimeLine

_LAST: Final = 5
"""How many events a status has."""
_MOST_ALARMS: Final = 100
_MOST_SYSTEMS: Final = 50
"""The most that DescribeAlarms and DescribeFileSystems take by name (botocore's models of CloudWatch and FSx)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """A file system of FSx.

    Attributes:
        id: Its id.
        kind: ``LUSTRE``.
        state: Its state: ``AVAILABLE``.
        size_gib: Its capacity.
        failure: Why it failed. Empty: it did not.
    """

    id: str
    kind: str
    state: str
    size_gib: int
    failure: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alarm:
    """An alarm of CloudWatch.

    Attributes:
        name: Its name.
        state: ``OK``, ``ALARM`` or ``INSUFFICIENT_DATA``.
        reason: Why.
    """

    name: str
    state: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """How a deployment is.

    Attributes:
        stacks: Its stacks.
        conditions: What runs on nodes.
        file_systems: Its file systems.
        alarms: Its alarms.
        events: What happened last, the newest last, without the steps of stacks.
        refused: What was not told.
    """

    stacks: tuple[Stack, ...]
    conditions: tuple[Condition, ...]
    file_systems: tuple[FileSystem, ...]
    alarms: tuple[Alarm, ...]
    events: tuple[Event, ...]
    refused: tuple[Answer, ...]

    @classmethod
    def read(cls, account: Account, deployed: Deployed, systems: Sequence[System], since: datetime) -> Self:
        """Ask each service.

        Args:
            account: The account.
            deployed: The stacks of the deployment.
            systems: What runs on nodes.
            since: When the oldest event was.
        """
        events = events_of(account, deployed, systems, since)
        line = TimeLine.of(event for event in events.rows if not event.is_step)
        conditions = Listing.joined(system.status() for system in systems)
        alarms, file_systems = (deployed.ids(f"AWS::{kind}") for kind in ("CloudWatch::Alarm", "FSx::FileSystem"))
        calls = [
            *Call("cloudwatch", "DescribeAlarms", {"AlarmNames": alarms}).split("AlarmNames", _MOST_ALARMS),
            *Call("fsx", "DescribeFileSystems", {"FileSystemIds": file_systems}).split("FileSystemIds", _MOST_SYSTEMS),
        ]
        answers = account.ask_all(calls).values()
        return cls(
            stacks=tuple(deployed.stacks.values()),
            conditions=conditions.rows,
            file_systems=tuple(_file_system(row) for answer in answers for row in answer.items("FileSystems")),
            alarms=tuple(
                Alarm(name=row["AlarmName"], state=row["StateValue"], reason=row.get("StateReason", ""))
                for answer in answers
                for row in answer.items("MetricAlarms")
            ),
            events=line.events[-_LAST:],
            refused=(
                *(*deployed.refused, *conditions.refused),
                *(*events.refused, *Listing.of((), answers).refused),
            ),
        )


def _file_system(row: Mapping[str, Any]) -> FileSystem:
    return FileSystem(
        id=row["FileSystemId"],
        kind=row["FileSystemType"],
        state=row["Lifecycle"],
        size_gib=row["StorageCapacity"],
        failure=row.get("FailureDetails", {}).get("Message", ""),
    )
