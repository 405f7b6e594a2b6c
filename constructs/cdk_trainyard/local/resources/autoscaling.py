"""Auto Scaling: groups, and their hooks, policies, schedules and warm pools."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, answer, given, identity

GROUPS = Api("autoscaling")
_LAUNCHED_WITH = ("LaunchConfigurationName", "LaunchTemplate", "MixedInstancesPolicy", "VPCZoneIdentifier")
_ROLLING, _REPLACING = "AutoScalingRollingUpdate", "AutoScalingReplacingUpdate"
_SCHEDULED, _SIZES = "AutoScalingScheduledAction", ("MinSize", "MaxSize", "DesiredCapacity")


def _group(it: Resource) -> dict[str, Any]:
    """Return the properties that the API spells differently."""
    subnets = it.get("VPCZoneIdentifier")
    joined = {"VPCZoneIdentifier": ",".join(subnets)} if isinstance(subnets, list) else {}
    cooldown = {"DefaultCooldown": it["Cooldown"]} if "Cooldown" in it else {}
    return {**joined, **cooldown}


def _tag(it: Resource, tag: Mapping[str, Any]) -> dict[str, Any]:
    return {**tag, "ResourceId": it["AutoScalingGroupName"], "ResourceType": "auto-scaling-group"}


def _tags(it: Resource) -> dict[str, Any]:
    tags = [_tag(it, tag) for tag in it.get("Tags", [])]
    return {**_group(it), "Tags": tags} if tags else _group(it)


def _retag(it: Resource) -> None:
    new, old = it.get("Tags") or [], it.previous.get("Tags") or []
    gone = [tag for tag in old if tag["Key"] not in {each["Key"] for each in new}]
    for operation, tags in (("delete_tags", gone), ("create_or_update_tags", new)):
        if tags:
            it.call("autoscaling", operation, {"Tags": [_tag(it, tag) for tag in tags]})


def _notices(it: Resource) -> None:
    told = {row["TopicARN"] for row in it.get("NotificationConfigurations") or []}
    for row in it.previous.get("NotificationConfigurations") or []:
        if row["TopicARN"] not in told:
            gone = {"AutoScalingGroupName": it.id, "TopicARN": row["TopicARN"]}
            it.call("autoscaling", "delete_notification_configuration", gone)
    for row in it.get("NotificationConfigurations") or []:
        topic = {"TopicARN": row["TopicARN"], "NotificationTypes": row.get("NotificationTypes", [])}
        it.call("autoscaling", "put_notification_configuration", {"AutoScalingGroupName": it.id, **topic})


def _metrics(it: Resource) -> None:
    for row in it.get("MetricsCollection") or []:
        it.call("autoscaling", "enable_metrics_collection", {"AutoScalingGroupName": it.id, **row})


def _change(it: Resource) -> None:
    """Change a group; what the template no longer says of its size is left to whoever scales it."""
    it.pick("DesiredCapacity", "LaunchTemplate", "MixedInstancesPolicy")  # of the latter two one, which the call names
    scheduled = it.update_policy.get(_SCHEDULED, {}).get("IgnoreUnmodifiedGroupSizeProperties")
    kept = [name for name in _SIZES if scheduled and not it.changed(name)]
    it.pick(*kept)  # a scheduled action may have changed them
    GROUPS.apply("update_auto_scaling_group", _group, but=("VPCZoneIdentifier", *kept))(it)
    for name, step in {
        "LifecycleHookSpecificationList": _hooks,
        "MetricsCollection": _metrics,
        "NotificationConfigurations": _notices,
    }.items():
        if it.changed(name):
            step(it)
    if any(it.changed(name) for name in _LAUNCHED_WITH):
        _roll(it)


def _hooks(it: Resource) -> None:
    new = {row["LifecycleHookName"]: row for row in it.get("LifecycleHookSpecificationList") or []}
    group = {"AutoScalingGroupName": it.id}
    for row in it.previous.get("LifecycleHookSpecificationList") or []:
        if row["LifecycleHookName"] not in new:
            it.call("autoscaling", "delete_lifecycle_hook", {**group, "LifecycleHookName": row["LifecycleHookName"]})
    for row in new.values():
        it.call("autoscaling", "put_lifecycle_hook", {**group, **row})


def _roll(it: Resource) -> None:
    """Replace the instances where the group's ``UpdatePolicy`` says so; without one they stay as they are."""
    if it.update_policy.get(_REPLACING, {}).get("WillReplace"):
        it.dropped.append(f"UpdatePolicy.{_REPLACING}")
    elif _ROLLING in it.update_policy:
        for instance in _described(it)["Instances"]:
            asked = {"InstanceId": instance["InstanceId"], "ShouldDecrementDesiredCapacity": False}
            it.call("autoscaling", "terminate_instance_in_auto_scaling_group", asked)


def _described(it: Resource) -> Any:
    found = it.call("autoscaling", "describe_auto_scaling_groups", {"AutoScalingGroupNames": [it.id]})
    return found["AutoScalingGroups"][0]


def _hook(it: Resource) -> dict[str, Any]:
    return it.pick("AutoScalingGroupName", "LifecycleHookName")


def _scaling_policy(it: Resource) -> dict[str, Any]:
    """Make a policy and look it up: moto does not answer its ARN."""
    name = Name(property="PolicyName").make(it.where)
    GROUPS.put("put_scaling_policy", lambda _: {"PolicyName": name})(it)
    found = it.call("autoscaling", "describe_policies", {"PolicyNames": [name]})["ScalingPolicies"][0]
    return {"PolicyARN": found["PolicyARN"]}


def _policy_name(it: Resource) -> str:
    return it.id.split("policyName/")[-1]


def _action(it: Resource) -> dict[str, Any]:
    name = it.id or Name(property="ScheduledActionName").make(it.where)
    GROUPS.put("put_scheduled_update_group_action", lambda _: {"ScheduledActionName": name})(it)
    return {"ScheduledActionName": name}


def _forget_action(it: Resource) -> dict[str, Any]:
    return {**it.pick("AutoScalingGroupName"), "ScheduledActionName": it.id}


TYPES = (
    ResourceType(
        name="AWS::AutoScaling::AutoScalingGroup",
        create=GROUPS.apply("create_auto_scaling_group", _tags, but=("Tags", "VPCZoneIdentifier")),
        identity=given("AutoScalingGroupName"),
        settle=after(_notices, _metrics),
        update=_change,
        retag=_retag,
        delete=GROUPS.forget(
            "delete_auto_scaling_group", lambda it: {"AutoScalingGroupName": it.id, "ForceDelete": True}
        ),
        read=GROUPS.read(
            "describe_auto_scaling_groups",
            lambda it: {"AutoScalingGroupNames": [it.id]},
            "AutoScalingGroups[0].{MinSize: MinSize, MaxSize: MaxSize}",
        ),
        attributes={"AutoScalingGroupARN": lambda it: _described(it)["AutoScalingGroupARN"]},
        named=Name(property="AutoScalingGroupName"),
    ),
    ResourceType(
        name="AWS::AutoScaling::LifecycleHook",
        create=GROUPS.put("put_lifecycle_hook"),
        identity=given("LifecycleHookName"),
        update=GROUPS.put("put_lifecycle_hook"),
        delete=GROUPS.forget("delete_lifecycle_hook", _hook),
        named=Name(property="LifecycleHookName"),
    ),
    ResourceType(
        name="AWS::AutoScaling::ScalingPolicy",
        create=_scaling_policy,
        identity=answer("PolicyARN"),
        update=GROUPS.put("put_scaling_policy", lambda it: {"PolicyName": _policy_name(it)}),
        delete=GROUPS.forget(
            "delete_policy", lambda it: {"PolicyName": _policy_name(it), **it.pick("AutoScalingGroupName")}
        ),
        attributes={"Arn": identity, "PolicyName": _policy_name},
    ),
    ResourceType(
        name="AWS::AutoScaling::ScheduledAction",
        create=_action,
        identity=answer("ScheduledActionName"),
        update=_action,
        delete=GROUPS.forget("delete_scheduled_action", _forget_action),
        attributes={"ScheduledActionName": identity},
    ),
    ResourceType(
        name="AWS::AutoScaling::WarmPool",
        create=GROUPS.put("put_warm_pool"),
        identity=given("AutoScalingGroupName"),
        update=GROUPS.put("put_warm_pool"),
        delete=GROUPS.forget("delete_warm_pool", lambda it: {"AutoScalingGroupName": it.id, "ForceDelete": True}),
    ),
)
