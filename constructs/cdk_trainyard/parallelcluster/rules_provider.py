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

    What is newer than all that is known may be out by now, and so may the next of an older minor version, as 3.1.5 came
    after 3.3.0 (tags of aws/aws-parallelcluster, 2022-10 and 2022-11).

    Args:
        version: Version of ParallelCluster.
    """
    if unresolved(version) or not limits.VERSION.fullmatch(version):
        text = f"must be ParallelCluster's version 3, as {parallelcluster_version()}, got {shown(version)}"
        yield Problem(("version",), text)
        return
    major, minor, patch = (int(part) for part in version.split("."))
    if (major, minor) < limits.FIRST_VERSION:
        first = ".".join(map(str, limits.FIRST_VERSION))
        yield Problem(("version",), f"must be {first}.0 or later, got {shown(version)}")
    elif minor < max(limits.NEWEST_PATCHES) and patch > limits.NEWEST_PATCHES[minor] + 1:
        newest = f"{major}.{minor}.{limits.NEWEST_PATCHES[minor]}"
        text = f"must be one that was released, the newest of {major}.{minor} is {newest}"
        yield Problem(("version",), f"{text} (as of {limits.RELEASES_AS_OF}), got {shown(version)}")
