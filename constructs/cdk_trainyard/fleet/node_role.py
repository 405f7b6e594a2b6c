"""The role of a fleet's nodes: what their set-up asks, what was granted to the fleet, and nothing else."""

from collections.abc import Mapping, Sequence
from typing import cast

import jsii
from aws_cdk import Aws, CfnResource, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge_wildcards
from cdk_trainyard.fleet.scripts import FleetScripts
from cdk_trainyard.managed_policy import ManagedPolicyPrincipal

FLEET_TAG = "trainyard:fleet"
"""The tag by which members know one another."""
ROLE_TAG = "trainyard:role"
"""The tag that tells the master from the workers."""
READY_TAG = "trainyard:ready"
"""The tag that a node puts on itself when its set-up is done."""

_SESSIONS = (
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)


@jsii.implements(iam.IGrantable)
class NodeRole(Construct):
    """The role that nodes run as. All of it is in one managed policy, and grants to the fleet land there too.

    Args:
        fleet_name: The fleet.
        role: A role of yours that gets the policy attached. Default - a new one that only EC2 can assume.

    Attributes:
        role: The role.
        policy: Its managed policy.
    """

    def __init__(self, scope: Construct, construct_id: str, *, fleet_name: str, role: iam.IRole | None = None) -> None:
        super().__init__(scope, construct_id)
        self.role: iam.IRole = role or iam.Role(
            self, "Resource", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"), description="Nodes of an EFA fleet"
        )
        self.policy = iam.ManagedPolicy(
            self, "Policy", roles=[self.role], description="What the nodes of an EFA fleet need"
        )
        self._principal = ManagedPolicyPrincipal(self.role, self.policy)
        self._allow("OpenSessions", _SESSIONS, ["*"])
        self._allow("FindMembers", ["ec2:DescribeInstances"], ["*"])
        self._allow_the_node(fleet_name)

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, whose grants land in the managed policy."""
        return cast("iam.IPrincipal", self._principal)

    def allow_setup(self, *, scripts: FleetScripts, key_parameter_arn: str, log_group: logs.ILogGroup) -> None:
        """Let nodes read the scripts and the fleet's SSH key, and write their log.

        Args:
            scripts: The scripts.
            key_parameter_arn: The parameter that holds the private key.
            log_group: Where the log goes.
        """
        self.policy.add_statements(*scripts.read_statements())
        self._allow("ReadFleetKey", ["ssm:GetParameter"], [key_parameter_arn])
        self._allow("WriteLog", ["logs:CreateLogStream", "logs:PutLogEvents"], [log_group.log_group_arn])
        self.acknowledge("the scripts of a fleet and their earlier versions are read as a folder", scripts.objects_arn)

    def acknowledge(self, reason: str, *resources: str) -> None:
        """Explain wildcards of the policy to reviewers.

        Args:
            reason: Why nothing narrower will do.
            resources: The values with a wildcard.
        """
        acknowledge_wildcards(cast("CfnResource", self.policy.node.default_child), reason=reason, resources=resources)

    def _allow_the_node(self, fleet_name: str) -> None:
        stack = Stack.of(self)
        instances = stack.format_arn(service="ec2", resource="instance", resource_name="*")
        groups = (
            f"arn:{Aws.PARTITION}:autoscaling:{Aws.REGION}:{Aws.ACCOUNT_ID}:autoScalingGroup:*:autoScalingGroupName/*"
        )
        member = {"StringEquals": {f"ec2:ResourceTag/{FLEET_TAG}": fleet_name}}
        self._allow("SayAlive", ["ssm:UpdateInstanceInformation"], [instances])
        self._allow(
            "SayReady",
            ["ec2:CreateTags"],
            [instances],
            {**member, "ForAllValues:StringEquals": {"aws:TagKeys": [READY_TAG]}},
        )
        self._allow(
            "AnswerTheGroup",
            ["autoscaling:CompleteLifecycleAction"],
            [groups],
            {"StringEquals": {f"autoscaling:ResourceTag/{FLEET_TAG}": fleet_name}},
        )
        self.acknowledge(
            "sessions and DescribeInstances know no resources; instances and groups get their ids when nodes exist, "
            "and are held to the fleet's own tag",
            "*",
            instances,
            groups,
        )

    def _allow(
        self,
        sid: str,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: Mapping[str, Mapping[str, object]] | None = None,
    ) -> None:
        self.policy.add_statements(
            iam.PolicyStatement(sid=sid, actions=list(actions), resources=list(resources), conditions=conditions)
        )
