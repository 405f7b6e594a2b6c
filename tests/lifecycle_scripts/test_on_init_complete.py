"""Mode B: what HyperPod's machine image does not do, and nothing else."""

import pytest

from tests.lifecycle_scripts.fake_node import FakeNode, make_node

pytestmark = pytest.mark.programs

PROLOG = "#!/bin/bash\n# the image's own\n"


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> FakeNode:
    """A node that the image has configured, after the script."""
    node = make_node(tmp_path_factory.mktemp("configured"))
    node.write("state/mounted", "")
    node.write("fsx/data", "")
    node.write("opt/slurm/etc/scripts/prolog.sh", PROLOG)
    assert node.run("on_init_complete.sh").returncode == 0
    return node


def test_users_are_added_and_devices_counted(configured: FakeNode) -> None:
    assert any(call.startswith("useradd --uid 2001") for call in configured.calls)
    assert any(call.startswith("fi_info") for call in configured.calls)


def test_slurm_and_the_home_of_ubuntu_are_left_to_the_image(configured: FakeNode) -> None:
    assert not any("slurm" in call or call.startswith("usermod --home") for call in configured.calls)


def test_prolog_and_epilog_are_left_to_the_image(configured: FakeNode) -> None:
    """Its Slurm runs jobs before this script runs: what slurm.conf speaks of must be there by then."""
    own = configured.root / "opt/slurm/etc/scripts/prolog.sh"
    assert own.read_text() == PROLOG
    assert [path.name for path in own.parent.iterdir()] == ["prolog.sh"]


def test_a_second_run_changes_nothing(node: FakeNode) -> None:
    assert node.run("on_init_complete.sh").returncode == 0
    assert not any("slurm" in call or call.startswith("usermod --home") for call in node.calls)
    changes, state = node.changes, node.snapshot()
    assert node.run("on_init_complete.sh").returncode == 0
    assert (node.changes, node.snapshot()) == (changes, state)
