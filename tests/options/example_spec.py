"""A specification with every shape that an option can have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cdk_trainyard.options.fields import INLINE, ByName, NoneAs, Said, Unit, Unless
from cdk_trainyard.options.kinds import Number, Text
from cdk_trainyard.options.stand_ins import Retention

if TYPE_CHECKING:
    from aws_cdk import Duration
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_logs as logs

Name = Annotated[str, Text(pattern="[a-z]+", words="lowercase letters", example="workers", longest=10)]
Word = Annotated[str, Text(pattern="[A-Za-z]+", words="letters", example="Word")]


class Job(StrEnum):
    """What a group is for."""

    CONTROLLER = "controller"
    COMPUTE = "compute"


class Day(IntEnum):
    """A day."""

    MONDAY = 1
    SUNDAY = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A volume."""

    size_gb: Annotated[int | None, Number(minimum=1, maximum=16384, unit="GB")] = None
    """Size in GB. Default - none."""
    key: "kms.IKey | None" = None
    """Its key. Default - none."""
    root: bool = False
    """Whether it is the root volume. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Capacity:
    """Where instances come from."""

    capacity: Literal["OnDemand", "Spot"]
    """The market."""
    price: float | None = None
    """The most that is paid. Default - the market's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A group."""

    name: Name
    """Its name."""
    job: Job
    """What it is for."""
    count: Annotated[int, Number(minimum=0, maximum=100)]
    """How many."""
    volumes: Sequence[Volume] = (Volume(size_gb=500),)
    """Its volumes. Default - one."""
    cooldown: Annotated["Duration | None", Unit("minutes")] = None
    """Its pause. Default - none."""
    alarms: "Sequence[cloudwatch.IAlarm]" = ()
    """Its alarms. Default - none."""
    source: Annotated[Capacity | None, INLINE] = None
    """Its capacity. Default - the service's."""
    security_group: "Annotated[ec2.ISecurityGroup | None, Said(None)]" = None
    """Its security group, in Python only. Default - the cluster's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewStore:
    """A store to be made."""

    days: tuple[Day, ...] = (Day.MONDAY,)
    """When it is looked after. Default: MONDAY."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingStore:
    """A store that exists."""

    store_id: Word
    """Its id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A cluster, with

    more to say about it.
    """

    groups: Annotated[Sequence[Group], ByName()]
    """Its groups."""
    store: Annotated[NewStore | ExistingStore | None, Unless("store_id")] = None
    """Its store. Default - none."""
    tags: Mapping[Name, Word] = field(default_factory=dict)
    """Its tags. Default - none."""
    logs: "Annotated[logs.RetentionDays | None, NoneAs(0)]" = Retention(90)  # noqa: RUF009  stands for three months
    """How long logs are kept. Default: 90."""
    raw_overrides: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else. Default - none."""
