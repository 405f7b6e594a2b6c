"""What can be said of a model and of the engine that serves it. No CDK: a deployment file is judged with it alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, Unpack

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import nearest
from cdk_trainyard.options.fields import Said
from cdk_trainyard.options.kinds import Choice, Number, Open, Text
from cdk_trainyard.options.stand_ins import DeploymentBucket
from cdk_trainyard.options.texts import IMAGE_TAG, LINE, VARIABLE
from cdk_trainyard.problems import shown
from cdk_trainyard.serving.catalogue import EngineImage, Server, engine_image, engine_images
from cdk_trainyard.serving.kinds import Folder
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:
    from typing import TypedDict

    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_secretsmanager as secretsmanager

    class _Settings(TypedDict, total=False):
        """What an engine has beside its kind."""

        image: str | None
        repository: ecr.IRepository | None
        tag: str | None
        environment: Mapping[str, str]
        hub_token: secretsmanager.ISecret | None
        unchecked: bool


INF2_DEGREES: Final = (1, 2, 4, 8, 12, 24)
"""Tensor-parallel degrees on inf2 (aws-neuron-sdk, neuron-calculator.rst; 1 is a model on one core)."""
_Positive = Annotated[int, Number(minimum=1, maximum=100_000_000)]
_Dimension = Annotated[int, Number(minimum=1, maximum=100_000)]
"""Of a model: many times what any has, and little enough that what follows from it can be read."""


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
    """The shape of a model that has no preset, from its config.json: it decides how much memory the model takes."""

    parameters_billions: Annotated[float, Number(maximum=100_000)]
    """Parameters in billions (1e9), all experts of a mixture counted."""
    layers: _Dimension
    """Layers: num_hidden_layers."""
    attention_heads: _Dimension
    """Attention (query) heads: num_attention_heads."""
    key_value_heads: _Dimension
    """Key and value heads, fewer than attention heads when they are shared in groups: num_key_value_heads."""
    head_dimension: _Dimension
    """Numbers in a head: head_dim, or hidden_size / num_attention_heads."""


_ROWS: Final = sorted(load("serving", "models")["models"].items())
PRESETS: Final = {
    name: ModelShape(
        parameters_billions=parameters,
        layers=layers,
        attention_heads=attention_heads,
        key_value_heads=key_value_heads,
        head_dimension=head_dimension,
    )
    for name, (parameters, layers, attention_heads, key_value_heads, head_dimension, *_) in _ROWS
}
ARCHITECTURES: Final[Mapping[str, str]] = {name: row[-1] for name, row in _ROWS}
_LONGEST: Final[dict[str, int]] = {name: row[-2] for name, row in _ROWS}
_SEQUENCE: Final = 4096
_SERVED: Final = tuple(
    name for name, each in ARCHITECTURES.items() if any(each in image.architectures for image in engine_images())
)
IMAGE_OF_YOURS: Final = "give an image of yours that does as 'image' of 'engine'"


def _not_served(name: str) -> str:
    """Say of what is meant for a preset that no image is known to serve that it is one; nothing of others.

    A model of the Hub has the name of its preset behind that of its owner, and more behind that.
    """
    owner, _, model = name.rpartition("/")
    like = nearest(model.lower() if owner else name, PRESETS)[:1]
    if like and owner and like[0] in _SERVED:
        return f"; did you mean {shown(like[0])}? A model of the Hub is named in 'compile', as 'source'"
    if not like or like[0] in _SERVED:
        return ""
    what = f"a {ARCHITECTURES[like[0]]} model, which no image of the catalogue is known to serve"
    return f"; {shown(like[0])} is {what}; {IMAGE_OF_YOURS}"


_PRESET: Final = Choice(
    values=tuple(PRESETS), where="serving/README.md, 'What fits'", offered=_SERVED, remedy=_not_served
)


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronModel:
    """A model to serve: where its weights are in the bucket, and the static shapes that it is compiled for.

    Neuron graphs are static. ``batch``, ``sequence_length`` and ``tensor_parallel`` must be those that the model was
    compiled with: the ``neuron_config.json`` beside the weights is what counts, and an engine refuses others.
    """

    name: Annotated[
        str,
        Text(
            pattern=r"[A-Za-z0-9][A-Za-z0-9._:/-]*",
            words="letters, digits, '.', '_', ':', '/' and '-', as clients ask for the model by it",
            example="llama-3.1-8b",
            longest=100,
        ),
    ]
    """The name by which clients ask for it: 1 to 100 letters, digits and any of ``.`` ``_`` ``:`` ``/`` ``-``, a letter
    or a digit first."""
    preset: Annotated[str | None, _PRESET] = None
    """The shape of a well-known model. Default - ``shape`` is given instead."""
    shape: ModelShape | None = None
    """A shape of your own. Default - ``preset`` is given instead."""
    bucket: Annotated["s3.IBucket", Said(None)] = DeploymentBucket("models")  # noqa: RUF009  stands for it
    """The bucket with its weights, which who writes Python gives; in a file it is one of the deployment's.
    Default: models."""
    prefix: Folder
    """Its folder in the bucket; it never is the whole bucket."""
    build: Annotated[
        str | None,
        Text(
            pattern=r"[A-Za-z0-9][A-Za-z0-9._-]*",
            words="one folder of 'prefix', of letters, digits, '.', '_' and '-', which a compilation's log ends with",
            example="3f9a0c51d7e2",
            longest=100,
        ),
    ] = None
    """The folder in ``prefix`` that is served: of a compilation, what the last line of its log names. What is there is
    never changed, and another build is another value here. Default - with ``compile`` of a deployment file: none yet,
    and no host runs; without it: what ``prefix`` holds."""
    tensor_parallel: Annotated[int, Choice(values=INF2_DEGREES)]
    """NeuronCores that share it; as it was compiled."""
    batch: _Positive = 1
    """Sequences that are computed together; as it was compiled. Default: 1."""
    sequence_length: Annotated[int | None, Number(minimum=2, maximum=100_000_000)] = None
    """Tokens of a sequence, the prompt's and the new ones; as it was compiled. Default - 4096, or as many as the preset
    was made for when that is less."""
    max_input_tokens: Annotated[int | None, Number(minimum=1)] = None
    """Tokens of the longest prompt, for tgi alone, which wants to know. Default - half of the sequence."""
    dtype: NeuronDtype = NeuronDtype.BF16
    """In what numbers the weights are held; fp8 and int8 for neuron-vllm only. Default: bf16."""
    precompiled: bool = True
    """Whether the folder holds the compiled model; otherwise the engine takes it from the cache of the Hugging Face Hub
    or compiles it, for an hour or more. Default: true."""
    presharded: bool = False
    """Whether the weights are stored in pieces per core, so that the host never holds all of them. Default: false."""

    @property
    def dimensions(self) -> ModelShape:
        """Its shape, whichever way it was said; a rule demands one of both."""
        return self.shape or PRESETS.get(self.preset or "") or next(iter(PRESETS.values()))

    @property
    def label(self) -> str:
        """What messages about its size call it."""
        return self.preset or ("the model" if unresolved(self.name) else self.name)

    @property
    def longest_sequence(self) -> int | None:
        """Tokens of the longest sequence that the preset was made for. None: it is a shape of the user's own."""
        return None if self.shape else _LONGEST.get(self.preset or "")

    @property
    def tokens(self) -> int:
        """Tokens of a sequence."""
        if self.sequence_length is not None:
            return self.sequence_length
        return min(_SEQUENCE, self.longest_sequence or _SEQUENCE)

    @property
    def longest_prompt(self) -> int:
        """Tokens of the longest prompt."""
        return self.tokens // 2 if self.max_input_tokens is None else self.max_input_tokens

    @property
    def weights_bytes(self) -> float:
        """Bytes of all weights."""
        return self.dimensions.parameters_billions * 1e9 * self.dtype.bytes_per_weight

    @property
    def folder(self) -> str:
        """What is served, with its slash: the build's folder, or the prefix."""
        return f"{self.home}{self.build}/" if self.build else self.home

    @property
    def home(self) -> str:
        """The prefix with its slash."""
        return f"{self.prefix.strip('/')}/"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextGenerationEngine:
    """A server of OpenAI's protocol on Neuron devices.

    What it serves is said once, in the ``NeuronModel``; here is only what is the engine's own.
    """

    kind: Server = Server.HF_VLLM
    """The server: vLLM of Hugging Face's optimum-neuron (hf-vllm) or of AWS's Neuron containers (neuron-vllm), or tgi,
    for those who have it: in maintenance since 2025-12-11. Default: hf-vllm."""
    image: Annotated[str | None, Open(rule="image_problems", examples=("hf-vllm-0.4.5",))] = None
    """An image of the catalogue by its key, or a reference with its registry. Default - the catalogue's."""
    repository: "ecr.IRepository | None" = None
    """An ECR repository of yours that has a copy of the image. Default - where it is published."""
    tag: Annotated[str | None, IMAGE_TAG] = None
    """The tag or digest (``sha256:…``) there. Default - latest."""
    environment: Mapping[Annotated[str, VARIABLE], Annotated[str, LINE]] = field(default_factory=dict)
    """Further environment variables; they win over those of ours, and must not contradict the model. Default - none."""
    hub_token: Annotated["secretsmanager.ISecret | None", Said("hub_token_secret_arn")] = None
    """A secret with a token of the Hugging Face Hub, for a gated model that is not precompiled; where a file names it,
    one that no KMS key of your own encrypts. Default - none."""
    unchecked: bool = False
    """Whether what the catalogue, what is known of the engine, or the arithmetic speaks against is a warning instead of
    an error. Default: false."""

    @property
    def container(self) -> EngineImage:
        """Its container image, with what the catalogue knows of it."""
        return engine_image(self.image, self.kind)

    @classmethod
    def hf_vllm(cls, **settings: "Unpack[_Settings]") -> "TextGenerationEngine":
        """Return vLLM as Hugging Face's optimum-neuron serves it: the broadest choice of models on inf2.

        Args:
            settings: What is said beside ``kind``. Default - the catalogue's image: vLLM 0.11.0 with SDK 2.26.1.
        """
        return cls(kind=Server.HF_VLLM, **settings)

    @classmethod
    def neuron_vllm(cls, **settings: "Unpack[_Settings]") -> "TextGenerationEngine":
        """Return vLLM of AWS's Neuron containers (NxD Inference).

        Args:
            settings: What is said beside ``kind``.
                Default - the catalogue's image: vLLM 0.13.0 with SDK 2.28.0, the last that supports inf2.
        """
        return cls(kind=Server.NEURON_VLLM, **settings)

    @classmethod
    def tgi(cls, **settings: "Unpack[_Settings]") -> "TextGenerationEngine":
        """Return Text Generation Inference, for those who have it: it is in maintenance since 2025-12-11.

        Args:
            settings: What is said beside ``kind``. Default - the catalogue's image: TGI 3.3.7 with SDK 2.24.
        """
        return cls(kind=Server.TGI, **settings)
