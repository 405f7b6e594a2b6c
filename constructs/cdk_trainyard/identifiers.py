"""What stacks, clusters and nodes are found by in an account: who makes them and who asks for them say the same."""

from typing import Final

STACK_TAG: Final = "aws:cloudformation:stack-name"
"""The tag that CloudFormation gives to what a stack makes."""
AUTO_SCALING_GROUP_TAG: Final = "aws:autoscaling:groupName"
"""The tag that EC2 Auto Scaling gives to the instances of a group."""
PARALLELCLUSTER_TYPE: Final = "Custom::PclusterCluster"
"""The resource type of a cluster of ParallelCluster on AWS's CloudFormation provider."""
PARALLELCLUSTER_TAG: Final = "parallelcluster:cluster-name"
"""The tag of all that a ParallelCluster has: nodes of its queues, which its daemons launch, bear no stack's."""
ROLE_TAG: Final = "trainyard:role"
"""The tag that tells a fleet's master from its workers."""


def stack_name(deployment: str, part: str) -> str:
    """Return the name of a stack of a deployment.

    Args:
        deployment: The deployment's name.
        part: ``network``, ``storage``, ``training`` or ``serving``.
    """
    return f"{deployment}-{part}"
