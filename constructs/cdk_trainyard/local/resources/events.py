"""EventBridge: buses with their policies, rules with their targets."""

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, answer, given, tagger

EVENTS = Api("events")


def _bus(it: Resource) -> dict[str, str]:
    return it.pick("EventBusName")


def _targets(it: Resource) -> None:
    it.taken.add("Targets")
    old = {row["Id"] for row in it.previous.get("Targets") or []}
    new = it.get("Targets") or []
    gone = sorted(old - {row["Id"] for row in new})
    if gone:
        it.call("events", "remove_targets", {"Rule": it["Name"], "Ids": gone, **_bus(it)})
    if new:
        it.call("events", "put_targets", {"Rule": it["Name"], "Targets": new, **_bus(it)})


def _update(it: Resource) -> None:
    EVENTS.put("put_rule", but=("Tags",))(it)
    _targets(it)


def _delete(it: Resource) -> None:
    ids = [row["Id"] for row in it.get("Targets") or []]
    if ids:
        EVENTS.forget("remove_targets", lambda it: {"Rule": it["Name"], "Ids": ids, **_bus(it)})(it)
    EVENTS.forget("delete_rule", lambda it: {"Name": it["Name"], **_bus(it)})(it)


def _policy(it: Resource) -> None:
    """Put the policy of a bus; one that goes is removed."""
    if it.get("Policy"):
        it.call("events", "put_permission", {"EventBusName": it.id, "Policy": it["Policy"]})
    elif it.previous.get("Policy"):
        it.call("events", "remove_permission", {"EventBusName": it.id, "RemoveAllPermissions": True})


TYPES = (
    ResourceType(
        name="AWS::Events::EventBus",
        create=EVENTS.apply("create_event_bus", but=("LogConfig",)),
        identity=given("Name"),
        settle=_policy,
        update=after(EVENTS.put("update_event_bus", but=("LogConfig",)), _policy),
        retag=tagger("events", "tag_resource", "untag_resource", lambda it: {"ResourceARN": answer("EventBusArn")(it)}),
        delete=EVENTS.forget("delete_event_bus", lambda it: {"Name": it.id}),
        read=EVENTS.read("describe_event_bus", lambda it: {"Name": it.id}, "{Name: Name}"),
        attributes={"Arn": answer("EventBusArn")},
    ),
    ResourceType(
        name="AWS::Events::Rule",
        create=EVENTS.put("put_rule"),
        identity=given("Name"),
        settle=_targets,
        update=_update,
        retag=tagger("events", "tag_resource", "untag_resource", lambda it: {"ResourceARN": answer("RuleArn")(it)}),
        delete=_delete,
        read=EVENTS.read(
            "describe_rule",
            lambda it: {"Name": it["Name"], **_bus(it)},
            "{State: State, ScheduleExpression: ScheduleExpression}",
        ),
        attributes={"Arn": answer("RuleArn"), "RuleName": given("Name")},
        named=Name(property="Name", limit=64),
    ),
)
