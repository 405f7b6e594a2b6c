"""Every rule of a fleet, and the one place where all are asked."""

from collections.abc import Callable

from cdk_trainyard.fleet.resolved import ResolvedFleet
from cdk_trainyard.fleet.rules_fleet import (
    block_time_problems,
    fleet_address_problems,
    fleet_capacity_problems,
    fleet_image_problems,
    fleet_name_problems,
    fleet_placement_problems,
    fleet_type_problems,
    fleet_zone_problems,
    mount_problems,
    security_group_problems,
    size_problems,
)

FLEET_RULES: tuple[Callable[[ResolvedFleet], list[str]], ...] = (
    fleet_name_problems,
    fleet_type_problems,
    size_problems,
    block_time_problems,
    fleet_capacity_problems,
    fleet_placement_problems,
    fleet_image_problems,
    security_group_problems,
    fleet_zone_problems,
    fleet_address_problems,
    mount_problems,
)
"""Every rule of a fleet; those of its launch templates are asked by each template."""


def everything_wrong(fleet: ResolvedFleet) -> list[str]:
    """Return everything that is wrong with a fleet.

    Args:
        fleet: The fleet with its defaults.
    """
    return [problem for rule in FLEET_RULES for problem in rule(fleet)]
