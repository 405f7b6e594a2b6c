"""What a build on CPU can compile. Pure: no CDK object is made, and Tokens are not judged.

Source of the build hosts: CodeBuild user guide, "Build environment compute modes and types", Linux on EC2; of the
longest build: ``BuildTimeOut`` of CodeBuild's API, 2160 minutes. Memory: the weights are on disk once as they come and
once in pieces per core, and in memory while they are cut.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.texts import IMAGE_REFERENCE
from cdk_trainyard.problems import Problem, Warned, either, option, shown, warned
from cdk_trainyard.serving.catalogue import Server, engine_images
from cdk_trainyard.serving.rules_model import judgeable
from cdk_trainyard.serving.sizing import COMPILE_FACTOR, GIB, HOST_RESERVE_GIB
from cdk_trainyard.serving.spec_model import PRESETS, NeuronModel, TextGenerationEngine
from cdk_trainyard.serving.spec_service import CompilationSpec
from cdk_trainyard.tokens import unresolved

_HOURS = (1, 36)
_MAKERS: Final = frozenset({"google", "meta-llama", "mistralai", "qwen", "tinyllama"})
"""Of the presets' models on the Hub; names that others give may tell of what a model was made from."""
_GATED: Final = ("meta-llama/", "google/gemma-")
"""How repositories begin that the Hub gives to nobody without a token (Hugging Face Hub documentation, "Gated models").
Sources, read 2026-11: huggingface/optimum-neuron, issue 535 (Llama 2); ariG23498/gemma3-object-detection, issue 5; on
the Hub, discussion 107 of meta-llama/Llama-3.1-8B-Instruct and 14 of google/gemma-2-2b."""
_SIZE: Final = r"(?<![a-z0-9.])[0-9]+(?:[.][0-9]+)?b(?![a-z0-9])"


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildHost:
    """A size of CodeBuild's.

    Attributes:
        compute_type: Its name.
        memory_gib: Its memory.
    """

    compute_type: str
    memory_gib: int


BUILD_HOSTS = (
    BuildHost(compute_type="BUILD_GENERAL1_LARGE", memory_gib=15),
    BuildHost(compute_type="BUILD_GENERAL1_XLARGE", memory_gib=70),
    BuildHost(compute_type="BUILD_GENERAL1_2XLARGE", memory_gib=145),
)


def needed_gib(model: NeuronModel) -> float:
    """Return the memory that a compilation takes."""
    return HOST_RESERVE_GIB + COMPILE_FACTOR * model.weights_bytes / GIB


def build_host(model: NeuronModel) -> BuildHost:
    """Return the smallest size that compiles a model, the largest when none does."""
    return next((host for host in BUILD_HOSTS if host.memory_gib >= needed_gib(model)), BUILD_HOSTS[-1])


def compilation_problems(spec: CompilationSpec, model: NeuronModel, engine: TextGenerationEngine) -> Iterator[Problem]:
    """Check what is compiled, and that the engine compiles without a device.

    Problems of the build are at its own options, those of model and engine at theirs: ``("model", "precompiled")``.

    Args:
        spec: The build.
        model: The model as it is served.
        engine: The engine that serves it.
    """
    yield from source_problems(spec)
    yield from _result_problems(spec, model)
    if not unresolved(engine, engine.kind) and engine.kind is Server.NEURON_VLLM:
        why = "it compiles with NxD Inference, on Neuron devices; compile elsewhere, or use hf-vllm"
        text = f"must be hf-vllm or tgi for a model that a build compiles, got {engine.kind}: {why}"
        yield Problem(("engine", "kind"), text)
    if model.precompiled is False:
        text = "must be true for a model that a build compiles: the engine then only loads what it made"
        yield Problem(("model", "precompiled"), text)
    low, high = _HOURS
    hours = None if unresolved(spec.timeout) else spec.timeout.to_seconds() / 3600
    if hours is not None and not low <= hours <= high:
        yield Problem(("timeout",), f"must be {low} to {high} hours, got {hours:.15g}")


def known_compilation_problems(
    spec: CompilationSpec, model: NeuronModel, engine: TextGenerationEngine
) -> Iterator[Problem]:
    """Check a build against what is known of models and images, and that a build host holds the model.

    Args:
        spec: The build.
        model: The model as it is served.
        engine: The engine that serves it.
    """
    yield from _preset_problems(spec, model)
    yield from _image_problems(engine)
    largest = BUILD_HOSTS[-1].memory_gib
    if judgeable(model) and needed_gib(model) > largest:
        text = (
            f"must be small enough for a build host of {largest} GiB: {model.label} takes {HOST_RESERVE_GIB} GiB + "
            f"{COMPILE_FACTOR} x its weights = {needed_gib(model):.0f} GiB; compile it on an instance with that memory "
            f"and copy it to 'prefix'"
        )
        yield Problem(("model",), text)


def compilation_warnings(spec: CompilationSpec) -> Iterator[Warned]:
    """Yield what may end a build.

    Args:
        spec: The build.
    """
    source = spec.source
    if source is not None and not unresolved(source) and source.lower().startswith(_GATED) and spec.hub_token is None:
        text = f"the build fetches {source}, which the Hub gives to those alone who were let in, and has no token"
        text += ": unless it is open by now, give the build the secret with the token of one of them"
        yield from warned("serving", "gated", [text])


def source_problems(spec: CompilationSpec) -> Iterator[Problem]:
    """Check what is compiled: one of two, the same when it is compiled again."""
    if (spec.source is None) is (spec.exported is None):
        got = "neither" if spec.source is None else "both"
        text = f"or {option('exported')} must be given, one of a model of the Hub and a folder of the bucket, got {got}"
        yield Problem(("source",), text)
    elif spec.exported is not None and spec.revision is not None:
        yield Problem(
            ("revision",), f"must be left out beside {option('exported')}: it is a commit of {option('source')}"
        )
    elif spec.exported is not None and spec.hub_token is not None:
        text = (
            f"must be left out beside {option('exported')}, which comes from the bucket: the Hub is asked for nothing"
        )
        yield Problem(("hub_token",), text)
    elif spec.source is not None and spec.revision is None:
        yield Problem(("revision",), f"must be given beside {option('source')}: a commit of it, which a branch is not")


def _preset_problems(spec: CompilationSpec, model: NeuronModel) -> Iterator[Problem]:
    """Check that what is compiled is the model that is served, by the name that its maker gave it."""
    source = spec.source
    preset = None if model.shape is not None or unresolved(model.preset) else model.preset
    if source is not None and preset is not None and not unresolved(source):
        named = source.partition("/")[2].lower().removesuffix("-instruct")
        found = named if named != preset and named in PRESETS else _other_size(source, preset)
        if found is not None:
            text = f"must be the model of {option('preset')} {preset} in 'model', got {shown(source)}"
            yield Problem(("source",), f"{text}, which is {found}; give one of both as the other says")


def _result_problems(spec: CompilationSpec, model: NeuronModel) -> Iterator[Problem]:
    """Check that what is compiled is no result of a build."""
    exported = spec.exported
    if exported is None or unresolved(exported, model.prefix, model.build):
        return
    if model.build is not None and f"{exported.strip('/')}/" == model.folder:
        text = f"must be a folder with an export, got {shown(exported)}, which is where the build of 'model' is"
        yield Problem(("exported",), f"{text}; name what jobs/export-for-serving wrote")


def _other_size(source: str, preset: str) -> str | None:
    """Return the sizes in the name that a maker gave a model, when the preset's is none of them."""
    maker, _, named = source.lower().partition("/")
    sizes = re.findall(_SIZE, named)
    if maker not in _MAKERS or not sizes or set(re.findall(_SIZE, preset)) & set(sizes):
        return None
    return f"a model of {sizes[0].upper()}"


def _image_problems(engine: TextGenerationEngine) -> Iterator[Problem]:
    """Check that it is known how the engine's image compiles; what is no image at all is answered as such."""
    if unresolved(engine, engine.kind, engine.image) or engine.kind is Server.NEURON_VLLM or engine.container.known:
        return
    if engine.image is not None and ("/" not in engine.image or IMAGE_REFERENCE.problem(engine.image, NOWHERE)):
        return
    keys = either(row.key for row in engine_images() if row.server is engine.kind)
    text = f"must be {keys} for a model that a build compiles, got {engine.container.key}"
    yield Problem(("engine", "image"), f"{text}: it is not in the catalogue; compile elsewhere")
