"""What every stack of a deployment has."""

from aws_cdk import CfnOutput, Stack, Token
from constructs import Construct

from cdk_trainyard.deployment import Deployment, build
from cdk_trainyard.deployment.needs import PARTS
from cdk_trainyard.identifiers import stack_name


class DeploymentStack(Stack):
    """A stack that has the name, the account and the Region of its deployment, and puts out what it needs of them."""

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment, part: str, holds: str) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=stack_name(deployment.name, part),
            description=f"{deployment.name}: {holds} (cdk-trainyard)",
            env=build.environment(deployment),
        )
        needs = PARTS[part](deployment)
        if needs.quotas:
            CfnOutput(self, "Quotas", value=needs.quotas_text)
        CfnOutput(self, "Prerequisites", value=needs.prerequisites_text)

    def keep_exports(self, *ids: str) -> None:
        """Export ids whether a later stack uses them or not, as monitoring and image builds do while asked for.

        CDK would remove an export with its last use, in a stack that is updated before the one that uses it, and
        CloudFormation refuses to remove what is in use (its user guide, "Get exported outputs from a deployed
        CloudFormation stack", read 2026-11).

        Args:
            ids: What resources of this stack are called; what is known beforehand needs no export.
        """
        for each in ids:
            if Token.is_unresolved(each):
                self.export_value(each)
