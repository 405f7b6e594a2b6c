"""Kinesis: data streams."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, given, tagger

STREAMS = Api("kinesis")
_ON_DEMAND = "ON_DEMAND"
_DAY = 24  # hours: how long a stream keeps what it gets, if nobody says


def _named(it: Resource) -> dict[str, Any]:
    return {"StreamName": it["Name"]}


def _arn(it: Resource) -> str:
    return it.where.arn("kinesis", f"stream/{it['Name']}")


def _is_on_demand(it: Resource) -> bool:
    return (it.get("StreamModeDetails") or {}).get("StreamMode") == _ON_DEMAND


def _stream(it: Resource) -> dict[str, Any]:
    shards = {} if _is_on_demand(it) else {"ShardCount": it.get("ShardCount", 1)}
    return {**_named(it), **shards}


def _retention(it: Resource) -> None:
    new, old = int(it.get("RetentionPeriodHours", _DAY)), int(it.previous.get("RetentionPeriodHours", _DAY))
    if new != old:
        verb = "increase" if new > old else "decrease"
        it.call("kinesis", f"{verb}_stream_retention_period", {**_named(it), "RetentionPeriodHours": new})


def _encryption(it: Resource) -> None:
    new, old = it.get("StreamEncryption"), it.previous.get("StreamEncryption")
    if old and not new:
        it.call("kinesis", "stop_stream_encryption", {**_named(it), **old})
    elif new and new != old:
        it.call("kinesis", "start_stream_encryption", {**_named(it), **new})


def _metrics(it: Resource) -> None:
    new, old = set(it.get("DesiredShardLevelMetrics") or []), set(it.previous.get("DesiredShardLevelMetrics") or [])
    for verb, names in (("disable", old - new), ("enable", new - old)):
        if names:
            it.call("kinesis", f"{verb}_enhanced_monitoring", {**_named(it), "ShardLevelMetrics": sorted(names)})


def _update(it: Resource) -> None:
    if it.changed("StreamModeDetails"):
        mode = it.get("StreamModeDetails", {"StreamMode": "PROVISIONED"})
        it.call("kinesis", "update_stream_mode", {"StreamARN": _arn(it), "StreamModeDetails": mode})
    if it.changed("ShardCount") and not _is_on_demand(it):
        count = {"TargetShardCount": it.get("ShardCount", 1), "ScalingType": "UNIFORM_SCALING"}
        it.call("kinesis", "update_shard_count", {**_named(it), **count})
    _rest(it)


_rest = after(_retention, _encryption, _metrics)
_RETAG = tagger("kinesis", "add_tags_to_stream", "remove_tags_from_stream", _named)


TYPES = (
    ResourceType(
        name="AWS::Kinesis::Stream",
        create=STREAMS.apply("create_stream", _stream, but=("ShardCount", "Tags")),
        identity=given("Name"),
        settle=after(_rest, _RETAG),
        update=_update,
        retag=_RETAG,
        delete=STREAMS.forget("delete_stream", lambda it: {**_named(it), "EnforceConsumerDeletion": True}),
        read=STREAMS.read(
            "describe_stream_summary",
            _named,
            "StreamDescriptionSummary.{RetentionPeriodHours: RetentionPeriodHours}",
        ),
        attributes={"Arn": _arn},
        named=Name(property="Name", limit=128),
    ),
)
