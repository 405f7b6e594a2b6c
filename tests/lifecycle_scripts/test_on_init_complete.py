"""Mode B: what HyperPod's machine image does not do, and nothing else."""

from tests.lifecycle_scripts.fake_node import FakeNode


def test_users_are_added_and_devices_counted(node: FakeNode) -> None:
    node.write("state/mounted", "")
    node.write("fsx/data", "")
    assert node.run("on_init_complete.sh").returncode == 0
    assert any(call.startswith("useradd --uid 2001") for call in node.calls)
    assert any(call.startswith("fi_info") for call in node.calls)


def test_slurm_and_the_home_of_ubuntu_are_left_to_the_image(node: FakeNode) -> None:
    assert node.run("on_init_complete.sh").returncode == 0
    assert not any("slurm" in call or call.startswith("usermod --home") for call in node.calls)


def test_prolog_and_epilog_are_left_to_the_image(node: FakeNode) -> None:
    """Its Slurm runs jobs before this script runs: what slurm.conf speaks of must be there by then."""
    own = node.write("opt/slurm/etc/scripts/prolog.sh", "#!/bin/bash\n# the image's own\n")
    assert node.run("on_init_complete.sh").returncode == 0
    assert own.read_text() == "#!/bin/bash\n# the image's own\n"
    assert [path.name for path in own.parent.iterdir()] == ["prolog.sh"]


def test_a_second_run_changes_nothing(node: FakeNode) -> None:
    assert node.run("on_init_complete.sh").returncode == 0
    changes, state = node.changes, node.snapshot()
    assert node.run("on_init_complete.sh").returncode == 0
    assert (node.changes, node.snapshot()) == (changes, state)
