"""The Principal element: whom a statement of a resource policy means, and how far its Allow goes.

Source: IAM User Guide, "AWS JSON policy elements: Principal", "… NotPrincipal" and "Policy evaluation logic"
(2023-05-11); endpoint policies: VPC User Guide, "Gateway endpoints" (2026-08).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from cdk_trainyard.policy.errors import PolicyError
from cdk_trainyard.policy.request import Principal, account_of

_TYPES = ("AWS", "Service", "Federated", "CanonicalUser")
_ACCOUNT = re.compile(r"\d{12}")
_ARN = re.compile(r"arn:[a-z-]+:(iam|sts)::\d{12}:(root|(user|role|assumed-role|federated-user)/[^*?]+)")
_UNIQUE_ID = re.compile(r"A[A-Z]{3}[A-Z0-9]{12,}")


class Reach(IntEnum):
    """How far an Allow of a resource policy goes for a principal of the same account."""

    NONE = 0
    ACCOUNT = 1  # the account is named: it may grant with identity policies
    ROLE = 2  # the session's role is named: its boundary and session policies still limit
    DIRECT = 3  # the session, the user, the service or everybody is named: nothing but a Deny limits


@dataclass(frozen=True, slots=True)
class PrincipalElement:
    """``Principal`` or ``NotPrincipal``."""

    names: Mapping[str, tuple[str, ...]]
    negated: bool

    @classmethod
    def parse(cls, element: Any, *, negated: bool) -> "PrincipalElement":
        """Read the element.

        Raises:
            PolicyError: A type of principal, or a form of its name, that IAM does not know.
        """
        if element == "*":
            return cls({"AWS": ("*",)}, negated)
        if not isinstance(element, Mapping):
            raise PolicyError(f"Principal: {element!r} is neither '*' nor a map of {', '.join(_TYPES)}")
        names: dict[str, tuple[str, ...]] = {}
        for kind, value in element.items():
            if kind not in _TYPES:
                raise PolicyError(f"Principal: there is no type {kind!r}; there are {', '.join(_TYPES)}")
            names[kind] = (value,) if isinstance(value, str) else tuple(value)
        for name in names.get("AWS", ()):
            if name != "*" and not any(form.fullmatch(name) for form in (_ACCOUNT, _ARN, _UNIQUE_ID)):
                raise PolicyError(f"Principal: {name!r} is no account, no ARN of a principal, and not '*' alone")
        return cls(names, negated)

    def covers(self, principal: Principal, *, deny: bool) -> bool:
        """Whether a statement with this element is about ``principal``.

        NotPrincipal with Deny spares a principal only when its session, its role and its account are all named;
        with Allow one of them is enough to leave it out.
        """
        if not self.negated:
            return self.reach(principal) > Reach.NONE
        named = [any(name in own for listed in self.names.values() for name in listed) for own in _names_of(principal)]
        spared = all(named) if deny else any(named)
        return not spared

    def reach(self, principal: Principal) -> Reach:
        """Return how far an Allow for these names goes for ``principal``."""
        if self.negated:
            return Reach.DIRECT
        aws = self.names.get("AWS", ())
        if "*" in aws or (not principal.account and principal.arn in self.names.get(principal.kind, ())):
            return Reach.DIRECT
        if principal.kind == "Service" and "*" in self.names.get("Service", ()):
            return Reach.DIRECT
        return max((_reach_of(name, principal) for name in aws), default=Reach.NONE)

    def opens_endpoint(self, principal: Principal) -> bool:
        """Whether an Allow of a gateway endpoint's policy is for ``principal``.

        There an account means its root user alone, and roles and users are named in `aws:PrincipalArn` only.
        """
        everybody = self.negated or "*" in self.names.get("AWS", ())
        return everybody or (principal.kind == "Account" and self.reach(principal) > Reach.NONE)


def _names_of(principal: Principal) -> list[set[str]]:
    """Return the names of each thing that ``principal`` is: itself, its role, its account."""
    if not principal.account:
        return [{principal.arn, "*"}]
    return [{principal.arn, "*"}, {principal.identity_arn, "*"}, {principal.account, _root(principal), "*"}]


def _root(principal: Principal) -> str:
    partition = principal.arn.split(":")[1]
    return f"arn:{partition}:iam::{principal.account}:root"


def _reach_of(name: str, principal: Principal) -> Reach:
    if not principal.account:
        return Reach.NONE
    if name == principal.arn or (name == principal.unique_id and not principal.role_arn):
        return Reach.DIRECT
    if name in {principal.role_arn, principal.unique_id} - {""}:
        return Reach.ROLE
    is_account = name == principal.account or (name.endswith(":root") and account_of(name) == principal.account)
    return Reach.ACCOUNT if is_account else Reach.NONE
