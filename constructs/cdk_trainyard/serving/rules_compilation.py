"""What a build on CPU can compile. Pure: no CDK object is made, and Tokens are not judged.

Source of the build hosts: CodeBuild user guide, "Build environment compute modes and types", Linux on EC2. Memory: the
weights are on disk once as they come and once in pieces per core, and in memory while they are cut.
"""

import re
from dataclasses import dataclass

from cdk_trainyard.serving.catalogue import Server, engine_images
from cdk_trainyard.serving.engine import TextGenerationEngine
from cdk_trainyard.serving.model import NeuronModel
from cdk_trainyard.serving.rules_catalogue import registry_problems
from cdk_trainyard.serving.sizing import COMPILE_FACTOR, GIB, HOST_RESERVE_GIB
from cdk_trainyard.tokens import unresolved

_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_EXPORTED = re.compile(r"/?[A-Za-z0-9!_.()=-]+(/[A-Za-z0-9!_.()=-]+)*/?")
_HOURS = (1, 8)


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


def compilation_problems(
    model: NeuronModel, engine: TextGenerationEngine, *, region: str, timeout_hours: int
) -> list[str]:
    """Check that the engine's image compiles without a device, and that a build host holds the model."""
    low, high = _HOURS
    problems = _engine_problems(engine)
    if not model.precompiled:
        problems.append("'precompiled' must be true with a compilation: the engine then only loads what it made")
    problems += registry_problems(engine, region)
    if not unresolved(timeout_hours) and not low <= timeout_hours <= high:
        problems.append(f"'timeout_hours' must be {low} to {high}, got {timeout_hours}; use {high}")
    largest = BUILD_HOSTS[-1]
    if not unresolved(model.shape.parameters) and needed_gib(model) > largest.memory_gib:
        problems.append(
            f"'model' must be small enough for a build host of {largest.memory_gib} GiB: {model.shape.name} takes "
            f"{HOST_RESERVE_GIB} GiB + {COMPILE_FACTOR} x its weights = {needed_gib(model):.0f} GiB; compile it on an "
            f"instance with that memory and copy it to 'prefix'"
        )
    return problems


def source_problems(source: str | None, revision: str | None, exported: str | None) -> list[str]:
    """Check what is compiled, one of two; it stands in a command, and must be the same when it is compiled again."""
    if (source is None) is (exported is None):
        got = "neither" if source is None else "both"
        return [f"a compilation must have either 'source', a model of the Hub, or 'exported', a folder, got {got}"]
    if exported is not None:
        problems = [f"'revision' is said of 'source', got {revision!r} with 'exported'"] if revision is not None else []
        if not unresolved(exported) and not _EXPORTED.fullmatch(exported):
            problems.append(f"'exported' must be a folder of the models bucket, got {exported!r}")
        return problems
    problems = []
    if not unresolved(source) and not _SOURCE.fullmatch(str(source)):
        problems.append(f"'source' must be a model of the Hub, as meta-llama/Llama-3.1-8B-Instruct, got {source!r}")
    if not unresolved(revision) and not _COMMIT.fullmatch(revision or ""):
        problems.append(
            f"'revision' must be a commit of 'source', 40 hexadecimal digits, got {revision or 'none'}: a branch "
            f"moves, and what is compiled again would be another model; the Hub lists them under 'Files and versions'"
        )
    return problems


def _engine_problems(engine: TextGenerationEngine) -> list[str]:
    if engine.server is not Server.NEURON_VLLM and engine.image.known:
        return []
    keys = [row.key for row in engine_images() if row.server is not Server.NEURON_VLLM]
    why = "it compiles with NxD Inference, on Neuron devices" if engine.image.known else "it is not in the catalogue"
    return [
        (
            f"'engine' must be hf_vllm or tgi with one of {', '.join(keys)} for a compilation, got {engine.server} "
            f"with {engine.image.key}: {why}; compile elsewhere, or use hf_vllm"
        )
    ]
