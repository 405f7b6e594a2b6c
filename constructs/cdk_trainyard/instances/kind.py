"""What a text must be that names an instance type: a kind of `cdk_trainyard.options`, and how instances are bought."""

import re
from dataclasses import dataclass
from enum import StrEnum, nonmember
from typing import Any, Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.instances.instance_type import InstanceType, catalogue_date, unknown_type
from cdk_trainyard.instances.zones import regions
from cdk_trainyard.partitions import region_at
from cdk_trainyard.problems import Flaw, shown


class UsageClass(StrEnum):
    """How instances are bought, in EC2's words (``SupportedUsageClasses`` of DescribeInstanceTypes)."""

    ON_DEMAND = "on-demand"
    """At the on-demand rate, while there are some, or from a capacity reservation (ODCR)."""
    SPOT = "spot"
    """At the Spot rate, until EC2 takes them back with two minutes' notice."""
    CAPACITY_BLOCK = "capacity-block"
    """From a capacity block for ML, paid in advance for a span of days."""
    FORMER_VALUES = nonmember(
        {
            "OnDemand": "use 'on-demand'",
            "Spot": "use 'spot'",
            "preemptible": "use 'spot'",
            "training-plan": "leave it out; a group of hyperpod names its plan by 'training_plan_arn'",
            **dict.fromkeys(
                ("odcr", "reservation", "reserved"),
                "leave it out, and name the reservation by 'reservation_id'; hyperpod has 'training_plan_arn'",
            ),
        }
    )


LARGEST_BLOCK: Final = 64
"""Instances of one capacity block: ``InstanceCount`` of EC2's DescribeCapacityBlockOfferings in botocore's model."""


@dataclass(frozen=True, slots=True)
class InstanceTypeName:
    """The name of an EC2 instance type.

    Attributes:
        example: One that fits.
        efa: Whether one without EFA is refused elsewhere, and so is never what may have been meant.
    """

    example: str
    efa: bool = False

    def problem(self, value: Any, _environment: object) -> Flaw | None:
        """Look it up."""
        if InstanceType.find(value):
            return None
        return unknown_type(value, meant=_has_efa if self.efa else None)

    def schema(self) -> dict[str, Any]:
        """Return an example."""
        return {"examples": [self.example]}


def _has_efa(name: str) -> bool:
    return InstanceType.of(name).efa_supported


_OF_OTHERS = re.compile(r"[a-z]+-[a-z]+[0-9]{1,2}")
"""Names of Regions as Google Cloud has them, ``europe-west4``, of which letters say nothing about AWS's."""
_ISOLATED = ("us-iso", "eu-iso", "eusc-")
"""Beginnings of the names of Regions that no public list has whole."""


@dataclass(frozen=True, slots=True)
class RegionName:
    """The kind of a text that names a Region, as far as public lists say."""

    def problem(self, value: Any, environment: object) -> Flaw | None:
        """Look it up; what is near to it is looked for among Regions that have what is deployed first."""
        known = regions()
        if value in known or value.startswith(_ISOLATED):
            return None
        if place := region_at(value):
            hint = f"; write {place}"
        else:
            is_others = _OF_OTHERS.fullmatch(value) and value not in map(_closed, known)
            offered = {*known} & getattr(environment, "offered", frozenset())
            hint = "" if is_others else did_you_mean(value, offered) or did_you_mean(value, known)
        return Flaw(f"must be a Region (as of {catalogue_date()}), as us-east-1", got=shown(value), remedy=hint)

    def schema(self) -> dict[str, Any]:
        """Return an example."""
        return {"examples": ["us-east-1"]}


def _closed(region: str) -> str:
    """Return the name of a Region without the hyphen before its number, which is easily left out."""
    return "".join(region.rsplit("-", 1))
