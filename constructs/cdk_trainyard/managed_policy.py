"""A role whose grants go into one managed policy: NIST's rules want no inline policies, and CDK writes those."""

import json
from collections.abc import Mapping
from typing import Any, Final

import jsii
from aws_cdk import Annotations, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct, IValidation

SESSION_CHANNELS = (
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
"""What Session Manager needs of an instance's role to open a session on it; the API knows no resources of them."""

_LONGEST: Final = 6144
"""Characters of a managed policy, blanks not counted (IAM user guide, "IAM and AWS STS quotas", read 2026-11)."""
_PSEUDO: Final = {"AWS::Partition": "aws", "AWS::AccountId": "0" * 12, "AWS::URLSuffix": "amazonaws.com"}
_SHORTEST: Final = "sg-0123456789abcdef0"
"""The shortest of what policies refer to: ids and ARNs of resources."""


def may_change(role: iam.IRole) -> bool:
    """Return whether policies may be attached to a role: not to one of another account, or imported as immutable.

    CDK says so by where it puts such a role: beside the one that it stands for (``Role.from_role_arn`` and
    ``without_policy_updates``; a test compares).

    Args:
        role: The role.
    """
    name, scope = role.node.id, role.node.scope
    others = [f"MutableRole{name}", name.removeprefix("ImmutableRole")]
    return scope is None or not any(other != name and scope.node.try_find_child(other) for other in others)


def attach(
    scope: Construct, policy: iam.ManagedPolicy, role: iam.IRole, *, slug: str, whose: str, otherwise: str
) -> None:
    """Attach a policy to a role, or warn that the role's owner must.

    Args:
        scope: Where the warning is.
        policy: The policy.
        role: The role.
        slug: What the warning is acknowledged by.
        whose: Whose role it is.
        otherwise: What happens until it is attached.
    """
    if may_change(role):
        policy.attach_to_role(role)
        return
    Annotations.of(scope).add_warning_v2(
        slug,
        f"the role of {whose} cannot be changed from here ({role.node.path}): attach {policy.node.path} to it, or "
        f"{otherwise}",
    )


def hold_to_size(policy: iam.ManagedPolicy) -> None:
    """Refuse a policy that is longer than IAM takes, when CDK validates the tree.

    Args:
        policy: The policy.
    """
    policy.node.add_validation(_Size(policy))


@jsii.implements(IValidation)
class _Size:
    def __init__(self, policy: iam.ManagedPolicy) -> None:
        self._policy = policy

    def validate(self) -> list[str]:
        document = _at_least(Stack.of(self._policy).resolve(self._policy.document))
        size = len("".join(json.dumps(document, separators=(",", ":")).split()))
        if size <= _LONGEST:
            return []
        text = f"must have at most {_LONGEST} characters, all that IAM takes, and has {size} or more: mount one prefix"
        return [f"{text} of a bucket in the place of many, name '*' in the place of many repositories, or grant less"]


def _at_least(value: Any) -> Any:
    """Return what CloudFormation makes of a value, with the shortest text in the place of what is not known yet."""
    if isinstance(value, list):
        return [_at_least(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    first: tuple[str, Any] = next(iter(value.items()), ("", None))
    name, said = first
    if name == "Ref" and said in _PSEUDO:
        return _PSEUDO[said]
    if name == "Fn::Join":
        delimiter, parts = said
        return delimiter.join(map(str, _at_least(parts))) if isinstance(parts, list) else ""
    if name in {"Ref", "Fn::GetAtt", "Fn::ImportValue"}:
        return "" if str(said).startswith("AWS::") else _SHORTEST
    return "" if name.startswith("Fn::") else {key: _at_least(inner) for key, inner in value.items()}


@jsii.implements(iam.IPrincipal)
class ManagedPolicyPrincipal:
    """The role as a principal whose grants go into a managed policy; by itself a role takes them as an inline one."""

    def __init__(self, role: iam.IRole, policy: iam.ManagedPolicy) -> None:
        """Let grants to ``role`` land in ``policy``."""
        self._role, self._policy = role, policy

    @property
    def assume_role_action(self) -> str:
        """The role's."""
        return self._role.assume_role_action

    @property
    def policy_fragment(self) -> iam.PrincipalPolicyFragment:
        """The role's."""
        return self._role.policy_fragment

    @property
    def principal_account(self) -> str | None:
        """The role's."""
        return self._role.principal_account

    @property
    def grant_principal(self) -> "ManagedPolicyPrincipal":
        """Itself."""
        return self

    def add_to_principal_policy(self, statement: iam.PolicyStatement) -> iam.AddToPrincipalPolicyResult:
        """Add a statement to the managed policy."""
        self._policy.add_statements(statement)
        return iam.AddToPrincipalPolicyResult(statement_added=True, policy_dependable=self._policy)

    def add_to_policy(self, statement: iam.PolicyStatement) -> bool:
        """Add a statement to the managed policy."""
        return bool(self.add_to_principal_policy(statement).statement_added)
