"""A role whose permissions are all in one managed policy: NIST's rules want no inline ones, and CDK writes those."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge_wildcards, main_resource


class ManagedRole(Construct):
    """A role with one managed policy; what CDK's own constructs would add to it inline is left out.

    Args:
        service: The service that takes the role, as ``"ec2.amazonaws.com"``.
        description: What the role is for.

    Attributes:
        role: The role, as CDK's constructs are given it: they cannot add to it.
        policy: The policy.
    """

    def __init__(self, scope: Construct, construct_id: str, *, service: str, description: str) -> None:
        super().__init__(scope, construct_id)
        own = iam.Role(self, "Resource", assumed_by=iam.ServicePrincipal(service), description=description)
        self.role: iam.IRole = own.without_policy_updates()
        self.policy = iam.ManagedPolicy(self, "Policy", roles=[own], description=description)

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
        acknowledge_wildcards(main_resource(self.policy), reason=reason, resources=resources)


def statement(
    actions: Sequence[str], resources: Sequence[str], **conditions: Mapping[str, object]
) -> iam.PolicyStatement:
    """Return an allowing statement; ``conditions`` are operators, as ``StringEquals={…}``."""
    return iam.PolicyStatement(actions=list(actions), resources=list(resources), conditions=conditions or None)
