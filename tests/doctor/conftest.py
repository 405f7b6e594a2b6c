"""One local AWS for the tests of a module, empty before them; whatever this process asks, it is asked of it."""

from collections.abc import Iterator

import pytest

from cdk_trainyard.local import LocalAws
from tests.asking import asking


@pytest.fixture(scope="module")
def here(aws: LocalAws) -> Iterator[LocalAws]:
    aws.reset()
    with asking(aws):
        yield aws
    aws.reset()
