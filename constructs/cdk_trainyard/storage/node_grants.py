"""IAM statements to pull images from ECR, and to write metrics to Amazon Managed Service for Prometheus."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aws_cdk import aws_iam as iam

if TYPE_CHECKING:  # a large module: only who names a repository waits for it
    from aws_cdk import aws_ecr as ecr

PULL_REASON = "a registry's token knows no resources, and every repository of the account was asked for where one is *"
PULL_ACTIONS = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
"""What pulling an image from a repository of ECR takes, beside a registry's token."""


_BESIDE, _APART = 800, 5000
"""Characters of ARNs that a policy of 6,144 has room for (IAM user guide, "IAM and AWS STS quotas", read 2026-11): the
nodes' own, which a cluster with everything fills up to some 5,100, and one of images alone."""


def pull_batches(repositories: "Sequence[ecr.IRepository]") -> "list[list[ecr.IRepository]]":
    """Return repositories as they fit into policies: first those beside what else the nodes need.

    Args:
        repositories: The repositories.
    """
    batches: list[list[ecr.IRepository]] = [[]]
    sizes = [len(each.repository_arn) + len('"",') for each in repositories]
    if sum(sizes) <= _BESIDE:
        return [list(repositories)]
    room = 0
    for repository, size in zip(repositories, sizes, strict=True):
        if size > room:
            batches.append([])
            room = _APART
        batches[-1].append(repository)
        room -= size
    return batches


def pull_statements(repositories: "Sequence[ecr.IRepository]") -> tuple[list[iam.PolicyStatement], list[str]]:
    """Return what pulling images from private registries (ECR) needs, and the wildcards in it that reviewers ask about.

    Args:
        repositories: The repositories; one that is named ``*`` stands for all of its account and Region.
    """
    if not repositories:
        return [], []
    arns = [repository.repository_arn for repository in repositories]
    statements = [
        iam.PolicyStatement(sid="PullImages", actions=list(PULL_ACTIONS), resources=arns),
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
