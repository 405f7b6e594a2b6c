"""AWS's own CloudFormation provider of ParallelCluster, one for each version."""

from collections.abc import Sequence

from aws_cdk import CfnStack, Fn
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.parallelcluster.facts import parallelcluster_version
from cdk_trainyard.parallelcluster.rules_provider import provider_problems

_TEMPLATE = (
    "https://${AWS::Region}-aws-parallelcluster.s3.${AWS::Region}.${AWS::URLSuffix}"
    "/parallelcluster/%s/templates/custom_resource/cluster.yaml"
)
_NAME_IN_ARN = 6  # arn:<partition>:logs:<region>:<account>:log-group:<name>:*


class ParallelClusterProvider(Construct):
    """AWS's CloudFormation provider: a nested stack of AWS's template, with the function that makes clusters.

    The function can make roles under the path ``/parallelcluster/``; give a ``role`` of yours to decide what it may.
    A provider makes clusters of its own version and updates no others. Never change the version of one that has
    clusters: CloudFormation refuses it. Define a second cluster, with another name, beside the first.

    Source: ``cloudformation/custom_resource/cluster.yaml`` of ParallelCluster, as of 3.13.1.

    Args:
        version: Version of ParallelCluster. Default - the one whose rules this library has.
        role: A role of yours for the function. Default - the template makes one.
        policies: Further policies of the role that the template makes, four at most. Default - none.

    Attributes:
        version: Version of ParallelCluster.

    Raises:
        ConfigurationError: The version has no provider, or ``policies`` have no role to go to.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        version: str | None = None,
        role: iam.IRole | None = None,
        policies: Sequence[iam.IManagedPolicy] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.version: str = version or parallelcluster_version()
        self._role = role
        self._policies: list[iam.IManagedPolicy] = []
        raise_problems(self, provider_problems(self.version, len(policies), own_role=role is not None))
        self._resource = CfnStack(self, "Resource", template_url=Fn.sub(_TEMPLATE % self.version))
        if role is not None:
            self._resource.parameters = {"CustomLambdaRole": role.role_arn}
            self._resource.node.add_dependency(role)
        for policy in policies:
            self.add_policy(policy)

    @property
    def service_token(self) -> str:
        """ARN of the function."""
        return self._resource.get_att("Outputs.ServiceToken").to_string()

    @property
    def log_group_arn(self) -> str:
        """ARN of the function's log group: why a cluster could not be made stands there."""
        return self._resource.get_att("Outputs.LogGroupArn").to_string()

    @property
    def log_group_name(self) -> str:
        """Name of that log group, for ``aws logs tail``."""
        return Fn.select(_NAME_IN_ARN, Fn.split(":", self.log_group_arn))

    def add_policy(self, policy: iam.IManagedPolicy) -> None:
        """Let the function do more.

        Args:
            policy: What it may do.

        Raises:
            ConfigurationError: The role is yours, and takes its policies from you; or there are too many.
        """
        count = len(self._policies) + 1
        raise_problems(self, provider_problems(self.version, count, own_role=self._role is not None))
        self._policies.append(policy)
        arns = [one.managed_policy_arn for one in self._policies]
        self._resource.parameters = {"AdditionalIamPolicies": Fn.join(",", arns)}
