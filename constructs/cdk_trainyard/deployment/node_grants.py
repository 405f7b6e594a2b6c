"""What nodes of any orchestrator may be allowed beside what they need, as keys of the ``cluster:`` section."""

from typing import Annotated

from cdk_trainyard.deployment._section import Section, arn, text

ImageRepository = Annotated[
    str,
    text(
        r"^(\*|(arn:[a-z-]+:ecr:[a-z0-9-]+:[0-9]{12}:repository/)?[a-z0-9]+([._/-]+[a-z0-9]+)*"
        r"|arn:[a-z-]+:ecr:[a-z0-9-]+:[0-9]{12}:repository/\*)$",
        "the name or the ARN of an ECR repository, or '*'",
        example="arn:<partition>:ecr:<region>:<account>:repository/<name>",
    ),
]
_WorkspaceArn = Annotated[str, arn("aps", "workspace/")]


class NodeGrantsSection(Section):
    """What nodes may pull and write beside what they need."""

    image_repositories: tuple[ImageRepository, ...] = ()
    """Private repositories (ECR) from which nodes pull container images: names, ARNs, or "*" for all of the account in
    its Region. Default - none."""
    prometheus_workspace_arn: _WorkspaceArn | None = None
    """The workspace of Amazon Managed Service for Prometheus to which nodes write metrics. Default - none."""
