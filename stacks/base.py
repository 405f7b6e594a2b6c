"""What every stack of a deployment has."""

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from cdk_trainyard.deployment import Deployment, build
from cdk_trainyard.deployment.needs import PARTS


class DeploymentStack(Stack):
    """A stack that has the name, the account and the Region of its deployment, and puts out what it needs of them."""

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment, part: str, holds: str) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=f"{deployment.name}-{part}",
            description=f"{deployment.name}: {holds} (cdk-trainyard)",
            env=build.environment(deployment),
        )
        needs = PARTS[part](deployment)
        if needs.quotas:
            CfnOutput(self, "Quotas", value=needs.quotas_text)
        CfnOutput(self, "Prerequisites", value=needs.prerequisites_text)
