"""The ``alerts:`` section."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.options.arns import account_of
from cdk_trainyard.options.kinds import Email
from cdk_trainyard.problems import Problem, option, shown
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:
    from aws_cdk import aws_sns as sns


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertsSection:
    """Who is told when a node is unhealthy, and when the cluster or an operation on it fails."""

    emails: Sequence[Annotated[str, Email()]] = ()
    """Addresses that a new SNS topic writes to, once each has confirmed. When the stack goes, so do the addresses; the
    topic of a new workspace of ``monitoring`` is kept with it. Default - none."""
    topic: "sns.ITopic | None" = None
    """An SNS topic of yours instead, with HyperPod of the deployment's account. It must let CloudWatch and EventBridge
    publish, for a fleet Auto Scaling, for a new workspace of ``monitoring`` Amazon Managed Service for Prometheus
    (``aps.amazonaws.com``), and so must the key that encrypts it. Default - one is made for the emails."""


def alerts_problems(alerts: AlertsSection, account: str | None, publishes: str | None) -> Iterator[Problem]:
    """Check that there is a topic of yours that can be told, or addresses for a new one.

    A rule of EventBridge publishes to another account with a role alone, which the key of the topic must let in, too
    (EventBridge user guide, "Sending events to an AWS service in another account", read 2026-11).

    Args:
        alerts: The section.
        account: The deployment's account. None: not known.
        publishes: The service that tells of the cluster's trouble in its own name. None: none does.
    """
    if unresolved(alerts):
        return
    if alerts.topic is not None and alerts.emails:
        text = f"must be left out beside {option('emails')}; subscribe the addresses to your topic yourself"
        yield Problem(("topic",), text)
    arn = None if alerts.topic is None else alerts.topic.topic_arn
    judged = publishes == "events" and account is not None and not unresolved(arn)
    if judged and arn is not None and account_of(arn) != account:
        why = "since the rules that tell of its events have no role for another"
        remedy = f"name a topic there, or give {option('emails')}"
        yield Problem(("topic",), f"must be of account {account}, as the cluster is, {why}, got {shown(arn)}; {remedy}")
    if alerts.topic is None and not alerts.emails:
        yield Problem(("emails",), f"or {option('topic')} must be given, got neither")
