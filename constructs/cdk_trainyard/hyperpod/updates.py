"""How the nodes' image is kept up to date."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch


class BatchUnit(StrEnum):
    """What a batch is counted in."""

    INSTANCES = "INSTANCE_COUNT"
    PERCENT = "CAPACITY_PERCENTAGE"


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchSize:
    """How many instances are taken at a time.

    Attributes:
        unit: Instances, or percent of the group.
        value: At least 1; at most 100 for percent.
    """

    unit: BatchUnit
    value: int

    @classmethod
    def instances(cls, count: int) -> "BatchSize":
        """So many instances at a time."""
        return cls(unit=BatchUnit.INSTANCES, value=count)

    @classmethod
    def percent(cls, share: int) -> "BatchSize":
        """So many percent of the group at a time."""
        return cls(unit=BatchUnit.PERCENT, value=share)


@dataclass(frozen=True, kw_only=True, slots=True)
class RollingUpdate:
    """How an update of the image goes through a group.

    Attributes:
        batch: Instances taken at a time.
        rollback_batch: Instances taken at a time on the way back. Default - the service decides.
        wait: Pause between two batches, at most one hour. Default - none.
        rollback_alarms: Alarms that turn the update back, at most 10. Default - none.
    """

    batch: BatchSize
    rollback_batch: BatchSize | None = None
    wait: Duration | None = None
    rollback_alarms: Sequence[cloudwatch.IAlarm] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledUpdate:
    """A regular update to the newest HyperPod image. It replaces the root volumes: keep nothing there.

    Attributes:
        schedule: A cron expression, as ``cron(0 4 ? * SUN *)``.
        rolling: How it goes through the group. Default - the service decides.
    """

    schedule: str
    rolling: RollingUpdate | None = None


class PatchingStrategy(StrEnum):
    """When nodes may be patched; the API knows ``DrainFirst`` too, which CloudFormation does not."""

    WHEN_IDLE = "WhenIdle"
    WHEN_ALL_IDLE = "WhenAllIdle"


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoPatch:
    """Security patches that the service applies by itself.

    Attributes:
        strategy: A node as soon as it is idle, or all nodes when all are idle.
        rolling: How it goes through the group. Default - the service decides.
    """

    strategy: PatchingStrategy
    rolling: RollingUpdate | None = None
