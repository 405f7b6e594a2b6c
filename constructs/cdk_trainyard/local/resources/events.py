"""EventBridge: rules with their targets."""

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, tagger

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


TYPES = (
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
