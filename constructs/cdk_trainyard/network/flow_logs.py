"""Flow logs: who spoke to whom in the VPC, and what was rejected."""

from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.log_groups import log_group

_KEY_REASON = (
    "addresses, ports and byte counts, no payload; encrypted by CloudWatch Logs, with flow_logs_key by your own key"
)


class FlowLogs(Construct):
    """All traffic of a VPC, accepted and rejected, into a log group of CloudWatch.

    Defines the log group, a role that may write to it alone, and the flow log. The log group is kept when the network
    is deleted.

    Args:
        vpc: The VPC.
        retention: How long entries are kept.
        key: A key for the log group; its policy is extended, so that CloudWatch Logs of this account may use it.
            Default - CloudWatch Logs encrypts with a key of its own.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.CfnVPC,
        retention: logs.RetentionDays,
        key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        warning_id = "@cdk-trainyard/network:flow-logs-key"
        self.log_group = log_group(
            self, "LogGroup", retention=retention, key=key, warning_id=warning_id, reason=_KEY_REASON
        )
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            description="Writes the flow logs of one VPC",
            statements=[
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                    resources=[self.log_group.log_group_arn],
                )
            ],
        )
        role = iam.Role(self, "Role", assumed_by=self._flow_logs_service(), managed_policies=[policy])
        ec2.CfnFlowLog(
            self,
            "Resource",
            resource_id=vpc.ref,
            resource_type="VPC",
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_group_name=self.log_group.log_group_name,
            deliver_logs_permission_arn=role.role_arn,
        ).node.add_dependency(policy)

    def _flow_logs_service(self) -> iam.IPrincipal:
        """Flow logs of this account only: the service asks for others with the same name (confused deputy)."""
        source = Stack.of(self).format_arn(service="ec2", resource="vpc-flow-log", resource_name="*")
        return iam.ServicePrincipal(
            "vpc-flow-logs.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}, "ArnLike": {"aws:SourceArn": source}},
        )
