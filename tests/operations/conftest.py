"""Shipped deployments in the local AWS, for the tests of a module; credentials and endpoint in this process."""

from collections.abc import Iterator

import pytest

from cdk_trainyard.local import LocalAws
from tests.asking import asking


@pytest.fixture(scope="module")
def here(aws: LocalAws, empty_aws: None) -> Iterator[LocalAws]:
    """Let whatever this process asks be asked of the local AWS, which is empty before the module and after it."""
    del empty_aws
    with asking(aws):
        yield aws
