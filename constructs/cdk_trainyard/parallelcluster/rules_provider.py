"""Whether a provider can work. Pure."""

from collections.abc import Iterator

from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.facts import parallelcluster_version
from cdk_trainyard.problems import Problem, option, shown
from cdk_trainyard.tokens import unresolved


def provider_problems(version: str, policies: int, *, own_role: bool) -> list[Problem]:
    """The version has a provider, and its role room for the policies.

    Args:
        version: Version of ParallelCluster.
        policies: Number of further policies.
        own_role: Whether the role is the user's.
    """
    problems = list(provider_version_problems(version))
    if own_role and policies:
        text = f"must be left out with {option('role')}: attach them to the role yourself"
        problems.append(Problem(("policies",), text))
    if policies > limits.PROVIDER_POLICIES:
        problems.append(
            Problem(
                ("policies",),
                f"must be at most {limits.PROVIDER_POLICIES}, got {policies}; IAM attaches ten to a role, and the "
                "template takes six",
            )
        )
    return problems


def provider_version_problems(version: str) -> Iterator[Problem]:
    """The version is one that has a provider.

    Args:
        version: Version of ParallelCluster.
    """
    if unresolved(version) or not limits.VERSION.fullmatch(version):
        text = f"must be ParallelCluster's version 3, as {parallelcluster_version()}, got {shown(version)}"
        yield Problem(("version",), text)
    elif tuple(int(part) for part in version.split(".")[:2]) < limits.FIRST_VERSION:
        first = ".".join(map(str, limits.FIRST_VERSION))
        yield Problem(("version",), f"must be {first}.0 or later, got {shown(version)}")
