"""What policies have room for of the repositories that nodes may pull from."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.problems import Problem
from cdk_trainyard.storage.spec import NodeGrantsSpec
from cdk_trainyard.tokens import Unknown, unresolved

_ROOM: Final = 5000
"""Characters of ARNs that are more than a managed policy of 6,144 takes beside what every node may do (IAM user guide,
"IAM and AWS STS quotas", read 2026-11)."""
POLICIES: Final = 24
"""Managed policies of a role beside the nodes' own, where the quota is raised as far as it can be (the same page)."""
_REPOSITORY: Final = "arn:aws:ecr:us-east-1:111111111111:repository/"


def repository_problems(grants: NodeGrantsSpec, *, policies: int = 1) -> Iterator[Problem]:
    """Check that policies have room for the repositories.

    Args:
        grants: What nodes may pull and write.
        policies: How many policies there may be of them. Default: 1, the nodes' own.
    """
    said = () if unresolved(grants, grants.image_repositories) else grants.image_repositories
    known = [one.repository_arn for one in said if not isinstance(one, Unknown)]
    names = [name for name in known if not unresolved(name)]
    size, room = (
        sum(len(name if name.startswith("arn:") else f"{_REPOSITORY}{name}") for name in names),
        policies * _ROOM,
    )
    if size > room:
        have = "a managed policy has" if policies == 1 else "the managed policies of a role have"
        text = f"must have ARNs of at most {room} characters together, all that {have} room for"
        yield Problem(("image_repositories",), f"{text}, got {len(names)} with {size}; use '*' for all of the account")
