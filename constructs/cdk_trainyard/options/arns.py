"""ARNs: whose they are, and those that are near to what is asked for, answered with what they are."""

import re
from dataclasses import replace
from typing import Any, Final

from cdk_trainyard.options.kinds import Arn, Environment
from cdk_trainyard.problems import Flaw, shown


def account_of(arn: str) -> str:
    """Return the account that an ARN names, or nothing where it names none.

    Args:
        arn: An ARN, or its beginning with the account.
    """
    return arn.split(":")[4]


class TopicArn(Arn):
    """The ARN of a standard topic (Amazon EventBridge user guide, "Event bus targets": no FIFO topics)."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say of a FIFO topic why it is none."""
        if not value.endswith(".fifo") or Arn.problem(self, value.removesuffix(".fifo"), environment):
            return Arn.problem(self, value, environment)
        return Flaw("must be the ARN of a standard topic", got=f"{shown(value)}: EventBridge tells no FIFO topic")


class PolicyArn(Arn):
    """The ARN of a managed policy, of which the console shows the name alone."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say of a name alone what the ARN is of a policy of AWS's own that is called so."""
        wrong = Arn.problem(self, value, environment)
        if wrong is None or re.fullmatch(r"[A-Z][\w+=,.@-]+", value, re.ASCII) is None:
            return wrong
        partition = environment.partition or "<partition>"
        return replace(wrong, remedy=f"; one of AWS's own is arn:{partition}:iam::aws:policy/{value}")


class SecretArn(Arn):
    """The ARN of a secret, all of whose value is read.

    Source: Amazon ECS developer guide, "Pass Secrets Manager secrets through Amazon ECS environment variables", read
    2026-11: a task definition may name a key, a stage and a version behind the ARN; Secrets Manager's own API takes
    none of them there.
    """

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say of a part of a secret which ARN is that of all of it."""
        whole = ":".join(value.split(":")[:7])
        if whole == value or Arn.problem(self, whole, environment):
            return Arn.problem(self, value, environment)
        added = "with the key, stage or version that a task definition adds: all of its value is read"
        got, remedy = f"{shown(value)}, {added}", f"; use {shown(whole)}"
        return Flaw(f"must be the ARN of {self.what} alone", got=got, remedy=remedy)


RESERVATION_GROUP: Final = Arn(
    service="resource-groups",
    resource=r"group/([A-Za-z0-9_.-]{1,300}|[A-Za-z0-9_.-]{1,150}/[a-z0-9]{26})",
    form="group/<name>",
    what="a resource group of capacity reservations",
)
"""``GroupArnV2`` of Resource Groups in botocore's model, 1.44.5."""
WORKSPACE: Final = Arn(
    service="aps",
    resource=r"workspace/[0-9A-Za-z][-.0-9A-Z_a-z]{0,63}",
    form="workspace/<id>",
    what="a workspace of Amazon Managed Service for Prometheus",
)
