"""Which checkpoint is gone on from: the last one that is complete, whatever else lies there."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_llama import checkpoints

IDENTITY = {"seed": 1, "data_parallel": 16, "model": {"hidden_size": 4096}}


def write(directory: Path, step: int, *, done: bool = True, complete: bool = True) -> Path:
    path = directory / checkpoints.tag_of(step)
    (path / "model" / "part.tensors").mkdir(parents=True)
    (path / "checkpoint").write_text("1")
    (path / "model" / "part").write_text("references")
    (path / "model" / "part.tensors" / "tensor_0.pt").write_text(f"weights {step}")
    if done:
        (path / "done").write_text("1")
    if complete:
        checkpoints.mark_complete(path, IDENTITY)
    return path


def test_the_last_complete_one_counts_and_not_the_newest_file(tmp_path: Path) -> None:
    for step in (1000, 500, 900):  # the order in which they were copied here
        write(tmp_path, step)
    write(tmp_path, 1500, complete=False)
    (tmp_path / "notes").mkdir()
    last = checkpoints.latest(tmp_path)
    assert last
    assert (last.tag, last.step, last.identity) == ("step_00001000", 1000, IDENTITY)


@pytest.mark.parametrize("exists", [True, False])
def test_there_may_be_none(tmp_path: Path, exists: bool) -> None:
    directory = tmp_path if exists else tmp_path / "none"
    assert checkpoints.latest(directory) is None
    assert checkpoints.clear_away(directory) == {}


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: (path / "complete.json").unlink(), "it was not finished"),
        (
            lambda path: (path / "model/part.tensors/tensor_0.pt").write_text("w"),
            "tensor_0.pt has 1 bytes instead of 12 bytes",
        ),
        (lambda path: (path / "model/part").unlink(), "model/part is missing instead of 10 bytes"),
        (lambda path: (path / "done").unlink(), "done is missing instead of 1 bytes"),
        (lambda path: (path / "complete.json").write_text("{"), "complete.json cannot be read"),
        (lambda path: (path / "complete.json").write_text('{"files": []}'), "complete.json cannot be read"),
        (lambda path: (path / "complete.json").write_text('{"files": {}, "step": 7}'), "complete.json is of step 7"),
    ],
)
def test_what_is_not_as_it_was_written_does_not_count(tmp_path: Path, damage, reason: str) -> None:  # noqa: ANN001
    write(tmp_path, 500)
    damage(write(tmp_path, 1000))
    found = checkpoints.flaw(tmp_path / "step_00001000")
    assert found
    assert reason in found
    last = checkpoints.latest(tmp_path)
    assert last
    assert last.step == 500


@settings(max_examples=40 * settings().max_examples // 100)
@given(data=st.data())
def test_cut_off_anywhere_in_its_writing_a_checkpoint_does_not_count(data: st.DataObject, tmp_path_factory) -> None:  # noqa: ANN001
    """Whatever part of the files has reached the disk: only all of them, at their length, are a checkpoint."""
    directory = tmp_path_factory.mktemp("cut")
    path = write(directory, 500)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lost = data.draw(st.sampled_from(files))
    kept = data.draw(st.integers(0, lost.stat().st_size - 1))
    if data.draw(st.booleans()):
        lost.write_bytes(lost.read_bytes()[:kept])
    else:
        lost.unlink()
    assert checkpoints.latest(directory) is None


def test_room_is_made_before_the_next_one(tmp_path: Path) -> None:
    write(tmp_path, 500)
    write(tmp_path, 1000, complete=False)  # the node died before all had reached the disk
    write(tmp_path, 1500, done=False, complete=False)  # a process died while writing
    (write(tmp_path, 100) / "done").unlink()  # it was being removed
    (write(tmp_path, 2000) / "model/part").unlink()
    (tmp_path / "damaged-step_00002000").mkdir()
    cleared = checkpoints.clear_away(tmp_path)
    assert sorted(cleared) == ["step_00000100", "step_00001000", "step_00001500", "step_00002000"]
    assert cleared["step_00001500"] == "it was not finished"
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["damaged-step_00002000", "damaged-step_00002000-1", "step_00000500"]


def test_another_training_does_not_go_on_from_it(tmp_path: Path) -> None:
    write(tmp_path, 500)
    last = checkpoints.latest(tmp_path)
    assert last
    assert checkpoints.difference(last, IDENTITY) == []
    changed = checkpoints.difference(last, IDENTITY | {"data_parallel": 8, "model": {"hidden_size": 8192}})
    was, remedy = "checkpoint step_00000500 was trained with", "use the old one, or another '--directory'"
    assert changed == [
        f"{was} 'data_parallel' 16, got 8; {remedy}",
        f'{was} \'model\' {{"hidden_size": 4096}}, got {{"hidden_size": 8192}}; {remedy}',
    ]


def test_the_marker_lists_every_file_and_not_itself(tmp_path: Path) -> None:
    path = write(tmp_path, 500)
    checkpoints.mark_complete(path, IDENTITY)  # again, as after a requeue
    listed = json.loads((path / "complete.json").read_text())["files"]
    assert sorted(listed) == ["checkpoint", "done", "model/part", "model/part.tensors/tensor_0.pt"]


def test_fails_to_mark_what_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not the name of a checkpoint"):
        checkpoints.mark_complete(tmp_path, IDENTITY)


@given(st.integers(0, 10**12))
def test_names_are_of_their_step(step: int) -> None:
    assert checkpoints.step_of(checkpoints.tag_of(step)) == step
    assert checkpoints.step_of(f"damaged-{checkpoints.tag_of(step)}") is None
