"""What several modules of this folder ask."""

from collections.abc import Iterator

import pytest

from tests.monitoring.served import Ask, prometheus


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A Prometheus that holds what every exporter gives."""
    with prometheus(tmp_path_factory.mktemp("prometheus")) as answers:
        yield answers
