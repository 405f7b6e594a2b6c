"""What the tests of serving share."""

import pytest
from aws_cdk import Stack

from tests.serving.parts import new_stack


@pytest.fixture
def stack() -> Stack:
    """Return an empty stack."""
    return new_stack()
