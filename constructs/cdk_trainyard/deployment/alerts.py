"""The ``alerts:`` section."""

from typing import Annotated

from cdk_trainyard.deployment._section import Section, TopicArn, text

Email = Annotated[str, text(r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "an email address", example="ops@example.com")]


class AlertsSection(Section):
    """Who is told when a node is unhealthy, and when the cluster or an operation on it fails."""

    emails: tuple[Email, ...] = ()
    """Addresses that a new SNS topic writes to, once each has confirmed. Default - none."""
    topic_arn: TopicArn | None = None
    """An SNS topic of yours instead. It must let CloudWatch and EventBridge publish, for a fleet Auto Scaling, and so
    must the key that encrypts it. Default - one is made for the emails."""
