"""The default security group of a VPC, closed.

CloudFormation has no property for its rules, so a function revokes them. ``ec2.Vpc`` brings one of its own for that,
a part of that class and out of reach here: minified JavaScript as an asset, with a policy of AWS for its logs. This one
stands in the template for reviewers to read, may revoke rules of this one group and nothing else, needs no asset, and
keeps its logs for a stated time. The resource has the same type and properties as CDK's.
"""

from importlib.resources import files

from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.inline_function import InlineFunction

_VPC_REASON = "its default security group is closed by the resource beside it, which the rule cannot see"


class ClosedDefaultSecurityGroup(InlineFunction):
    """Revokes both rules of a VPC's default security group. Deleting it leaves the group closed.

    Args:
        vpc: The VPC.
    """

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.CfnVPC) -> None:
        group_id = vpc.attr_default_security_group
        super().__init__(
            scope,
            construct_id,
            code=files(__package__).joinpath("default_security_group_handler.py").read_text(encoding="utf-8"),
            description="Closes the default security group of one VPC",
            statements=[
                iam.PolicyStatement(
                    actions=["ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"],
                    resources=[
                        Stack.of(scope).format_arn(service="ec2", resource="security-group", resource_name=group_id)
                    ],
                )
            ],
            resource_type="Custom::VpcRestrictDefaultSG",
            properties={"DefaultSecurityGroupId": group_id, "Account": Aws.ACCOUNT_ID},
        )
        acknowledge(vpc, {"NIST.800.53.R5-VPCDefaultSecurityGroupClosed": _VPC_REASON})
