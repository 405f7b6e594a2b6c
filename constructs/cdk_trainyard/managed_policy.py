"""A role whose grants go into one managed policy: NIST's rules want no inline policies, and CDK writes those."""

import jsii
from aws_cdk import Annotations
from aws_cdk import aws_iam as iam
from constructs import Construct

SESSION_CHANNELS = (
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
"""What Session Manager needs of an instance's role to open a session on it; the API knows no resources of them."""


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
