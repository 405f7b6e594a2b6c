"""Application Auto Scaling: what is scaled, by which policies and at which hours."""

from collections.abc import Mapping, Sequence
from typing import Any

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, answer, identity

SCALING = Api("application-autoscaling")
_TARGET_KEYS = ("ResourceId", "ScalableDimension", "ServiceNamespace")


def _target(it: Resource) -> dict[str, Any]:
    return it.pick(*_TARGET_KEYS)


def _target_of(it: Resource) -> dict[str, Any]:
    """Return what a scaling policy scales: named by its keys, or by the id of its target."""
    joined = it.get("ScalingTargetId")
    named = dict(zip(_TARGET_KEYS, joined.split("|"), strict=True)) if joined else {}
    return {**named, **_target(it)}


def _role(it: Resource) -> dict[str, Any]:
    role = (
        "aws-service-role/ecs.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_ECSService"
    )
    return {"RoleARN": it.get("RoleARN") or it.where.arn("iam", f"role/{role}", region="")}


def _unschedule(it: Resource, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        named = {**_target(it), "ScheduledActionName": row["ScheduledActionName"]}
        it.call(SCALING.service, "delete_scheduled_action", named)


def _schedule(it: Resource) -> None:
    """Make the scheduled actions those of the template."""
    new = {row["ScheduledActionName"]: row for row in it.get("ScheduledActions") or []}
    _unschedule(it, [row for row in it.previous.get("ScheduledActions") or [] if row["ScheduledActionName"] not in new])
    for row in new.values():
        it.call(SCALING.service, "put_scheduled_action", {**_target(it), **row})


def _forget_schedules(it: Resource) -> None:
    """A target takes its schedules with it."""
    _unschedule(it, it.get("ScheduledActions") or [])


TYPES = (
    ResourceType(
        name="AWS::ApplicationAutoScaling::ScalableTarget",
        create=SCALING.apply("register_scalable_target", _role),
        identity=lambda it: "|".join(str(it[key]) for key in _TARGET_KEYS),
        settle=_schedule,
        update=after(SCALING.apply("register_scalable_target", _role), _schedule),
        delete=after(_forget_schedules, SCALING.forget("deregister_scalable_target", _target)),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::ApplicationAutoScaling::ScalingPolicy",
        create=SCALING.put("put_scaling_policy", _target_of),
        identity=answer("PolicyARN"),
        update=SCALING.put("put_scaling_policy", _target_of),
        delete=SCALING.forget("delete_scaling_policy", lambda it: {**_target_of(it), "PolicyName": it["PolicyName"]}),
        attributes={"Arn": identity},
    ),
)
