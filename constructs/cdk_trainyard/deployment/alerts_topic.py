"""Who is told of trouble, as a construct: a topic with its subscriptions, or one that exists."""

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.cluster import Publisher
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.retention import KEPT


def alerts_topic(
    scope: Construct,
    construct_id: str,
    section: AlertsSection,
    *publishers: Publisher,
) -> sns.ITopic:
    """Take the topic that exists, or define one with a key that who publishes may use.

    A topic that exists must let them publish, and the key that encrypts it must let them use it.

    Args:
        scope: The parent: a stack.
        construct_id: Its id.
        section: What the file says.
        publishers: Who publishes, beside CloudWatch: ``let_alarms_publish`` lets it in where alarms are.
    """
    if section.topic is not None:
        return Existing.of(scope).topic(section.topic.topic_arn)
    inside = Construct(scope, construct_id)
    key = kms.Key(
        inside, "Key", description="Alerts of a training cluster", enable_key_rotation=True, removal_policy=KEPT
    )
    # Without aws:SourceAccount or aws:SourceArn: "not supported for EventBridge-to-encrypted topics" (SNS guide,
    # sns-key-management); nothing would be delivered, and nobody told. The topic's own policy says who may publish.
    for publisher in publishers:
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid=publisher.sid,
                principals=[publisher.principal],
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=["*"],  # in a key policy: this key
            )
        )
        if publisher.anybody_because:
            acknowledge(main_resource(key), {"CKV_AWS_33": publisher.anybody_because})
    topic = sns.Topic(inside, "Resource", master_key=key, enforce_ssl=True)
    for address in section.emails:
        topic.add_subscription(subscriptions.EmailSubscription(address))
    return topic
