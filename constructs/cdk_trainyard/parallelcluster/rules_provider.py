"""Whether a provider can work. Pure."""

from collections.abc import Iterator

from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.facts import parallelcluster_version
from cdk_trainyard.tokens import unresolved


def provider_problems(version: str, policies: int, *, own_role: bool) -> list[str]:
    """The version has a provider, and its role room for the policies.

    Args:
        version: Version of ParallelCluster.
        policies: Number of further policies.
        own_role: Whether the role is the user's.
    """
    problems = list(provider_version_problems(version))
    if own_role and policies:
        problems.append("'policies' must be left out with 'role': attach them to the role yourself")
    if policies > limits.PROVIDER_POLICIES:
        problems.append(
            f"'policies' must be at most {limits.PROVIDER_POLICIES}, got {policies}; IAM attaches ten to a role, and "
            "the template takes six"
        )
    return problems


def provider_version_problems(version: str) -> Iterator[str]:
    """The version is one that has a provider.

    Args:
        version: Version of ParallelCluster.
    """
    if unresolved(version) or not limits.VERSION.fullmatch(version):
        yield f"'version' must be three numbers as {parallelcluster_version()!r}, got {version!r}"
    elif tuple(int(part) for part in version.split(".")[:2]) < limits.FIRST_VERSION:
        yield f"'version' must be {'.'.join(map(str, limits.FIRST_VERSION))}.0 or later, got {version!r}"
