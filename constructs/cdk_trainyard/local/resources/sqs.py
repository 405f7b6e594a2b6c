"""SQS: queues and their policies."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, arn, given, identity, pairs

SQS = Api("sqs")
_ATTRIBUTES = (
    "ContentBasedDeduplication",
    "DeduplicationScope",
    "DelaySeconds",
    "FifoQueue",
    "FifoThroughputLimit",
    "KmsDataKeyReusePeriodSeconds",
    "KmsMasterKeyId",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "RedriveAllowPolicy",
    "RedrivePolicy",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
)


def _queue(it: Resource) -> dict[str, Any]:
    return {"QueueName": it["QueueName"], "Attributes": it.pick(*_ATTRIBUTES), "tags": pairs(it.get("Tags"))}


def _policy(it: Resource) -> None:
    for queue in it["Queues"]:
        it.call("sqs", "set_queue_attributes", {"QueueUrl": queue, "Attributes": {"Policy": it["PolicyDocument"]}})


def _no_policy(it: Resource) -> None:
    for queue in it["Queues"]:
        SQS.forget("set_queue_attributes", _without_policy(queue))(it)


def _without_policy(queue: str) -> Any:
    return lambda _: {"QueueUrl": queue, "Attributes": {"Policy": ""}}


TYPES = (
    ResourceType(
        name="AWS::SQS::Queue",
        create=SQS.call("create_queue", _queue),
        identity=answer("QueueUrl"),
        update=SQS.call("set_queue_attributes", lambda it: {"QueueUrl": it.id, "Attributes": it.pick(*_ATTRIBUTES)}),
        delete=SQS.forget("delete_queue", lambda it: {"QueueUrl": it.id}),
        read=SQS.read("get_queue_attributes", lambda it: {"QueueUrl": it.id}),
        attributes={
            "Arn": lambda it: it.where.arn("sqs", it["QueueName"]),
            "QueueName": given("QueueName"),
            "QueueUrl": identity,
        },
        named=Name(property="QueueName", limit=80),
    ),
    ResourceType(
        name="AWS::SQS::QueuePolicy",
        create=_policy,
        identity=arn("sqs", "queue-policy"),
        update=_policy,
        delete=_no_policy,
        attributes={"Id": identity},
    ),
)
