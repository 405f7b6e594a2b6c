"""What nodes that mount a file system need for it: pure functions, silent about Tokens. No CDK."""

from collections.abc import Iterator, Sequence

from cdk_trainyard.problems import Problem
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import image_facts, judge_file_system


def client_problems(versions: Sequence[str | None], image: str | None) -> Iterator[Problem]:
    """Check that the Lustre client of nodes mounts each file system.

    Args:
        versions: The versions of Lustre of the file systems. None: not known.
        image: The name of the nodes' image in the matrix of versions. None: not known.
    """
    facts = None if image is None or unresolved(image) else image_facts(image)
    for index, version in enumerate(versions):
        if facts is not None and version is not None and not unresolved(version):
            yield from (Problem((index, "lustre_version"), text) for text in judge_file_system(version, facts).refused)
