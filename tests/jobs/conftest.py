"""The jobs' own programs, importable as far as they need nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.parts import EXPORT, LLAMA
from tests.jobs.warm import Warm, warmed

for folder in (LLAMA, EXPORT):  # as Python does with the folder of a program that it starts
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@pytest.fixture(scope="session")
def warm(torch_environment: Path) -> Iterator[Warm]:
    """What starts programs that need torch."""
    with warmed(torch_environment) as made:
        yield made
