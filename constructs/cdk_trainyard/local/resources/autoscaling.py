"""Auto Scaling: groups and their hooks and policies, and Application Auto Scaling's targets and policies."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, answer, arn, given, identity

GROUPS = Api("autoscaling")
TARGETS = Api("application-autoscaling")
_TARGET_KEYS = ("ResourceId", "ScalableDimension", "ServiceNamespace")


def _group(it: Resource) -> dict[str, Any]:
    """Return the properties that the API spells differently."""
    subnets = it.get("VPCZoneIdentifier")
    joined = {"VPCZoneIdentifier": ",".join(subnets)} if isinstance(subnets, list) else {}
    cooldown = {"DefaultCooldown": it["Cooldown"]} if "Cooldown" in it else {}
    return {**joined, **cooldown}


def _tags(it: Resource) -> dict[str, Any]:
    tags = [
        {**tag, "ResourceId": it["AutoScalingGroupName"], "ResourceType": "auto-scaling-group"}
        for tag in it.get("Tags", [])
    ]
    return {**_group(it), "Tags": tags} if tags else _group(it)


def _notices(it: Resource) -> None:
    for row in it.get("NotificationConfigurations") or []:
        topic = {"TopicARN": row["TopicARN"], "NotificationTypes": row.get("NotificationTypes", [])}
        it.call("autoscaling", "put_notification_configuration", {"AutoScalingGroupName": it.id, **topic})


def _metrics(it: Resource) -> None:
    for row in it.get("MetricsCollection") or []:
        it.call("autoscaling", "enable_metrics_collection", {"AutoScalingGroupName": it.id, **row})


def _target_of(it: Resource) -> dict[str, Any]:
    """Return what a scaling policy scales: named by its keys, or by the id of its target."""
    joined = it.get("ScalingTargetId")
    named = dict(zip(_TARGET_KEYS, joined.split("|"), strict=True)) if joined else {}
    return {**named, **it.pick(*_TARGET_KEYS)}


def _role(it: Resource) -> dict[str, Any]:
    role = (
        "aws-service-role/ecs.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_ECSService"
    )
    return {"RoleARN": it.get("RoleARN") or it.where.arn("iam", f"role/{role}", region="")}


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
        update=GROUPS.apply("update_auto_scaling_group", _group, but=("VPCZoneIdentifier",)),
        delete=GROUPS.forget(
            "delete_auto_scaling_group", lambda it: {"AutoScalingGroupName": it.id, "ForceDelete": True}
        ),
        read=GROUPS.read(
            "describe_auto_scaling_groups",
            lambda it: {"AutoScalingGroupNames": [it.id]},
            "AutoScalingGroups[0].{MinSize: MinSize, MaxSize: MaxSize}",
        ),
        attributes={"AutoScalingGroupARN": arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/{}")},
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
    ResourceType(
        name="AWS::ApplicationAutoScaling::ScalableTarget",
        create=TARGETS.apply("register_scalable_target", _role),
        identity=lambda it: "|".join(str(it[key]) for key in _TARGET_KEYS),
        update=TARGETS.apply("register_scalable_target", _role),
        delete=TARGETS.forget("deregister_scalable_target", lambda it: it.pick(*_TARGET_KEYS)),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::ApplicationAutoScaling::ScalingPolicy",
        create=TARGETS.put("put_scaling_policy", _target_of),
        identity=answer("PolicyARN"),
        update=TARGETS.put("put_scaling_policy", _target_of),
        delete=TARGETS.forget("delete_scaling_policy", lambda it: {**_target_of(it), "PolicyName": it["PolicyName"]}),
        attributes={"Arn": identity},
    ),
)
