"""One model description into the words of each engine: its variables and arguments, and what its task needs.

Sources: TGI's launcher and backends/neuron; optimum-neuron's docker/vllm and commands/neuron/serve.py; the Neuron
vLLM containers' README; serving.md of this project has the list with versions. ``NEURON_COMPILED_ARTIFACTS``: AWS
Neuron documentation, "vLLM User Guide for NxD Inference", "Loading pre-compiled models", and vllm-neuron a5ef7c8
(2025-11-17), worker/neuronx_distributed_model_loader.py: what is not there is compiled into it, and beside the weights
without it; what is there is taken whatever its shapes are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from cdk_trainyard.monitoring.spec import MetricsSource
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.serving.concurrency import PLACES, places
from cdk_trainyard.serving.spec_model import NeuronModel, TextGenerationEngine

PORT = 8080
MODEL_PATH = "/model"
HEALTH_PATH = "/health"
STOP_SECONDS = 120
"""A task gets this long to end what it generates; the agent's own default of 30 s cuts TGI off (90 s)."""
SHARED_MEMORY_MIB = 1024
"""What TGI's documentation asks for; vLLM's one worker process needs less."""
COMPILED_FOLDER = "compiled"
"""Folder of the prefix in which AWS's Neuron vLLM looks for the compiled model."""
MANAGED_VARIABLES = ("API_KEY", "VLLM_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""Variables that hold secrets, and so are never given as text."""
_WRITES = {"/tmp": 1024, "/var/tmp": 256}  # noqa: S108  the Hub's cache and sockets; the compiler's cache
"""Folders that every engine writes to, each with MiB of memory when they are kept there."""
_TOKENIZER = {"/out": 64}
"""TGI's router writes the tokenizer to ``out`` in its working folder, / in its image, and reads it with a copy in each
of its workers; where it cannot, one Python tokenizer has every prompt (text-generation-inference v3.3.7,
router/src/server.rs, ``py_resolve_tokenizer`` and ``run``, router/src/validation.rs and Dockerfile.neuron)."""
_LOGS_NO_PROMPTS = (0, 10, 1)
"""From this version on vLLM logs no prompt unless it is told to. Before, it logs every one unless it is told not to, by
an option that later versions refuse (vllm-project/vllm pull request 21739, 2025-08; opendatahub-io/kserve pull request
1005). An image without a known version is taken for a new one."""
# The home is moved and not covered: images may keep their interpreter in /root (uv puts it there).
_HOME = "/tmp"  # noqa: S108  a folder of the container's own, in memory


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineSettings:
    """What a container of the engine is started with.

    Attributes:
        environment: Its environment variables.
        arguments: Arguments after the image's entry point. Empty: none.
        key_variable: The variable that takes an API key.
        metrics: Metrics of the engine, by its own name: the queue, what is running.
        writes: Folders that it writes to, each with MiB of memory when they are kept there.
    """

    environment: Mapping[str, str]
    arguments: tuple[str, ...]
    key_variable: str
    metrics: Mapping[str, str]
    writes: Mapping[str, int] = field(default_factory=lambda: _WRITES)


def settings(engine: TextGenerationEngine, model: NeuronModel, *, request_seconds: int) -> EngineSettings:
    """Return what ``engine`` is started with to serve ``model``.

    Args:
        engine: The engine.
        model: The model.
        request_seconds: The longest a request may take.
    """
    made = _MAKERS[engine.kind](engine, model)
    # uvicorn closes an idle connection after 5 s, and the load balancer answers 502 when it has just reused it
    patience = {} if engine.kind is Server.TGI else {"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": str(request_seconds + 60)}
    offline = {"HF_HUB_OFFLINE": "1"} if model.precompiled else {}
    environment = {"HOME": _HOME, **made.environment, **offline, **patience, **engine.environment}
    return replace(made, environment=dict(sorted(environment.items())))


def source_of(server: Server) -> MetricsSource:
    """Return whose metrics a server has that others do not.

    Args:
        server: The server.
    """
    return MetricsSource.TGI if server is Server.TGI else MetricsSource.VLLM


def _tgi(_: TextGenerationEngine, model: NeuronModel) -> EngineSettings:
    return EngineSettings(
        environment={
            "MODEL_ID": MODEL_PATH,
            "PORT": str(PORT),
            # the six that TGI's entry point compares with the compiled model
            "MAX_BATCH_SIZE": str(model.batch),
            "MAX_INPUT_TOKENS": str(model.longest_prompt),
            "MAX_TOTAL_TOKENS": str(model.tokens),
            "MAX_BATCH_PREFILL_TOKENS": str(model.batch * model.longest_prompt),
            PLACES: str(places(model.batch)),
            "HF_NUM_CORES": str(model.tensor_parallel),
            "HF_AUTO_CAST_TYPE": model.dtype.value,
            "GRACEFUL_TERMINATION_TIMEOUT": str(STOP_SECONDS - 10),
            "HUGGINGFACE_HUB_CACHE": "/tmp",  # noqa: S108  a folder of the container's own, in memory
            "JSON_OUTPUT": "true",
            "USAGE_STATS": "off",
        },
        arguments=(),
        key_variable="API_KEY",
        metrics={"tgi_queue_size": "RequestsWaiting", "tgi_batch_current_size": "RequestsRunning"},
        writes={**_WRITES, **_TOKENIZER},
    )


def _hf_vllm(engine: TextGenerationEngine, model: NeuronModel) -> EngineSettings:
    return EngineSettings(
        environment={
            "SM_ON_MODEL": MODEL_PATH,
            "SM_ON_SERVED_MODEL_NAME": model.name,
            "SM_ON_BATCH_SIZE": str(model.batch),
            "SM_ON_SEQUENCE_LENGTH": str(model.tokens),
            "SM_ON_TENSOR_PARALLEL_SIZE": str(model.tensor_parallel),
            "VLLM_NO_USAGE_STATS": "1",
        },
        arguments=(*(() if model.precompiled else ("--allow_non_cached_model",)), *_quiet(engine)),
        key_variable="VLLM_API_KEY",
        metrics=_VLLM_METRICS,
    )


def _neuron_vllm(engine: TextGenerationEngine, model: NeuronModel) -> EngineSettings:
    home = MODEL_PATH
    if not model.precompiled:  # on the host's disk, where the next task of the same image and shapes finds it
        shapes = (model.tensor_parallel, model.batch, model.tokens)
        home = "/".join((_HOME, engine.container.version or "own", *map(str, shapes)))
    return EngineSettings(
        environment={"NEURON_COMPILED_ARTIFACTS": f"{home}/{COMPILED_FOLDER}", "VLLM_NO_USAGE_STATS": "1"},
        arguments=(
            "vllm",
            "serve",
            MODEL_PATH,
            *("--port", str(PORT)),
            *("--served-model-name", model.name),
            *("--tensor-parallel-size", str(model.tensor_parallel)),
            *("--max-num-seqs", str(model.batch)),
            *("--max-model-len", str(model.tokens)),
            *("--num-gpu-blocks-override", str(model.batch)),
            "--no-enable-prefix-caching",
            *_quiet(engine),
        ),
        key_variable="VLLM_API_KEY",
        metrics=_VLLM_METRICS,
    )


def _quiet(engine: TextGenerationEngine) -> tuple[str, ...]:
    """What keeps prompts out of vLLM's log."""
    numbers = engine.container.number
    return ("--disable-log-requests",) if numbers and numbers < _LOGS_NO_PROMPTS else ()


_VLLM_METRICS = {"vllm:num_requests_waiting": "RequestsWaiting", "vllm:num_requests_running": "RequestsRunning"}
_MAKERS: Mapping[Server, Callable[[TextGenerationEngine, NeuronModel], EngineSettings]] = {
    Server.TGI: _tgi,
    Server.HF_VLLM: _hf_vllm,
    Server.NEURON_VLLM: _neuron_vllm,
}
