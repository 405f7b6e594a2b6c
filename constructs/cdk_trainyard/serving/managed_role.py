"""A role whose permissions are all in one managed policy: NIST's rules want no inline ones, and CDK writes those."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, main_resource
from cdk_trainyard.managed_policy import attach

_SLUG = "@cdk-trainyard/serving:role-not-changed"


class ManagedRole(Construct):
    """A role with one managed policy; what CDK's own constructs would add to it inline is left out.

    Args:
        service: The service that takes the role, as ``"ec2.amazonaws.com"``.
        description: What the role is for.
        given: A role of the user's, which gets the policy attached; one that must not change gets nothing, and its
            owner is told. Default - a new one.

    Attributes:
        role: The role, as CDK's constructs are given it: they cannot add to it.
        policy: The policy.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, service: str, description: str, given: iam.IRole | None = None
    ) -> None:
        super().__init__(scope, construct_id)
        own = given or iam.Role(self, "Resource", assumed_by=iam.ServicePrincipal(service), description=description)
        self.role: iam.IRole = self._closed(own)
        self.policy = iam.ManagedPolicy(
            self, "Policy", roles=None if given else [cast("iam.Role", own)], description=description
        )
        if given:
            attach(self, self.policy, given, slug=_SLUG, whose=f"'{description}'", otherwise="tasks do not start")

    def _closed(self, role: iam.IRole) -> iam.IRole:
        """Return the role as one that CDK adds nothing to."""
        if isinstance(role, iam.Role):
            return role.without_policy_updates()
        return iam.Role.from_role_arn(self, "Given", role.role_arn, mutable=False)

    @staticmethod
    def without_permissions(scope: Construct, construct_id: str, *, service: str, description: str) -> iam.IRole:
        """Define a role that may do nothing, and that nothing can add to."""
        role = iam.Role(scope, construct_id, assumed_by=iam.ServicePrincipal(service), description=description)
        return role.without_policy_updates()

    def allow(self, *statements: iam.PolicyStatement) -> None:
        """Add statements."""
        self.policy.add_statements(*statements)

    def acknowledge(self, reason: str, *resources: str) -> None:
        """Explain wildcards in the policy."""
        self._wildcards.acknowledge(reason, *resources)

    @cached_property
    def _wildcards(self) -> Wildcards:
        return Wildcards(main_resource(self.policy))


def statement(
    actions: Sequence[str], resources: Sequence[str], **conditions: Mapping[str, object]
) -> iam.PolicyStatement:
    """Return an allowing statement; ``conditions`` are operators, as ``StringEquals={…}``."""
    return iam.PolicyStatement(actions=list(actions), resources=list(resources), conditions=conditions or None)
