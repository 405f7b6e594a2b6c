"""Kinds of values that HyperPod alone has: names of clusters, groups and partitions, and its instance types."""

import re
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.hyperpod import limits
from cdk_trainyard.instances import hyperpod_type_names
from cdk_trainyard.instances.kind import InstanceTypeName
from cdk_trainyard.monitoring.updates import UPDATE_SCHEDULE, is_update_schedule
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.schedules import Schedule, one_day
from cdk_trainyard.problems import Flaw, shown

_NEAR: Final = re.compile(r"[\w .-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClusterName:
    """A name of a cluster, a group or a partition, as SageMaker's API takes it.

    Attributes:
        longest: Characters at most.
    """

    longest: int = limits.NAME_LENGTH

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Match it, and offer a name like it, where blanks, dots and underscores alone are wrong with it."""
        if limits.NAME.fullmatch(value) and len(value) <= self.longest:
            return None
        near = re.sub(r"[^a-zA-Z0-9]+", "-", value).strip("-") if _NEAR.fullmatch(value) else ""
        must = f"must be 1 to {self.longest} letters, digits and inner hyphens"
        if len(value) > self.longest:
            return Flaw(must, got=f"{shown(value)} ({len(value)} characters)")
        return Flaw(must, got=shown(value), remedy=near and f"; use {shown(near)}")

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": f"^{limits.NAME.pattern}$", "maxLength": self.longest, "examples": ["worker-group"]}


@dataclass(frozen=True, slots=True)
class UpdateSchedule:
    """When nodes are updated: a cron expression of the forms that CloudFormation takes, of a day that comes."""

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match it, then read it as any other."""
        if is_update_schedule(value):
            return Schedule().problem(value, environment)
        return Flaw(UPDATE_SCHEDULE, got=shown(value), remedy=one_day(value, self))

    def schema(self) -> dict[str, Any]:
        """Return the form, with an example."""
        return {"pattern": r"^cron\(.*\)$", "examples": ["cron(0 4 ? * SUN *)"]}


@dataclass(frozen=True, slots=True)
class HyperPodTypeName(InstanceTypeName):
    """The name of an instance type, which editors complete with HyperPod's names."""

    def schema(self) -> dict[str, Any]:
        """Return the names that HyperPod accepts, and that they may be written without ``ml.``."""
        without = {"pattern": r"^(?!ml\.)[a-z0-9-]+\.[a-z0-9-]+$"}
        return {"anyOf": [{"enum": list(hyperpod_type_names())}, without], "examples": [self.example]}
