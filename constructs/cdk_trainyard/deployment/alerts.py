"""The ``alerts:`` section."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.options.kinds import Email
from cdk_trainyard.problems import Problem, option

if TYPE_CHECKING:
    from aws_cdk import aws_sns as sns


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertsSection:
    """Who is told when a node is unhealthy, and when the cluster or an operation on it fails."""

    emails: Sequence[Annotated[str, Email()]] = ()
    """Addresses that a new SNS topic writes to, once each has confirmed. Default - none."""
    topic: "sns.ITopic | None" = None
    """An SNS topic of yours instead. It must let CloudWatch and EventBridge publish, for a fleet Auto Scaling, and so
    must the key that encrypts it. Default - one is made for the emails."""


def alerts_problems(alerts: AlertsSection) -> Iterator[Problem]:
    """Check that there is a topic of yours, or addresses for a new one."""
    if alerts.topic is not None and alerts.emails:
        text = f"must be left out beside {option('emails')}; subscribe the addresses to your topic yourself"
        yield Problem(("topic",), text)
    if alerts.topic is None and not alerts.emails:
        yield Problem(("emails",), f"or {option('topic')} must be given, got neither")
