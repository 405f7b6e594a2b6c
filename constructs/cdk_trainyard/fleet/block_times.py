"""Auto Scaling schedules that start and end nodes with an EC2 capacity block, outside of which launches are in vain."""

from aws_cdk import CfnAutoScalingScheduledAction, CfnUpdatePolicy
from aws_cdk import aws_autoscaling as autoscaling
from constructs import Construct

from cdk_trainyard.fleet.spec import FleetSpec
from cdk_trainyard.fleet.times import BEFORE_END, TIME, block_time


def schedule_block(scope: Construct, group: autoscaling.CfnAutoScalingGroup, fleet: FleetSpec) -> None:
    """Define what starts and ends the nodes; nothing where no times are known.

    Args:
        scope: The fleet's construct.
        group: Its group.
        fleet: The fleet, with times that are valid.
    """
    ends = block_time(fleet.ends)
    times = {
        "Starts": (fleet.starts, fleet.least, fleet.most),
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
    if fleet.starts or fleet.ends:
        group.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(ignore_unmodified_group_size_properties=True)
        )
