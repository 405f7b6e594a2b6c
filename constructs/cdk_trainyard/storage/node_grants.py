"""What nodes that run containers and are measured may be allowed: to pull images, and to write metrics."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aws_cdk import aws_iam as iam

if TYPE_CHECKING:  # a large module: only who names a repository waits for it
    from aws_cdk import aws_ecr as ecr

PULL_REASON = "a registry's token knows no resources, and every repository of the account was asked for where one is *"
_PULL = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")


def pull_statements(repositories: "Sequence[ecr.IRepository]") -> tuple[list[iam.PolicyStatement], list[str]]:
    """Return what pulling images from private registries (ECR) needs, and the wildcards in it that reviewers ask about.

    Args:
        repositories: The repositories; one that is named ``*`` stands for all of its account and Region.
    """
    if not repositories:
        return [], []
    arns = [repository.repository_arn for repository in repositories]
    statements = [
        iam.PolicyStatement(sid="PullImages", actions=list(_PULL), resources=arns),
        # a registry's, and no repository's: the action knows no resources (service authorization reference of ECR)
        iam.PolicyStatement(sid="LogInToRegistries", actions=["ecr:GetAuthorizationToken"], resources=["*"]),
    ]
    return statements, ["*", *(arn for arn in arns if arn.endswith("/*"))]


def remote_write_statements(*workspace_arns: str | None) -> list[iam.PolicyStatement]:
    """Return what writing metrics to workspaces of Amazon Managed Service for Prometheus needs.

    Args:
        workspace_arns: The ARNs of the workspaces. None: nothing is written there.
    """
    arns = list(dict.fromkeys(filter(None, workspace_arns)))
    return [iam.PolicyStatement(sid="RemoteWrite", actions=["aps:RemoteWrite"], resources=arns)] if arns else []
