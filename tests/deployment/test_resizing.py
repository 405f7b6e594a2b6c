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
        ("", "", "x", "there is no group 'x'; there are controller-machine or worker-group-1"),
        ("count: 1\n", "count: &n 2\n", "controller-machine", "this number stands for others"),
    ],
)
def test_what_is_refused(old: str, new: str, group: str, said: str) -> None:
    text = TEXT.replace(old, new).replace("count: 2\n", "count: *n\n") if old else TEXT
    with pytest.raises(ConfigurationError) as refused:
        resized(text, "x", MINE, group, 3)
    assert said in str(refused.value)


def test_where_slurm_decides() -> None:
    deployment = Deployment.load(ROOT / "deployments" / "parallelcluster-trn1.yaml")
    with pytest.raises(ConfigurationError, match="parallelcluster has no group with one number of nodes"):
        resized("", "x", deployment, "x", 3)
