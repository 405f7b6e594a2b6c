"""When the nodes of a capacity block come and go: an Auto Scaling group would launch in vain before it and after it."""

from datetime import datetime, timedelta

from aws_cdk import CfnAutoScalingScheduledAction, CfnUpdatePolicy
from aws_cdk import aws_autoscaling as autoscaling
from constructs import Construct

from cdk_trainyard.fleet.capacity import FleetCapacity, FleetSize

TIME = "%Y-%m-%dT%H:%M:%SZ"
"""How a time is written: in UTC, to the second."""
BEFORE_END = timedelta(minutes=40)
"""Auto Scaling user guide, "Use Capacity Blocks for machine learning workloads": scale in to zero more than 30 minutes
before the end, when EC2 begins to terminate what still runs."""


def block_time(text: str) -> datetime | None:
    """Return a time, or None when it is not written as one.

    Args:
        text: The time, as ``"2027-06-01T11:30:00Z"``.
    """
    try:
        return datetime.strptime(text, TIME)  # noqa: DTZ007  both are of UTC, and nothing else is compared with them
    except ValueError:
        return None


def schedule_block(
    scope: Construct, group: autoscaling.CfnAutoScalingGroup, capacity: FleetCapacity, size: FleetSize
) -> None:
    """Define what starts and ends the nodes; nothing where no times are known.

    Args:
        scope: The fleet's construct.
        group: Its group.
        capacity: Where its instances come from, with times that are valid.
        size: How many nodes there are while the block lasts.
    """
    ends = block_time(capacity.ends) if capacity.ends else None
    times = {
        "Starts": (capacity.starts, size.minimum, size.maximum),
        "Ends": ((ends - BEFORE_END).strftime(TIME) if ends else None, 0, 0),
    }
    for name, (time, minimum, maximum) in times.items():
        if time is not None:
            autoscaling.CfnScheduledAction(
                scope,
                name,
                auto_scaling_group_name=group.ref,
                start_time=time,
                min_size=minimum,
                max_size=maximum,
                desired_capacity=minimum,
            )
    if capacity.starts or capacity.ends:
        group.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(ignore_unmodified_group_size_properties=True)
        )
