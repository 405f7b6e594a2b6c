"""Auto Scaling: groups launch from the version and the override that they name, and keep all that they are told."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, InstanceState, autoscaling_backends
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.ec2.models.instances import Instance
from moto.sns.models import sns_backends

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.mishaps import lacks
from cdk_trainyard.local.services.api import Request, install, plain, remember, replace
from cdk_trainyard.local.services.autoscaling_activities import (
    describe_instance_refreshes,
    describe_scaling_activities,
    launched,
    not_launched,
    start_instance_refresh,
)
from cdk_trainyard.local.services.launches import check_image
from cdk_trainyard.local.state import Store

_GROUP_TAG = "aws:autoscaling:groupName"
_STATES = ("Desired", "InService", "Pending", "Standby", "Terminating", "Total")
_METRICS = (
    *("GroupMinSize", "GroupMaxSize", "GroupDesiredCapacity"),
    *(f"Group{state}Instances" for state in _STATES[1:]),
    *(f"Group{state}Capacity" for state in _STATES[1:]),
    *(f"WarmPool{word}Capacity" for word in ("Desired", "Warmed", "Pending", "Terminating", "Total")),
    *(f"GroupAndWarmPool{word}Capacity" for word in ("Desired", "Total")),
)
"""Every metric of a group: what it collects when none is named."""
_KEPT = {
    "CapacityRebalance": "capacity_rebalance",
    "Context": "context",
    "DefaultCooldown": "default_cooldown",
    "DefaultInstanceWarmup": "default_instance_warmup",
    "DesiredCapacityType": "desired_capacity_type",
    "InstanceMaintenancePolicy": "instance_maintenance_policy",
    "MaxInstanceLifetime": "max_instance_lifetime",
    "PlacementGroup": "placement_group",
    "TerminationPolicies": "termination_policies",
}
"""What creating or updating a group takes, and moto does not keep."""
_NOTICES: Store[dict[tuple[str, str], list[str]]] = Store(lambda _account, _region: {})
"""Which events of a group a topic is told, by group and topic."""
_terminate_one = AutoScalingBackend.terminate_instance
_create = AutoScalingResponse.create_auto_scaling_group
_update = AutoScalingResponse.update_auto_scaling_group


def _keep(response: AutoScalingResponse) -> dict[str, Any]:
    asked: dict[str, Any] = plain(response._get_params())  # noqa: SLF001  moto's way to read requests
    group = response.autoscaling_backend.autoscaling_groups[asked["AutoScalingGroupName"]]
    remember(group, {attribute: asked[name] for name, attribute in _KEPT.items() if name in asked})
    return asked


def _check_images(response: AutoScalingResponse) -> None:
    """Read the parameters of images, also for no instances.

    Source: EC2 Auto Scaling user guide, "Use AWS Systems Manager parameters instead of AMI IDs in launch templates",
    limitations: "On each call to create or update your Auto Scaling group, Amazon EC2 Auto Scaling will resolve the
    Systems Manager parameter in the launch template."
    """
    asked: dict[str, Any] = plain(response._get_params())  # noqa: SLF001
    mixed = asked.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {})
    rows = [mixed, *mixed.get("Overrides", [])]
    sources = (asked.get("LaunchTemplate"), *(row.get("LaunchTemplateSpecification") for row in rows))
    with _well_formed():
        for source in filter(None, sources):
            check_image(response.autoscaling_backend.ec2_backend, source)


def _create_with_hooks(response: AutoScalingResponse) -> ActionResult:
    _check_images(response)
    answer = _create(response)
    asked = _keep(response)
    for hook in asked.get("LifecycleHookSpecificationList", []):
        response.autoscaling_backend.create_lifecycle_hook(
            name=hook["LifecycleHookName"],
            as_name=asked["AutoScalingGroupName"],
            transition=hook["LifecycleTransition"],
            timeout=int(hook["HeartbeatTimeout"]) if "HeartbeatTimeout" in hook else None,
            result=hook.get("DefaultResult"),
        )
    return answer


def _update_and_keep(response: AutoScalingResponse) -> ActionResult:
    _check_images(response)
    answer = _update(response)
    _keep(response)
    return answer


def _launch(group: FakeAutoScalingGroup, count_needed: int, propagated_tags: dict[str, str]) -> None:
    """Launch instances, each in the subnet that has the fewest; none while the process Launch is suspended."""
    if "Launch" in {process["ProcessName"] for process in group.suspended_processes}:
        return
    for _ in range(count_needed):
        if why := _lacking(group):
            not_launched(group, why)
            return
        with _well_formed():
            instance = _launch_one(group, propagated_tags)
        remember(instance, {"autoscaling_group": group})
        launched(group, instance.id)
        instance.placement.group_name = instance.placement.group_name or group.placement_group or ""
        group.instance_states.append(
            InstanceState(instance, protected_from_scale_in=group.new_instances_protected_from_scale_in)
        )


@contextmanager
def _well_formed() -> Iterator[None]:
    """Say what EC2 refuses as Auto Scaling says it."""
    try:
        yield
    except ServiceException as error:
        message = f"You must use a valid fully-formed launch template. {error.message}"
        raise ApiError("ValidationError", message) from error


def _lacking(group: FakeAutoScalingGroup) -> str:
    """Return why the next instance does not come; empty: it does."""
    return lacks(_source(group)[1] or group.instance_type)


def _launch_one(group: FakeAutoScalingGroup, propagated_tags: dict[str, str]) -> Instance:
    source, override = _source(group)
    reservation = group.ec2_backend.run_instances(
        "" if source else group.image_id,
        1,
        None if source else group.user_data,
        [] if source else group.security_groups,
        instance_type=override or (None if source else group.instance_type),
        is_instance_type_default=override is None and bool(source),
        tags={"instance": {**propagated_tags, _GROUP_TAG: group.name}},
        placement=group.availability_zones[0],
        launch_config=group.launch_config,
        launch_template=source,
        associate_public_ip=group.launch_config.associate_public_ip_address if group.launch_config else None,
        subnet_id=_emptiest_subnet(group),
    )
    return reservation.instances[0]


def _terminate(backend: AutoScalingBackend, instance_id: str, should_decrement: bool) -> Any:
    groups = backend.autoscaling_groups.values()
    if instance_id not in {state.instance.id for group in groups for state in group.instance_states}:
        message = f"Instance Id not found - No managed instance found for instance ID: {instance_id}"
        raise ApiError("ValidationError", message)
    return _terminate_one(backend, instance_id, should_decrement)


def _source(group: FakeAutoScalingGroup) -> tuple[dict[str, Any] | None, str | None]:
    """Return the launch template of the next instance, and the type that overrides the template's."""
    if group.ec2_launch_template is None:
        return None, None
    own = {"LaunchTemplateId": group.ec2_launch_template.id, "Version": group.launch_template_version}
    overrides = plain(group.mixed_instances_policy or {}).get("LaunchTemplate", {}).get("Overrides", [])
    first: Mapping[str, Any] = overrides[0] if overrides else {}
    wanted = first.get("LaunchTemplateSpecification", {})
    named = {key: wanted[key] for key in ("LaunchTemplateId", "LaunchTemplateName") if key in wanted}
    if named:
        own = {**named, "Version": wanted.get("Version", "$Default")}
    return own, first.get("InstanceType")


def _emptiest_subnet(group: FakeAutoScalingGroup) -> str | None:
    subnets = (group.vpc_zone_identifier or "").split(",")
    there = Counter(state.instance.subnet_id for state in group.instance_states)
    return min(subnets, key=lambda subnet: there[subnet]) or None


def _collect(group: FakeAutoScalingGroup, metrics: list[str] | None) -> None:
    group.metrics = list(metrics or _METRICS)


# ---------------------------------------------------------------- hooks
def complete_lifecycle_action(request: Request) -> dict[str, Any]:
    """End a hook's wait for an instance. Here it is in service already; one that is abandoned is replaced."""
    _hook(request)
    if request["LifecycleActionResult"] == "ABANDON":
        backend = autoscaling_backends[request.account][request.region]
        backend.terminate_instance(request["InstanceId"], should_decrement=False)
    return {}


def record_lifecycle_action_heartbeat(request: Request) -> dict[str, Any]:
    """Prolong a hook's wait, of which there is none here."""
    _hook(request)
    return {}


def _hook(request: Request) -> None:
    """Refuse a hook or an instance that the group does not have."""
    group, name, instance = request["AutoScalingGroupName"], request["LifecycleHookName"], request.get("InstanceId")
    backend = autoscaling_backends[request.account][request.region]
    if f"{group}_{name}" not in backend.lifecycle_hooks:
        raise ApiError("ValidationError", f"No Lifecycle Hook found with name {name} in the group {group}")
    there = {state.instance.id for state in backend.autoscaling_groups[group].instance_states}
    if instance not in there:
        raise ApiError("ValidationError", f"No active Lifecycle Action found with instance ID {instance}")


# ---------------------------------------------------------------- who is told
def put_notification_configuration(request: Request) -> dict[str, Any]:
    """Tell a topic of events of a group."""
    group, topic = request["AutoScalingGroupName"], request["TopicARN"]
    known = autoscaling_backends[request.account][request.region].autoscaling_groups
    if group not in known:
        raise ApiError("ValidationError", f"AutoScalingGroup name not found - AutoScalingGroup '{group}' not found")
    if topic not in sns_backends[request.account][request.region].topics:
        raise ApiError("ValidationError", f"Unable to publish to notification topic: {topic} does not exist")
    _NOTICES.of(request.account, request.region)[group, topic] = list(request["NotificationTypes"])
    return {}


def delete_notification_configuration(request: Request) -> dict[str, Any]:
    """Tell a topic no more."""
    key = request["AutoScalingGroupName"], request["TopicARN"]
    _NOTICES.of(request.account, request.region).pop(key, None)
    return {}


def describe_notification_configurations(request: Request) -> dict[str, Any]:
    """Return who is told what, for groups that exist."""
    wanted = request.get("AutoScalingGroupNames", [])
    known = autoscaling_backends[request.account][request.region].autoscaling_groups
    rows = [
        {"AutoScalingGroupName": group, "TopicARN": topic, "NotificationType": event}
        for (group, topic), events in _NOTICES.of(request.account, request.region).items()
        for event in events
        if group in known and (not wanted or group in wanted)
    ]
    return {"NotificationConfigurations": rows}


def extend() -> None:
    """Correct moto's Auto Scaling, and give it what it lacks."""
    operations = (
        complete_lifecycle_action,
        record_lifecycle_action_heartbeat,
        put_notification_configuration,
        delete_notification_configuration,
        describe_notification_configurations,
        describe_scaling_activities,
        describe_instance_refreshes,
        start_instance_refresh,
    )
    install(AutoScalingResponse, {operation.__name__: operation for operation in operations})
    replace(AutoScalingBackend, {"terminate_instance": _terminate})
    replace(
        AutoScalingResponse,
        {"create_auto_scaling_group": _create_with_hooks, "update_auto_scaling_group": _update_and_keep},
    )
    replace(
        FakeAutoScalingGroup,
        {"replace_autoscaling_group_instances": _launch, "enable_metrics_collection": _collect},
    )
