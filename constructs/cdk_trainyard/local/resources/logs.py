"""CloudWatch Logs: log groups, streams, metric filters, resource policies."""

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, given, tagger

LOGS = Api("logs")


def _arn(it: Resource) -> str:
    return it.where.arn("logs", f"log-group:{it.id}:*")


def _retention(it: Resource) -> None:
    if "RetentionInDays" in it:
        it.call("logs", "put_retention_policy", {"LogGroupName": it.id, **it.pick("RetentionInDays")})
    elif "RetentionInDays" in it.previous:
        it.call("logs", "delete_retention_policy", {"LogGroupName": it.id})


def _update(it: Resource) -> None:
    if it.changed("RetentionInDays"):
        _retention(it)
    if it.changed("KmsKeyId"):
        verb = "associate" if "KmsKeyId" in it else "disassociate"
        it.call("logs", f"{verb}_kms_key", {"LogGroupName": it.id, **it.pick("KmsKeyId")})


_TAGS = tagger(
    "logs",
    "tag_resource",
    "untag_resource",
    lambda it: {"ResourceArn": _arn(it).removesuffix(":*")},
)

_FORGET_FILTER = LOGS.forget("delete_metric_filter", lambda it: it.pick("LogGroupName", "FilterName"))

TYPES = (
    ResourceType(
        name="AWS::Logs::LogGroup",
        create=LOGS.apply("create_log_group"),
        identity=given("LogGroupName"),
        settle=_retention,
        update=_update,
        retag=_TAGS,
        delete=LOGS.forget("delete_log_group", lambda it: {"LogGroupName": it.id}),
        read=LOGS.read(
            "describe_log_groups",
            lambda it: {"LogGroupNamePrefix": it.id},
            "logGroups[0].{RetentionInDays: retentionInDays}",
        ),
        attributes={"Arn": _arn},
        named=Name(property="LogGroupName", limit=512),
    ),
    ResourceType(
        name="AWS::Logs::LogStream",
        create=LOGS.apply("create_log_stream"),
        identity=given("LogStreamName"),
        delete=LOGS.forget("delete_log_stream", lambda it: it.pick("LogGroupName", "LogStreamName")),
        named=Name(property="LogStreamName", limit=512),
    ),
    ResourceType(
        name="AWS::Logs::MetricFilter",
        create=LOGS.put("put_metric_filter"),
        identity=given("FilterName"),
        update=after(_FORGET_FILTER, LOGS.put("put_metric_filter")),  # moto adds a second one of the same name
        delete=_FORGET_FILTER,
        named=Name(property="FilterName", limit=512),
    ),
    ResourceType(
        name="AWS::Logs::ResourcePolicy",
        create=LOGS.put("put_resource_policy"),
        identity=given("PolicyName"),
        update=LOGS.put("put_resource_policy"),
        delete=LOGS.forget("delete_resource_policy", lambda it: {"PolicyName": it.id}),
    ),
)
