"""Another number in a file: the number alone changes, whatever stands around it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.resizing import counts, resized
from cdk_trainyard.errors import ConfigurationError
from tests.support import DEPLOYMENTS, ROOT

FILE = ROOT / "deployments" / "hyperpod-cpu-ddp.yaml"
TEXT = FILE.read_text()
MINE = Deployment.load(FILE)
ENDS = st.sampled_from(["\n", "\r\n"])


@given(count=st.integers(0, 6758), ends=ENDS, mark=st.booleans(), note=st.text("é€ #ab", max_size=5))
def test_the_number_alone_changes(count: int, ends: str, mark: bool, note: str) -> None:
    text = ("\ufeff" if mark else "") + f"# {note}\n{TEXT}".replace("\n", ends)
    changed, before = resized(text, "x", MINE, "worker-group-1", count)
    assert before == 2
    assert changed == text.replace(f"count: 2{ends}", f"count: {count}{ends}")


@pytest.mark.parametrize("file", DEPLOYMENTS, ids=lambda file: file.stem)
def test_every_group_of_shipped_files(file: Path) -> None:
    deployment = Deployment.load(file)
    for group in counts(deployment):
        text = file.read_text()
        changed, before = resized(text, str(file), deployment, group, 6)
        old, new = text.splitlines(), changed.splitlines()
        assert sum(line != other for line, other in zip(old, new, strict=True)) == (before != 6)


@pytest.mark.parametrize(
    ("old", "new", "group", "said"),
    [
        ("", "", "worker-grop-1", "there is no group 'worker-grop-1'; did you mean 'worker-group-1'?"),
        ("", "", "x", "there is no group 'x'; there are worker-group-1 or controller-machine"),
        ("count: 1\n", "count: &n 2\n", "controller-machine", "this number stands for others"),
    ],
)
def test_what_is_refused(old: str, new: str, group: str, said: str) -> None:
    text = TEXT.replace(old, new).replace("count: 2\n", "count: *n\n") if old else TEXT
    with pytest.raises(ConfigurationError) as refused:
        resized(text, "x", MINE, group, 3)
    assert said in str(refused.value)


QUEUES = ROOT / "deployments" / "parallelcluster-trn1.yaml"


def test_a_queue_has_its_most_and_its_least() -> None:
    text, deployment = QUEUES.read_text(), Deployment.load(QUEUES)
    assert resized(text, "x", deployment, "trn1", 4) == (text.replace("max_count: 16", "max_count: 4"), 16)
    changed, before = resized(text, "x", deployment, "trn1", 4, 2)
    assert before == 16
    assert changed == text.replace("max_count: 16", "max_count: 4").replace("min_count: 0", "min_count: 2")
    with pytest.raises(ConfigurationError, match="there is no group 'trn2'; did you mean 'trn1'"):
        resized(text, "x", deployment, "trn2", 3)


def test_a_number_that_is_not_written_is_written_by_hand() -> None:
    text = QUEUES.read_text().replace("          min_count: 0\n", "")
    with pytest.raises(ConfigurationError, match=r"x:\d+:\d+: the file does not say min_count: write it here first"):
        resized(text, "x", Deployment.load(QUEUES), "trn1", 3, 1)
    with pytest.raises(ConfigurationError, match="worker-group-1 has one number of nodes, and no min_count"):
        resized(TEXT, "x", MINE, "worker-group-1", 3, 1)


def test_a_queue_with_several_kinds_of_nodes(tmp_path: Path) -> None:
    block = "        - instance_type: trn1.32xlarge # 16 chips and 8 EFA interfaces a node; a job gets whole nodes\n"
    other = "        - { instance_type: trn1.2xlarge, min_count: 0, max_count: 3 }\n"
    text = QUEUES.read_text()
    assert block in text
    file = tmp_path / "x.yaml"
    file.write_text(text.replace(block, other + block))
    deployment = Deployment.load(file)
    assert list(counts(deployment)) == ["trn1/1", "trn1/2"]
    changed, before = resized(file.read_text(), "x", deployment, "trn1/1", 9, 1)
    assert before == 3
    assert changed == file.read_text().replace("min_count: 0, max_count: 3", "min_count: 1, max_count: 9")


def test_where_nobody_says_a_number() -> None:
    deployment = Deployment.load(ROOT / "deployments" / "serving-inf2-vllm.yaml")
    with pytest.raises(ConfigurationError, match="this deployment has no group with a number of nodes"):
        resized("", "x", deployment, "x", 3)
