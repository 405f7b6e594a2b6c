"""SNS: topics, their policies, subscriptions."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, arn, given, identity, tagger

SNS = Api("sns")
_ATTRIBUTES = (
    "DisplayName",
    "KmsMasterKeyId",
    "FifoTopic",
    "ContentBasedDeduplication",
    "SignatureVersion",
    "TracingConfig",
    "ArchivePolicy",
    "FifoThroughputScope",
)
_DELIVERY = (
    "DeliveryPolicy",
    "FilterPolicy",
    "FilterPolicyScope",
    "RawMessageDelivery",
    "RedrivePolicy",
    "SubscriptionRoleArn",
)


def _topic(it: Resource) -> dict[str, Any]:
    return {"Name": it["TopicName"], "Attributes": it.pick(*_ATTRIBUTES), "Tags": it.get("Tags", [])}


def _subscribe_inline(it: Resource) -> None:
    for row in it.get("Subscription", []):
        it.call("sns", "subscribe", {"TopicArn": it.id, **row})


def _change_topic(it: Resource) -> None:
    for name in _ATTRIBUTES:
        if it.changed(name):
            value = it.get(name, "")
            it.call(
                "sns",
                "set_topic_attributes",
                {"TopicArn": it.id, "AttributeName": name, "AttributeValue": value},
            )


def _policy(it: Resource) -> None:
    for topic in it["Topics"]:
        it.call(
            "sns",
            "set_topic_attributes",
            {"TopicArn": topic, "AttributeName": "Policy", "AttributeValue": it["PolicyDocument"]},
        )


def _default_policy(it: Resource) -> None:
    """CloudFormation cannot remove a topic's policy; it writes the default one again."""
    for topic in it["Topics"]:
        owner = {"AWS:SourceOwner": it.where.account}
        statement = {
            "Sid": "__default_statement_ID",
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": ["SNS:Publish", "SNS:Subscribe"],
            "Resource": topic,
            "Condition": {"StringEquals": owner},
        }
        document = {"Version": "2008-10-17", "Id": "__default_policy_ID", "Statement": [statement]}
        SNS.forget("set_topic_attributes", _document(topic, document))(it)


def _document(topic: str, document: dict[str, Any]) -> Any:
    return lambda _: {"TopicArn": topic, "AttributeName": "Policy", "AttributeValue": document}


def _subscription(it: Resource) -> dict[str, Any]:
    return {
        **it.pick("TopicArn", "Protocol", "Endpoint"),
        "Attributes": it.pick(*_DELIVERY),
        "ReturnSubscriptionArn": True,
    }


def _change_subscription(it: Resource) -> None:
    for name in _DELIVERY:
        if it.changed(name):
            it.call(
                "sns",
                "set_subscription_attributes",
                {"SubscriptionArn": it.id, "AttributeName": name, "AttributeValue": it.get(name, "{}")},
            )


TYPES = (
    ResourceType(
        name="AWS::SNS::Topic",
        create=SNS.call("create_topic", _topic),
        identity=answer("TopicArn"),
        settle=_subscribe_inline,
        update=_change_topic,
        retag=tagger("sns", "tag_resource", "untag_resource", lambda it: {"ResourceArn": it.id}),
        delete=SNS.forget("delete_topic", lambda it: {"TopicArn": it.id}),
        read=SNS.read("get_topic_attributes", lambda it: {"TopicArn": it.id}),
        attributes={"TopicArn": identity, "TopicName": given("TopicName")},
        named=Name(property="TopicName", limit=256),
    ),
    ResourceType(
        name="AWS::SNS::TopicPolicy",
        create=_policy,
        identity=arn("sns", "topic-policy"),
        update=_policy,
        delete=_default_policy,
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::SNS::Subscription",
        create=SNS.call("subscribe", _subscription),
        identity=answer("SubscriptionArn"),
        update=_change_subscription,
        delete=SNS.forget("unsubscribe", lambda it: {"SubscriptionArn": it.id}),
        read=SNS.read("get_subscription_attributes", lambda it: {"SubscriptionArn": it.id}),
        attributes={"Arn": identity},
    ),
)
