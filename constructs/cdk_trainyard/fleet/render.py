"""The Auto Scaling group of a fleet as CloudFormation has it."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, acknowledge_while
from cdk_trainyard.fleet.block_times import schedule_block
from cdk_trainyard.fleet.launch_template import EfaLaunchTemplate
from cdk_trainyard.fleet.spec import FleetSpec
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.network import Network

HOOK = "set-up"
"""The hook in which a new node waits until its set-up is done."""

_Group = autoscaling.CfnAutoScalingGroup
_SETUP_SECONDS = 3600  # a file system that is restored, drivers that are built: longer than any set-up that ends well
_EVENTS = (
    "autoscaling:EC2_INSTANCE_LAUNCH",
    "autoscaling:EC2_INSTANCE_LAUNCH_ERROR",
    "autoscaling:EC2_INSTANCE_TERMINATE",
    "autoscaling:EC2_INSTANCE_TERMINATE_ERROR",
)
_UNREAD = (
    "the rule does not find the launch templates of a group with several; each is an EfaLaunchTemplate, which always "
    "has IMDSv2 and encrypted volumes"
)
_UNTOLD = "nobody asked to be told of nodes that come and go; 'tell' takes who wants to be"


def auto_scaling_group(
    scope: Construct,
    fleet: FleetSpec,
    templates: Sequence[EfaLaunchTemplate],
    *,
    network: Network,
    tags: Mapping[str, str],
) -> autoscaling.CfnAutoScalingGroup:
    """Define the group.

    Args:
        scope: The fleet's construct.
        fleet: The fleet.
        templates: One for each type.
        network: The network.
        tags: Tags of the group and of its nodes.
    """
    later = fleet.starts is not None
    group = autoscaling.CfnAutoScalingGroup(
        scope,
        "Resource",
        min_size="0" if later else str(fleet.least),
        max_size=str(fleet.most),
        # of a range nothing is said: a deployment would undo what somebody has asked for
        desired_capacity=str(fleet.most) if fleet.least == fleet.most and not later else None,
        vpc_zone_identifier=[network.accelerator_subnet.subnet_id],
        launch_template=_specification(templates[0]) if len(templates) == 1 else None,
        mixed_instances_policy=_mixed(fleet, templates) if len(templates) > 1 else None,
        health_check_type="EC2",
        health_check_grace_period=_SETUP_SECONDS,
        lifecycle_hook_specification_list=[
            _Group.LifecycleHookSpecificationProperty(
                lifecycle_hook_name=HOOK,
                lifecycle_transition="autoscaling:EC2_INSTANCE_LAUNCHING",
                heartbeat_timeout=_SETUP_SECONDS,
                default_result="ABANDON",
            )
        ],
        tags=[
            _Group.TagPropertyProperty(key=key, value=value, propagate_at_launch=True) for key, value in tags.items()
        ],
    )
    if len(templates) > 1:
        acknowledge(group, dict.fromkeys(("AwsSolutions-EC26", "NIST.800.53.R5-EC2IMDSv2Enabled"), _UNREAD))
    schedule_block(scope, group, fleet)
    acknowledge_while(group, lambda: not group.notification_configurations, finding="AwsSolutions-AS3", reason=_UNTOLD)
    return group


def notify(group: autoscaling.CfnAutoScalingGroup, topic: sns.ITopic) -> None:
    """Let a group tell a topic of nodes that come and go, beside those that it tells already.

    Args:
        group: The group.
        topic: The topic.
    """
    told = _Group.NotificationConfigurationProperty(topic_arn=topic.topic_arn, notification_types=list(_EVENTS))
    known = group.notification_configurations
    group.notification_configurations = [*(known if isinstance(known, list) else []), told]


def _specification(template: EfaLaunchTemplate) -> autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty:
    return _Group.LaunchTemplateSpecificationProperty(
        launch_template_id=template.launch_template_id, version=template.latest_version
    )


def _mixed(
    fleet: FleetSpec, templates: Sequence[EfaLaunchTemplate]
) -> autoscaling.CfnAutoScalingGroup.MixedInstancesPolicyProperty:
    """Return a template for each type, since each has interfaces of its own, tried in the order that was given."""
    spot = fleet.capacity is UsageClass.SPOT
    return _Group.MixedInstancesPolicyProperty(
        launch_template=_Group.LaunchTemplateProperty(
            launch_template_specification=_specification(templates[0]),
            overrides=[
                _Group.LaunchTemplateOverridesProperty(
                    instance_type=kind.name, launch_template_specification=_specification(template)
                )
                for kind, template in zip(fleet.types, templates, strict=True)
            ],
        ),
        instances_distribution=_Group.InstancesDistributionProperty(
            on_demand_allocation_strategy="prioritized",
            on_demand_percentage_above_base_capacity=0 if spot else 100,
            spot_allocation_strategy="capacity-optimized-prioritized" if spot else None,
        ),
    )
