"""The role of a fleet's nodes: what their set-up asks, what was granted to the fleet, and nothing else."""

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.fleet.scripts import FleetScripts
from cdk_trainyard.storage.job_role import JobRole

FLEET_TAG = "trainyard:fleet"
"""The tag by which members know one another."""
READY_TAG = "trainyard:ready"
"""The tag that a node puts on itself when its set-up is done."""


class NodeRole(JobRole):
    """The role that nodes run as. All of it is in one managed policy, and grants to the fleet land there too.

    Args:
        fleet_name: The fleet.
        role: A role of yours that gets the policy attached. Default - a new one that only EC2 can assume.

    Attributes:
        role: The role.
        policy: Its managed policy.
    """

    def __init__(self, scope: Construct, construct_id: str, *, fleet_name: str, role: iam.IRole | None = None) -> None:
        super().__init__(scope, construct_id, service="ec2.amazonaws.com", whose="an EFA fleet", role=role)
        self._allow_sessions()
        self._allow("FindMembers", ["ec2:DescribeInstances"], ["*"])
        self._allow_the_node(fleet_name)

    def allow_setup(
        self, *, scripts: FleetScripts, key_parameter_arn: str, failures_parameter_arn: str, log_group: logs.ILogGroup
    ) -> None:
        """Let nodes read the scripts and the fleet's SSH key, count failures, and write their log.

        Args:
            scripts: The scripts.
            key_parameter_arn: The parameter that holds the private key.
            failures_parameter_arn: The parameter that counts set-ups that failed in a row.
            log_group: Where the log goes.
        """
        self.policy.add_statements(*scripts.read_statements())
        self._allow("ReadFleetKey", ["ssm:GetParameter"], [key_parameter_arn])
        self._allow("CountFailures", ["ssm:GetParameter", "ssm:PutParameter"], [failures_parameter_arn])
        self._allow("WriteLog", ["logs:CreateLogStream", "logs:PutLogEvents"], [log_group.log_group_arn])
        self.acknowledge("the scripts of a fleet and their earlier versions are read as a folder", scripts.objects_arn)

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
            ["autoscaling:CompleteLifecycleAction", "autoscaling:SuspendProcesses"],
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
