"""One local AWS for the tests of a module, empty before them; whatever this process asks, it is asked of it."""

from collections.abc import Iterator

import pytest

from cdk_trainyard.local import LocalAws


@pytest.fixture(scope="module")
def here(aws: LocalAws) -> Iterator[LocalAws]:
    aws.reset()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in aws.environment.items():
            patch.setenv(name, value)
        yield aws
    aws.reset()
