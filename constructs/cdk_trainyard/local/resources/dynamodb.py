"""DynamoDB: tables with their indexes, streams and policies."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, answer, identity, tagger

TABLES = Api("dynamodb")
_OWN_CALLS = ("ResourcePolicy", "SSESpecification", "StreamSpecification")
_CHANGES = ("BillingMode", "DeletionProtectionEnabled", "ProvisionedThroughput", "WarmThroughput")
_OF_INDEX = ("OnDemandThroughput", "ProvisionedThroughput", "WarmThroughput")


def _table(it: Resource) -> dict[str, Any]:
    encryption = dict(it.get("SSESpecification") or {})
    if "SSEEnabled" in encryption:
        encryption["Enabled"] = encryption.pop("SSEEnabled")
    return {**({"SSESpecification": encryption} if encryption else {}), **_stream(it)}


def _stream(it: Resource) -> dict[str, Any]:
    said = it.get("StreamSpecification")
    return {"StreamSpecification": {"StreamEnabled": True, **said}} if said else {}


def _time_to_live(it: Resource) -> None:
    """Set the attribute that says when items expire; one that goes is switched off."""
    said, before = it.get("TimeToLiveSpecification"), it.previous.get("TimeToLiveSpecification")
    if said != before:
        wanted = said or {**(before or {}), "Enabled": False}
        it.call("dynamodb", "update_time_to_live", {"TableName": it.id, "TimeToLiveSpecification": wanted})


def _recovery(it: Resource) -> None:
    said, before = it.get("PointInTimeRecoverySpecification"), it.previous.get("PointInTimeRecoverySpecification")
    if said != before:
        wanted = said or {"PointInTimeRecoveryEnabled": False}
        it.call(
            "dynamodb",
            "update_continuous_backups",
            {"TableName": it.id, "PointInTimeRecoverySpecification": wanted},
        )


def _policy(it: Resource) -> None:
    said, before = it.get("ResourcePolicy"), it.previous.get("ResourcePolicy")
    if said and said != before:
        policy = {"ResourceArn": _arn(it), "Policy": said["PolicyDocument"]}
        it.call("dynamodb", "put_resource_policy", policy)
    elif before and not said:
        it.call("dynamodb", "delete_resource_policy", {"ResourceArn": _arn(it)})


def _indexes(it: Resource) -> list[dict[str, Any]]:
    """Return the changes of global indexes; what is not a throughput makes an index anew, as at AWS."""
    new, old = _by_name(it.get("GlobalSecondaryIndexes")), _by_name(it.previous.get("GlobalSecondaryIndexes"))
    same = {name for name in new if name in old and _fixed(new[name]) == _fixed(old[name])}
    return [
        *({"Delete": {"IndexName": name}} for name in old if name not in same),
        *({"Create": new[name]} for name in new if name not in same),
        *({"Update": _throughput(new[name])} for name in new if name in same and new[name] != old[name]),
    ]


def _by_name(indexes: Any) -> dict[str, Any]:
    return {index["IndexName"]: index for index in indexes or []}


def _fixed(index: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in index.items() if name not in _OF_INDEX}


def _throughput(index: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in index.items() if name in ("IndexName", *_OF_INDEX)}


def _update(it: Resource) -> None:
    changed = {name: it[name] for name in _CHANGES if it.changed(name) and name in it.properties}
    if it.changed("StreamSpecification"):
        if it.previous.get("StreamSpecification"):  # a stream of another kind is another stream
            off = {"TableName": it.id, "StreamSpecification": {"StreamEnabled": False}}
            it.call("dynamodb", "update_table", off)
        changed |= _stream(it)
    definitions = it.pick("AttributeDefinitions")
    if changed:
        it.call("dynamodb", "update_table", {"TableName": it.id, **definitions, **changed})
    for change in _indexes(it):  # one at a time, as the API wants it
        it.call(
            "dynamodb", "update_table", {"TableName": it.id, **definitions, "GlobalSecondaryIndexUpdates": [change]}
        )
    _rest(it)


_rest = after(_time_to_live, _recovery, _policy)


def _arn(it: Resource) -> str:
    return it.where.arn("dynamodb", f"table/{it.id}")


def _stream_arn(it: Resource) -> Any:
    return it.call("dynamodb", "describe_table", {"TableName": it.id})["Table"].get("LatestStreamArn")


TYPES = (
    ResourceType(
        name="AWS::DynamoDB::Table",
        create=TABLES.apply("create_table", _table, but=_OWN_CALLS),
        identity=answer("TableDescription.TableName"),
        settle=_rest,
        update=_update,
        retag=tagger("dynamodb", "tag_resource", "untag_resource", lambda it: {"ResourceArn": _arn(it)}),
        delete=TABLES.forget("delete_table", lambda it: {"TableName": it.id}),
        read=TABLES.read(
            "describe_table",
            lambda it: {"TableName": it.id},
            "Table.{AttributeDefinitions: AttributeDefinitions, KeySchema: KeySchema}",
        ),
        attributes={"Arn": _arn, "StreamArn": _stream_arn, "TableName": identity},
        named=Name(property="TableName"),
        replace_also=frozenset({"KeySchema", "LocalSecondaryIndexes"}),  # AWS::DynamoDB::Table, Update requires
    ),
)
