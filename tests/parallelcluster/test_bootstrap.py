"""The small program that ParallelCluster fetches: it brings the folder along, and runs what its plan says, once."""

from pathlib import Path

import pytest

from tests.parallelcluster.fake_node import ClusterNode, make_node

pytestmark = pytest.mark.programs

BOOTSTRAP = "trainyard/bootstrap.sh"
FOLDER = "s3://scripts/family/0123/"


@pytest.fixture
def node(tmp_path: Path) -> ClusterNode:
    made = make_node(tmp_path / "node")
    made.write("state/s3/scripts/family/0123/setup.sh", '#!/bin/bash\necho "$*" >>"${TRAINYARD_ROOT}/state/ran"\n')
    made.write("state/s3/scripts/family/0123/lib/more.sh", "")
    made.write("state/s3/scripts/family/0123/fails.sh", "#!/bin/bash\nexit 3\n")
    return made


def plan(node: ClusterNode, *lines: tuple[str, ...]) -> str:
    node.write("state/s3/scripts/plans/head", "".join("\t".join(line) + "\n" for line in lines))
    return "s3://scripts/plans/head"


def ran(node: ClusterNode) -> list[str]:
    path = node.root / "state/ran"
    return path.read_text().splitlines() if path.exists() else []


def test_run_fetches_the_folder_and_runs_the_entry_with_its_arguments(node: ClusterNode) -> None:
    done = node.run(BOOTSTRAP, "run", FOLDER, "setup.sh", "--venv", "/with space")
    assert done.returncode == 0, done.stdout
    assert ran(node) == ["--venv /with space"]
    assert (node.root / "opt/trainyard/scripts/0123/lib/more.sh").exists()


def test_a_folder_is_fetched_once_for_each_version(node: ClusterNode) -> None:
    for _ in range(2):
        assert node.run(BOOTSTRAP, "run", FOLDER, "setup.sh").returncode == 0
    assert len([call for call in node.calls if call.startswith("aws")]) == 1


def test_a_fetch_that_was_cut_off_is_done_again(node: ClusterNode) -> None:
    assert node.run(BOOTSTRAP, "run", FOLDER, "setup.sh", STUB_FAIL="aws:1").returncode == 1
    assert not (node.root / "opt/trainyard/scripts/0123").exists()
    assert node.run(BOOTSTRAP, "run", FOLDER, "setup.sh").returncode == 0


def test_a_fetch_that_fails_is_tried_for_a_while(node: ClusterNode) -> None:
    node.program("sleep", 'echo "$*" >>"${TRAINYARD_ROOT}/state/slept"')
    done = node.run(BOOTSTRAP, "run", FOLDER, "setup.sh", STUB_FAIL="aws:1", TRAINYARD_DEADLINE="600")
    assert done.returncode == 0, done.stdout
    assert node.read("state/slept") == "5\n"
    assert len([call for call in node.calls if call.startswith("aws")]) == 2


def test_a_fetch_that_fails_to_the_end_is_told_with_its_likely_causes(node: ClusterNode) -> None:
    done = node.run(BOOTSTRAP, "run", FOLDER, "setup.sh", STUB_FAIL="aws:9")
    assert done.returncode == 1
    assert f"cannot fetch {FOLDER}: may the node's role read it, and does the subnet reach S3?" in done.stdout


def test_the_exit_code_of_the_script_is_the_program_s_own(node: ClusterNode) -> None:
    assert node.run(BOOTSTRAP, "run", FOLDER, "fails.sh").returncode == 3


def test_a_plan_is_followed_in_order(node: ClusterNode) -> None:
    where = plan(node, ("once", FOLDER, "setup.sh", "first"), ("always", FOLDER, "setup.sh", "second", "x"))
    assert node.run(BOOTSTRAP, "plan", where).returncode == 0
    assert ran(node) == ["first", "second x"]


def test_what_has_been_run_once_is_not_run_again_and_what_is_new_is(node: ClusterNode) -> None:
    node.run(BOOTSTRAP, "plan", plan(node, ("once", FOLDER, "setup.sh", "a"), ("always", FOLDER, "setup.sh", "b")))
    again = plan(
        node, ("once", FOLDER, "setup.sh", "a"), ("once", FOLDER, "setup.sh", "c"), ("always", FOLDER, "setup.sh", "b")
    )
    done = node.run(BOOTSTRAP, "plan", again, "a-hash")
    assert done.returncode == 0, done.stdout
    assert ran(node) == ["a", "b", "c", "b"]
    assert "done before: once" in done.stdout


def test_a_script_that_failed_is_run_again_and_ends_the_plan(node: ClusterNode) -> None:
    where = plan(node, ("once", FOLDER, "fails.sh"), ("once", FOLDER, "setup.sh", "never"))
    for _ in range(2):
        assert node.run(BOOTSTRAP, "plan", where).returncode == 3
    assert ran(node) == []


def test_an_empty_plan_does_nothing(node: ClusterNode) -> None:
    assert node.run(BOOTSTRAP, "plan", plan(node)).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "usage:"),
        (("start",), "got 'start'"),
        (("run", FOLDER), "usage:"),
        (("plan",), "usage:"),
        (("run", FOLDER, "nothing.sh"), "has no file nothing.sh"),
        (("run", "s3://scripts/other/9/", "setup.sh"), "may the node's role read it, and does the subnet reach S3?"),
    ],
)
def test_fails(node: ClusterNode, arguments: tuple[str, ...], said: str) -> None:
    done = node.run(BOOTSTRAP, *arguments)
    assert done.returncode == 1
    assert said in done.stdout


def test_fails_without_the_aws_cli(node: ClusterNode) -> None:
    (node.directory / "bin/aws").unlink()
    assert "there is no AWS CLI on this image" in node.run(BOOTSTRAP, "plan", "s3://x/y").stdout
