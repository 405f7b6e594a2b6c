"""One description of a model, from which every engine's settings, the devices and the time-outs follow."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cdk_trainyard.errors import ConfigurationError, did_you_mean
from cdk_trainyard.serving._data import load

if TYPE_CHECKING:  # what only names the choices needs no CDK
    from aws_cdk import aws_s3 as s3


class NeuronDtype(StrEnum):
    """In what numbers the weights are held."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    """AWS's Neuron vLLM only."""
    INT8 = "int8"
    """AWS's Neuron vLLM only."""

    @property
    def bytes_per_weight(self) -> int:
        """Bytes of one weight."""
        return 1 if self in {NeuronDtype.FP8, NeuronDtype.INT8} else 2


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelShape:
    """What decides how much memory a model takes.

    Attributes:
        name: What it is called.
        parameters: Number of parameters, all experts of a mixture counted.
        layers: Number of layers.
        attention_heads: Attention (query) heads.
        key_value_heads: Key and value heads: fewer than attention heads when they are shared in groups.
        head_dimension: Numbers in a head.
    """

    name: str
    parameters: float
    layers: int
    attention_heads: int
    key_value_heads: int
    head_dimension: int

    @classmethod
    def preset(cls, name: str) -> "ModelShape":
        """Return the shape of a well-known model.

        Args:
            name: As ``"llama-3.1-8b"``; all are in ``ModelShape.presets()``.

        Raises:
            ConfigurationError: There is none of that name; says which are near.
        """
        rows = load("models")["models"]
        if name not in rows:
            near = did_you_mean(name, rows)
            problem = f"'preset' must be one of {', '.join(sorted(rows))}, got {name!r}{near}"
            raise ConfigurationError("ModelShape.preset", [problem])
        parameters, layers, attention_heads, key_value_heads, head_dimension = rows[name]
        return cls(
            name=name,
            parameters=parameters * 1e9,
            layers=layers,
            attention_heads=attention_heads,
            key_value_heads=key_value_heads,
            head_dimension=head_dimension,
        )

    @staticmethod
    def presets() -> tuple[str, ...]:
        """Return the names of the well-known models."""
        return tuple(sorted(load("models")["models"]))


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronModel:
    """A model to serve: where its weights are, and the static shapes it is compiled for.

    Neuron graphs are static. ``batch``, ``sequence_length`` and ``tensor_parallel`` must be those that the model was
    compiled with: the ``neuron_config.json`` beside the weights is what counts, and an engine refuses others.

    Attributes:
        name: The name by which clients ask for it.
        shape: Its shape, a preset or your own.
        bucket: The bucket with its weights.
        prefix: Where they are in it, as ``"models/llama-3.1-8b/"``. It never is the whole bucket.
        build: The folder of the prefix that is served, as a ``ModelCompilation`` names each of its results: what is
            there is never changed, and another build is another value here. Default - the prefix itself.
        tensor_parallel: NeuronCores that share it.
        batch: Sequences that are computed together. Default: 1.
        sequence_length: Tokens of a sequence, those of the prompt and the new ones. Default: 4096.
        max_input_tokens: Tokens of the longest prompt, which TGI wants to know. Default - half of the sequence.
        dtype: In what numbers the weights are held. Default: BF16.
        precompiled: Whether the prefix holds the compiled model. Otherwise the engine takes it from the cache of the
            Hugging Face Hub or compiles it, for an hour or more. Default: True.
        presharded: Whether the weights are stored in pieces per core; the host then never holds all of them.
            Default: False.
    """

    name: str
    shape: ModelShape
    bucket: "s3.IBucket"
    prefix: str
    tensor_parallel: int
    build: str | None = None
    batch: int = 1
    sequence_length: int = 4096
    max_input_tokens: int | None = None
    dtype: NeuronDtype = NeuronDtype.BF16
    precompiled: bool = True
    presharded: bool = False

    @property
    def longest_prompt(self) -> int:
        """Tokens of the longest prompt."""
        return self.sequence_length // 2 if self.max_input_tokens is None else self.max_input_tokens

    @property
    def weights_bytes(self) -> float:
        """Bytes of all weights."""
        return self.shape.parameters * self.dtype.bytes_per_weight

    @property
    def folder(self) -> str:
        """What is served, with its slash: the build's folder, or the prefix."""
        return f"{self.home}{self.build}/" if self.build else self.home

    @property
    def home(self) -> str:
        """The prefix with its slash."""
        return f"{self.prefix.strip('/')}/"
