"""Who asks for what: the principal, the action, the resource and the request context."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from cdk_trainyard.policy.context import Context, Values

_ACCOUNT_PART = 4
_FULL_ARN = 6


def account_of(arn: str) -> str:
    """Return the account in ``arn``; nothing when it has none."""
    parts = arn.split(":", _FULL_ARN - 1)
    return parts[_ACCOUNT_PART] if len(parts) == _FULL_ARN else ""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who makes a request.

    Attributes:
        kind: `aws:PrincipalType` as IAM names it (``AssumedRole``, ``User``, ``Account``, ``Anonymous``), or
            ``Service`` or ``Federated``.
        arn: ARN of the session, user or account's root; name of the service or identity provider.
        role_arn: ARN of the role of a session, with its path.
        unique_id: ``AROA…`` of the role, ``AIDA…`` of the user. Default - none; a policy that names it does not match.
    """

    kind: str
    arn: str = ""
    role_arn: str = ""
    unique_id: str = ""

    @classmethod
    def role_session(cls, role_arn: str, session_name: str, unique_id: str = "") -> Self:
        """Return the session that STS makes of a role: ``arn:…:sts::…:assumed-role/NAME/SESSION``."""
        head, _, path = role_arn.partition(":role/")
        name = path.rpartition("/")[2]
        session = f"{head.replace(':iam:', ':sts:', 1)}:assumed-role/{name}/{session_name}"
        return cls("AssumedRole", session, role_arn, unique_id)

    @classmethod
    def user(cls, arn: str, unique_id: str = "") -> Self:
        """Return an IAM user."""
        return cls("User", arn, unique_id=unique_id)

    @classmethod
    def root(cls, account: str, partition: str = "aws") -> Self:
        """Return the root user of an account."""
        return cls("Account", f"arn:{partition}:iam::{account}:root")

    @classmethod
    def service(cls, name: str) -> Self:
        """Return a service: ``s3.amazonaws.com``."""
        return cls("Service", name)

    @classmethod
    def federated(cls, provider: str) -> Self:
        """Return somebody whom an identity provider knows."""
        return cls("Federated", provider)

    @property
    def account(self) -> str:
        """Account number; nothing for services, identity providers and anonymous callers."""
        return account_of(self.arn)

    @property
    def identity_arn(self) -> str:
        """`aws:PrincipalArn`: of a session its role's."""
        return self.role_arn or self.arn

    @property
    def is_of_an_account(self) -> bool:
        """Whether identity policies can say something about it."""
        return bool(self.account)

    def keys(self) -> dict[str, str]:
        """Return the condition keys that follow from who it is.

        Source: IAM User Guide, "AWS global condition context keys" and "Principal key values" (2023-05-11).
        """
        if self.kind == "Anonymous":
            return {"aws:PrincipalType": "Anonymous", "aws:PrincipalAccount": "anonymous", "aws:userid": "anonymous"}
        if not self.is_of_an_account:
            is_service = self.kind == "Service"
            return {"aws:PrincipalIsAWSService": "true", "aws:PrincipalServiceName": self.arn} if is_service else {}
        keys = {
            "aws:PrincipalType": self.kind,
            "aws:PrincipalAccount": self.account,
            "aws:PrincipalArn": self.identity_arn,
            "aws:PrincipalIsAWSService": "false",
        }
        if self.kind == "User":
            keys["aws:username"] = self.arn.rpartition("/")[2]
        if self.unique_id:
            session = f":{self.arn.rpartition('/')[2]}" if self.role_arn else ""
            keys["aws:userid"] = f"{self.unique_id}{session}"
        return keys


ANONYMOUS = Principal("Anonymous")
"""Whoever did not sign the request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is to be allowed or denied.

    Attributes:
        principal: Who asks.
        action: ``s3:GetObject``.
        resource: ARN, or ``*`` for an action that knows no resource.
        keys: Condition keys beside those of the principal, which they override.
        resource_account: Account of the resource. Default - that in its ARN, else the principal's own.
    """

    principal: Principal
    action: str
    resource: str
    keys: Mapping[str, Values] = field(default_factory=dict)
    resource_account: str = ""

    @property
    def context(self) -> Context:
        """The request context."""
        return Context({**self.principal.keys(), **self.keys})

    @property
    def is_cross_account(self) -> bool:
        """Whether the resource is another account's than the principal."""
        owner = self.resource_account or account_of(self.resource)
        return bool(owner) and owner != self.principal.account

    @property
    def is_guarded_by_its_resource(self) -> bool:
        """Whether a resource policy must allow it in any case: KMS keys and the trust policies of roles.

        Source: IAM User Guide, "Policy evaluation logic" (2023-05-11): both "must explicitly allow access".
        """
        action = self.action.lower()
        return action.startswith("sts:assumerole") or (action.startswith("kms:") and ":key/" in self.resource)
