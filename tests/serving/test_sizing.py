"""The arithmetic of sizes: the table of the specification, and what holds for every model."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.serving import sizing
from cdk_trainyard.serving.spec_model import INF2_DEGREES, ModelShape, NeuronDtype
from tests.serving.parts import model

# Sequences of 4096 tokens that fit, by tensor-parallel degree; "MHA": one key and value head per attention head.
TABLE = {
    "llama-3.2-3b": (48, 110, 235, "MHA 119", 244),
    "mistral-7b": (27, 81, 190, "MHA 66", 208),
    "llama-3.1-8b": (24, 78, 187, "MHA 65", 207),
    "qwen3-8b": (21, 69, 166, "MHA 58", 184),
    "qwen3-14b": (0, 42, 129, "MHA 36", 159),
    "gemma-3-27b": (0, 1, 29, "MHA 25", "MHA 47"),
    "qwen3-30b-a3b": (0, 0, 69, 94, 119),
    "qwen3-32b": (0, 0, 47, "MHA 11", 88),
    "llama-3.3-70b": (0, 0, 0, "MHA 2", 51),
}
HOSTS = {2: "inf2.xlarge", 4: "inf2.24xlarge", 8: "inf2.24xlarge", 12: "inf2.24xlarge", 24: "inf2.48xlarge"}
SHAPES = st.builds(
    lambda parameters, layers, kv, group, head: ModelShape(
        parameters_billions=parameters,
        layers=layers,
        attention_heads=kv * group,
        key_value_heads=kv,
        head_dimension=head,
    ),
    st.floats(0.1, 200),
    st.integers(1, 120),
    st.sampled_from([1, 2, 4, 8, 16, 32]),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([64, 80, 128]),
)


@pytest.mark.parametrize(("name", "degree"), [(name, degree) for name in TABLE for degree in HOSTS])
def test_the_table_of_what_fits(name: str, degree: int) -> None:
    found = sizing.size(model(preset=name, tensor_parallel=degree), InstanceType.of(HOSTS[degree]))
    batch, multi_head = found.largest_batch, found.multi_head
    expected = TABLE[name][list(HOSTS).index(degree)]
    # nothing fits, so it does not matter how the heads are shared
    shown = f"MHA {batch}" if multi_head and batch else batch
    assert shown == expected


def test_the_readme_has_this_table() -> None:
    readme = Path(sizing.__file__).with_name("README.md").read_text()
    shown = {cells[0]: cells[1:] for row in readme.splitlines() if (cells := row.strip("| ").split(" | "))[0] in TABLE}
    assert shown == {
        name: [*(str(fits) if fits else "no" for fits in row), _smallest_host(name)] for name, row in TABLE.items()
    }


def _smallest_host(name: str) -> str:
    found = sizing.fitting(model(preset=name, batch=1))
    assert found is not None
    return found[0]


@pytest.mark.parametrize(("batch", "degree", "preset"), [(48, 8, "llama-3.1-8b"), (8, 24, "llama-3.3-70b")])
def test_what_hugging_face_has_measured_fits(batch: int, degree: int, preset: str) -> None:
    described = model(preset=preset, batch=batch, tensor_parallel=degree)
    assert sizing.size(described, InstanceType.of("inf2.48xlarge")).fits


@pytest.mark.parametrize(
    ("preset", "smallest"),
    [
        ("tinyllama-1.1b", ("inf2.xlarge", 2)),
        ("llama-3.2-3b", ("inf2.xlarge", 2)),
        ("llama-3.1-8b", ("inf2.8xlarge", 2)),
        ("qwen3-14b", ("inf2.24xlarge", 4)),
        ("qwen3-32b", ("inf2.24xlarge", 8)),
        ("llama-3.3-70b", ("inf2.48xlarge", 24)),
    ],
)
def test_the_smallest_instance_that_fits(preset: str, smallest: tuple[str, int]) -> None:
    assert sizing.fitting(model(preset=preset, batch=1)) == smallest


def test_a_sequence_is_no_longer_than_the_preset_was_made_for() -> None:
    assert [model(preset=preset).tokens for preset in ("tinyllama-1.1b", "llama-2-7b")] == [2048, 4096]
    assert model(preset="tinyllama-1.1b").longest_prompt == 1024


def test_nothing_holds_a_model_of_two_hundred_billion() -> None:
    shape = ModelShape(parameters_billions=200, layers=100, attention_heads=64, key_value_heads=8, head_dimension=128)
    assert sizing.fitting(model(shape=shape)) is None


@pytest.mark.parametrize(("degree", "devices"), [(1, 1), (2, 1), (4, 2), (8, 4), (12, 6), (24, 12)])
def test_devices_of_a_task(degree: int, devices: int) -> None:
    described = model(tensor_parallel=degree)
    assert sizing.size(described, InstanceType.of("inf2.48xlarge")).devices == devices


@pytest.mark.parametrize(
    ("heads", "key_value", "degree", "kept"),
    [(32, 8, 2, (4, False)), (32, 8, 8, (1, False)), (32, 8, 24, (1, False)), (32, 8, 12, (3, True)),
     (64, 8, 12, (6, True)), (32, 16, 24, (2, True)), (32, 32, 12, (3, True))],
)  # fmt: skip
def test_heads_of_a_core(heads: int, key_value: int, degree: int, kept: tuple[int, bool]) -> None:
    assert sizing.kv_heads(heads, key_value, degree) == kept


def test_eight_bits_are_half_of_sixteen() -> None:
    instance = InstanceType.of("inf2.8xlarge")
    sixteen = sizing.size(model(preset="llama-3.1-8b"), instance)
    eight = sizing.size(model(preset="llama-3.1-8b", dtype=NeuronDtype.FP8), instance)
    assert eight.weights_gib == pytest.approx(sixteen.weights_gib / 2)
    assert eight.sequence_per_core_gib == sixteen.sequence_per_core_gib


def test_memory_of_the_host() -> None:
    whole = sizing.host_memory_gib(model(preset="llama-3.1-8b"))
    assert whole == pytest.approx(18.96, abs=0.01)
    assert sizing.host_memory_gib(model(preset="llama-3.1-8b", presharded=True)) == pytest.approx(11.48, abs=0.01)
    assert sizing.host_memory_gib(model(preset="llama-3.1-8b", precompiled=False)) == pytest.approx(48.87, abs=0.01)


def test_disk_and_time() -> None:
    assert sizing.root_disk_gib(model()) == 100
    assert sizing.root_disk_gib(model(preset="llama-3.3-70b")) == 250
    assert sizing.load_seconds(model(), 500) == 13 + 180
    assert sizing.load_seconds(model(precompiled=False), 500) == 13 + 180 + 5400


def test_the_arithmetic_is_written_out() -> None:
    assert sizing.size(model(), InstanceType.of("inf2.xlarge")).arithmetic == (
        "2.99 GiB of weights + 4 x 0.219 GiB of KV cache = 3.86 GiB per core, of 13.6 GiB (85% of 16 GiB)"
    )


@given(SHAPES, st.sampled_from(INF2_DEGREES), st.integers(1, 64), st.integers(1, 32768))
def test_the_largest_batch_fits_and_one_more_does_not(shape: ModelShape, degree: int, batch: int, length: int) -> None:
    described = model(shape=shape, tensor_parallel=degree, batch=batch, sequence_length=length)
    found = sizing.size(described, InstanceType.of("inf2.48xlarge"))
    most = found.largest_batch
    used = found.weights_per_core_gib + most * found.sequence_per_core_gib
    assert most == 0 or used <= found.usable_gib * 1.000001
    assert used + found.sequence_per_core_gib > found.usable_gib * 0.999999


@given(SHAPES, st.sampled_from(INF2_DEGREES))
def test_no_head_is_lost(shape: ModelShape, degree: int) -> None:
    kept, multi_head = sizing.kv_heads(shape.attention_heads, shape.key_value_heads, degree)
    assert kept * degree >= (shape.attention_heads if multi_head else shape.key_value_heads)


@given(SHAPES)
def test_what_is_said_to_fit_fits(shape: ModelShape) -> None:
    described = model(shape=shape, batch=1)
    found = sizing.fitting(described)
    if found is not None:
        host, degree = found
        said = sizing.size(replace(described, tensor_parallel=degree), InstanceType.of(host))
        assert said.largest_batch >= 1
        assert not said.multi_head
