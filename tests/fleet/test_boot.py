"""How a node answers its group and learns who is in the fleet, when AWS or another run is in the way."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which

import pytest

from tests.fleet.fake_member import make_member
from tests.lifecycle_scripts.fake_node import FakeNode, python

pytestmark = pytest.mark.programs

FLEET = "aws ec2 describe-instances --output"
"""How the question for all members begins; boot.sh asks for its own instance otherwise."""
PATIENT = {"TRAINYARD_DEADLINE": "600"}
ONCE = 'if mkdir "${TRAINYARD_ROOT}/once" 2>/dev/null; then exit 75; fi\n'
WAIT = """\
if [[ $* == *hostfile.trainyard-new* ]] && mkdir "${TRAINYARD_ROOT}/stands" 2>/dev/null; then
  until [[ -e ${TRAINYARD_ROOT}/goes-on ]]; do sleep 0.05; done
fi
"""


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    """A worker that has booted, with as short a set-up as has a list of members."""
    node = make_member(tmp_path / "node")
    node.write_entry("setup.sh", ["node", "members"])
    return node


def answers(node: FakeNode) -> list[str]:
    """What the group was told, in order."""
    return [call.split()[-1] for call in node.calls if call.startswith("aws autoscaling complete-lifecycle-action")]


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ---------------------------------------------------------------- the answer to the group
def test_a_list_that_cannot_be_renewed_does_not_cost_a_node_that_is_ready(node: FakeNode) -> None:
    done = node.run("boot.sh", STUB_THROTTLED=f"{FLEET}:2:2")
    assert done.returncode == 0, done.stdout
    assert answers(node) == ["CONTINUE"]
    assert (node.root / "state/ready").exists()
    assert sum(call.startswith(FLEET) for call in node.calls) == 2


@pytest.mark.parametrize(
    "throttled",
    ["aws ec2 create-tags:1:2", "aws ec2 describe-instances --instance-ids:1:2", "aws autoscaling:1:2"],
)
def test_a_node_that_is_ready_says_so_until_it_is_heard(node: FakeNode, throttled: str) -> None:
    done = node.run("boot.sh", STUB_THROTTLED=throttled, **PATIENT)
    assert done.returncode == 0, done.stdout
    assert (node.root / "state/ready").exists()
    assert set(answers(node)) == {"CONTINUE"}
    assert (node.root / "state/answer").read_text() == "CONTINUE"


def test_a_node_that_cannot_say_that_it_is_ready_is_given_back_and_its_log_says_why(node: FakeNode) -> None:
    done = node.run("boot.sh", STUB_THROTTLED="aws ec2 create-tags:1:99")
    assert done.returncode not in {0, -9}
    assert answers(node) == ["ABANDON"]
    assert "waited in vain for the tag" in (node.root / "state/shipped.json").read_text()


def test_a_failed_set_up_is_answered_until_it_is_heard(node: FakeNode) -> None:
    (node.bundle / "setup.sh").write_text("#!/bin/bash\nexit 7\n")
    done = node.run("boot.sh", STUB_THROTTLED="aws autoscaling:1:1", **PATIENT)
    assert done.returncode == 7
    assert answers(node) == ["ABANDON"] * 2
    assert (node.root / "state/answer").read_text() == "ABANDON"


def test_metadata_may_be_late(node: FakeNode) -> None:
    node.program("python3", ONCE + python())
    done = node.run("boot.sh", **PATIENT)
    assert done.returncode == 0, done.stdout
    assert answers(node) == ["CONTINUE"]


# ---------------------------------------------------------------- failures in a row
def fail(node: FakeNode, **variables: str) -> str:
    """Boot a node whose set-up fails; return what the fleet counts then."""
    node.write("var/log/provision/provisioning.log", "the set-up failed\n")
    (node.bundle / "setup.sh").write_text("#!/bin/bash\nexit 7\n")
    assert node.run("boot.sh", **variables).returncode == 7
    assert answers(node)[-1] == "ABANDON"
    failures = node.root / "state/failures"
    return failures.read_text() if failures.exists() else "0"


def test_a_failure_is_counted_and_the_group_goes_on(node: FakeNode) -> None:
    assert fail(node) == "1"
    assert not (node.root / "state/suspended").exists()


def test_after_three_failures_in_a_row_the_group_launches_no_more(node: FakeNode) -> None:
    node.write("state/failures", "2")
    assert fail(node) == "3"
    assert (node.root / "state/suspended").read_text() == "Launch"
    calls = [call for call in node.calls if call.startswith("aws autoscaling")]
    assert [call.split()[2] for call in calls] == ["suspend-processes", "complete-lifecycle-action"]
    assert "3 set-ups in a row have failed" in (node.root / "state/shipped.json").read_text()


def test_a_node_that_is_ready_forgets_the_failures_of_others(node: FakeNode) -> None:
    node.write("state/failures", "2")
    assert node.run("boot.sh").returncode == 0
    assert (node.root / "state/failures").read_text() == "0"
    assert sum("ssm put-parameter" in call for call in node.calls) == 1


def test_where_nothing_has_failed_nothing_is_written(node: FakeNode) -> None:
    assert node.run("boot.sh").returncode == 0
    assert not any("ssm put-parameter" in call for call in node.calls)


@pytest.mark.parametrize("refused", ["aws ssm get-parameter", "aws ssm put-parameter", "aws autoscaling suspend"])
def test_a_failure_that_cannot_be_counted_still_gives_the_node_back(node: FakeNode, refused: str) -> None:
    node.write("state/failures", "2")
    fail(node, STUB_THROTTLED=f"{refused}:1:99")


def test_a_run_that_ends_in_another_way_counts_too(node: FakeNode) -> None:
    node.program("tee", "exit 3\n")  # nothing can be written to the log any more
    done = node.run("boot.sh")
    assert done.returncode != 0
    assert (node.root / "state/failures").read_text() == "1"


def test_nobody_counts_for_a_master_which_nobody_replaces(tmp_path: Path) -> None:
    node = make_member(tmp_path, "c5n.18xlarge", role="master", hook=None, failures=None)
    (node.bundle / "setup.sh").write_text("#!/bin/bash\nexit 7\n")
    assert node.run("boot.sh").returncode == 7
    assert not any("the-failures" in call or "put-parameter" in call for call in node.calls)


# ---------------------------------------------------------------- later boots
def test_a_unit_does_it_again_at_every_boot(node: FakeNode) -> None:
    (node.bundle / "setup.sh").write_text("#!/bin/bash\nkill -KILL $PPID\n")  # the power is cut during the set-up
    assert node.run("boot.sh").returncode == -9
    unit = (node.root / "etc/systemd/system/trainyard-boot.service").read_text().splitlines()
    assert f"ExecStart={node.bundle}/boot.sh" in unit
    assert "systemctl enable trainyard-boot.service" in node.calls


def test_a_group_is_answered_once(node: FakeNode) -> None:
    assert [node.run("boot.sh").returncode for _ in range(2)] == [0, 0]
    assert answers(node) == ["CONTINUE"]
    (node.bundle / "setup.sh").write_text("#!/bin/bash\nexit 7\n")
    assert node.run("boot.sh").returncode == 7
    assert answers(node) == ["CONTINUE"]  # a node that was taken is not given back


def test_an_instance_of_this_ones_image_answers_for_itself(node: FakeNode) -> None:
    node.write("var/lib/trainyard/answered", "i-another\n")
    assert node.run("boot.sh").returncode == 0
    assert answers(node) == ["CONTINUE"]


# ---------------------------------------------------------------- the list of members
def test_a_throttled_question_is_asked_again(node: FakeNode) -> None:
    done = node.run("setup.sh", STUB_THROTTLED=f"{FLEET}:1:3", **PATIENT)
    assert done.returncode == 0, done.stdout
    assert sum(call.startswith(FLEET) for call in node.calls) == 4
    assert (node.root / "opt/trainyard/hostfile").read_text() == "10.1.0.9 slots=32\n10.1.0.10 slots=32\n"


def test_runs_that_come_together_write_one_after_the_other(node: FakeNode) -> None:
    """The first stands between writing and renaming until the second has come to its end or waits for its turn."""
    node.program("chmod", f'{WAIT}exec {which("chmod")} "$@"')
    node.program("flock", f'echo >>"${{TRAINYARD_ROOT}}/turns"\nexec {which("flock")} "$@"')
    turns = node.root / "turns"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(node.run, "members.sh")
        try:
            wait_for((node.root / "stands").exists)
            second = pool.submit(node.run, "members.sh")
            wait_for(lambda: second.done() or (turns.exists() and turns.read_text().count("\n") > 1))
        finally:
            (node.root / "goes-on").touch()
    for done in (first.result(), second.result()):
        assert done.returncode == 0, done.stdout
    assert (node.root / "opt/trainyard/hostfile").read_text() == "10.1.0.9 slots=32\n10.1.0.10 slots=32\n"
