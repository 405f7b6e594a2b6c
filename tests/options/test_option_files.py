"""An option stands in its specification, its rule, its rendering and a test: adding one touches few files."""

import pytest

from tools.option_files import files_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "option", ["hyperpod.threads_per_core", "parallelcluster.static_node_priority", "storage.metadata_iops"]
)
def test_an_option_touches_five_files_at_most(option: str) -> None:
    assert len(files_of(*option.split("."))) <= 5


def test_what_is_made_from_the_specification_is_not_counted() -> None:
    found = files_of("storage", "metadata_iops")
    assert "constructs/cdk_trainyard/storage/spec.py" in found
    assert "constructs/cdk_trainyard/storage/lustre.py" not in found
    assert "constructs/cdk_trainyard/deployment/README.md" not in found
