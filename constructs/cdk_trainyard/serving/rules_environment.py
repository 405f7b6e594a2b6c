"""What variables of an engine must not contradict: compiled shapes, cores, and where and how long it is asked. Pure.

Sources: text-generation-inference v3.3.7, launcher/src/main.rs (``HOSTNAME`` is the address that it listens on; what
it ends for: ``LauncherError::ArgumentValidation``), backends/v2/src/main.rs (the router's: ``RouterError``),
router/src/infer/mod.rs (places for requests), backends/neuron/server/…/tgi_env.py (what is compared with the compiled
model) and server/text_generation_server/cli.py ("Sharding is not supported"; options of ``serve``, of which the
launcher passes on others); clap 4.5, which reads the launcher's variables, builder/value_parser.rs
(``BoolValueParser``) and builder/action.rs (flags are read by it); optimum-neuron b5d747b,
text-generation-inference/tgi_env.py (``HF_BATCH_SIZE``); optimum-neuron v0.4.5, docker/vllm/Dockerfile (each
``SM_ON_…`` becomes an argument of ``optimum-cli neuron serve``, after the ones that are there),
commands/neuron/serve.py (what it does not know follows its own arguments to vLLM, whose last one counts) and
vllm/model_loader.py and runner.py (no pipelines, no copies, a place in the compiled batch for each sequence); AWS
Neuron documentation, "Neuron Runtime configuration", "Logical NeuronCore configuration" (of Trainium2) and
"NCC_EARG001", read 2026-11; ELB user guide, "Troubleshoot your Application Load Balancers", HTTP 502, read 2026-11: a
target that closes connections before the idle time-out; vLLM, vllm/envs.py and vllm/plugins/__init__.py
(``VLLM_PLUGINS`` that is empty loads none) and pull request 21159 (Neuron became a plugin, 2025-07); the entry points
``vllm.platform_plugins`` of optimum-neuron's pyproject.toml and of vllm-neuron's setup.py, read 2026-11;
aws-neuron/deep-learning-containers 2be9ed1, common/vllm_entrypoint.py (AWS's Neuron vLLM, whose entry point reads no
variable) and vLLM, examples/online_serving/sagemaker-entrypoint.sh (``SM_VLLM_…`` is read in SageMaker's containers,
which are none of these); DJL Serving, "Container and Model Configurations" (``OPTION_…`` is read in LMI containers,
which are none of these either), read 2026-11.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.problems import Problem, either, shown
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.serving.concurrency import PLACES
from cdk_trainyard.serving.engine_settings import MODEL_PATH, settings
from cdk_trainyard.serving.rules_model import judgeable
from cdk_trainyard.serving.spec_load_balancer import ConcurrencyLimit
from cdk_trainyard.serving.spec_model import NeuronModel, TextGenerationEngine
from cdk_trainyard.serving.spec_service import ServiceSpec
from cdk_trainyard.tokens import unresolved

_OF_MODEL: Final[Mapping[str, str]] = {
    "HF_AUTO_CAST_TYPE": "dtype",
    "HF_BATCH_SIZE": "batch",
    "HF_NUM_CORES": "tensor_parallel",
    "HF_SEQUENCE_LENGTH": "sequence_length",
    "MAX_BATCH_SIZE": "batch",
    "MAX_TOTAL_TOKENS": "sequence_length",
    "SM_ON_BATCH_SIZE": "batch",
    "SM_ON_SEQUENCE_LENGTH": "sequence_length",
    "SM_ON_SERVED_MODEL_NAME": "name",
    "SM_ON_TENSOR_PARALLEL_SIZE": "tensor_parallel",
    "TENSOR_PARALLEL_SIZE": "tensor_parallel",
}
"""Variables that follow from one option of the model: it decides what fits, what is compiled and who is asked for."""
_EARLIER: Final = {"HF_BATCH_SIZE": "MAX_BATCH_SIZE", "HF_SEQUENCE_LENGTH": "MAX_TOTAL_TOKENS"}
"""What TGI called variables before, which newer ones leave unread."""
_MOST_OF_MODEL: Final[Mapping[str, str]] = {
    "SM_ON_MAX_MODEL_LEN": "SM_ON_SEQUENCE_LENGTH",
    "SM_ON_MAX_NUM_SEQS": "SM_ON_BATCH_SIZE",
}
"""Arguments of vLLM that win over optimum-neuron's own: less than what is compiled is a limit, more is not there."""
_UNDIVIDED: Final = frozenset({"SM_ON_PIPELINE_PARALLEL_SIZE", "SM_ON_DATA_PARALLEL_SIZE"})
_FOLDERS: Final = ("MODEL_ID", "SM_ON_MODEL")
_OF_OTHER_SERVERS: Final = frozenset({"HF_MODEL_ID", "MODEL_ID"})
"""What TGI, and images for SageMaker, call the model that they serve."""
_LISTENING: Final = {Server.TGI: "HOSTNAME", Server.HF_VLLM: "SM_ON_HOST"}
_KEEP_ALIVE: Final = "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"
_PLUGINS: Final = "VLLM_PLUGINS"
_PLUGIN: Final = {Server.HF_VLLM: "optimum_neuron", Server.NEURON_VLLM: "neuron"}
_BY_PLUGIN: Final = (0, 11)
_MOST_DIGITS: Final = 9
_PROMPT, _PREFILL, _TOTAL = "MAX_INPUT_TOKENS", "MAX_BATCH_PREFILL_TOKENS", "MAX_BATCH_TOTAL_TOKENS"
_SOME: Final = frozenset({PLACES, "VALIDATION_WORKERS"})
_COUNTS: Final = _SOME | {
    *(_PROMPT, _PREFILL, _TOTAL, "MAX_WAITING_TOKENS", "MAX_TOP_N_TOKENS", "MAX_BEST_OF", "MAX_CLIENT_BATCH_SIZE"),
    *("MAX_STOP_SEQUENCES", "PAYLOAD_LIMIT", "PROMETHEUS_PORT", "MASTER_PORT", "GRACEFUL_TERMINATION_TIMEOUT"),
}
"""Whole numbers of TGI's launcher; of ``_SOME`` none ends it, or leaves every request out."""
_OF_TGI: Final = (_COUNTS - {"MASTER_PORT"}) | {
    *("HF_AUTO_CAST_TYPE", "HF_NUM_CORES", "MAX_BATCH_SIZE", "MAX_INPUT_LENGTH", "MAX_TOTAL_TOKENS"),
    *("NUM_SHARD", "SHARDED"),
}
_READERS: Final[Mapping[str, frozenset[Server]]] = {
    **dict.fromkeys(sorted(_OF_TGI), frozenset({Server.TGI})),
    "OPTION_": frozenset(),
    "SM_ON_": frozenset({Server.HF_VLLM}),
    "SM_VLLM_": frozenset(),
    "TENSOR_PARALLEL_SIZE": frozenset(),
    "VLLM_": frozenset({Server.HF_VLLM, Server.NEURON_VLLM}),
}
"""Names of variables, and beginnings of names, that only these engines read."""
_FRACTIONS: Final = frozenset({"CUDA_MEMORY_FRACTION", "ROPE_FACTOR", "WAITING_SERVED_RATIO"})
_FRACTION = re.compile(r"[+-]?(inf|infinity|nan|([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]+)?)", re.IGNORECASE)
_FLAGS: Final = (
    *("DISABLE_CUSTOM_KERNELS", "DISABLE_GRAMMAR_SUPPORT", "ENABLE_PREFILL_LOGPROBS", "JSON_OUTPUT", "NGROK"),
    *("SHARDED", "TRUST_REMOTE_CODE"),
)
_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(_FLAGS, ("true", "false")),
    "ROPE_SCALING": ("linear", "dynamic"),
    "USAGE_STATS": ("on", "off", "no-stack"),
}
_NOT_ON_NEURON: Final = frozenset({"DTYPE", "KV_CACHE_DTYPE", "QUANTIZE", "SPECULATE"})
"""What the launcher passes on as an option that the server for Neuron devices has not, and ends for."""
_GROUPED = re.compile(r"(--lnc|-lnc|--logical-nc-config)[ =]*([02-9]|1[0-9])")
_COUNT, _NAMED = "NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES"


def variable_problems(spec: ServiceSpec, known: InstanceType) -> Iterator[Problem]:
    """Check variables that would win over what follows from the model, and contradict it.

    Args:
        spec: The service.
        known: The type of its hosts.
    """
    model, ours = spec.model, _ours(spec)
    for name, value in _variables(spec):
        text = _keep_alive(value, spec) if name == _KEEP_ALIVE else _of_model(name, value, ours, model)
        text = text or _cores(name, value, model, known) or _grouped(name, value, known)
        if text is not None:
            yield _problem(name, text, value)


def engine_variable_problems(spec: ServiceSpec, known: InstanceType) -> Iterator[Problem]:
    """Check variables that the engine is known to end for, or to get more by than was compiled.

    Args:
        spec: The service.
        known: The type of its hosts.
    """
    engine, ours = spec.engine, _ours(spec)
    refused = {each.at for each in variable_problems(spec, known)}
    for name, value in _variables(spec):
        of_tgi = engine.kind is Server.TGI
        text = _of_tgi(name, engine, spec.model, ours) if of_tgi else _of_vllm(name, value, engine, ours)
        if text is not None and (found := _problem(name, text, value)).at not in refused:
            yield found


def variable_warnings(spec: ServiceSpec) -> Iterator[str]:
    """Say of variables that nothing comes of them, or that they leave places of the compiled batch empty.

    Args:
        spec: The service.
    """
    kind, batch = spec.engine.kind, spec.model.batch
    folder = spec.engine.environment.get("MODEL_ID", MODEL_PATH)
    for name, value in _variables(spec):
        readers = next((_READERS[each] for each in _READERS if name == each or _begins(name, each)), {kind})
        if spec.engine.container.known and kind not in readers:
            by = f"; it is of {' and '.join(sorted(readers))}" if readers else ""
            says = f", as '{_OF_MODEL[name]}' of 'model' says it" if name in _OF_MODEL else ""
            text = f"'engine.environment.{name}' has no effect: nothing in an image of {kind} reads it{by}"
            yield f"{text}; leave it out{says}"
        elif name == PLACES and kind is Server.TGI and (number := whole_number(value)) and number < batch:
            text = f"'engine.environment.{name}' {number} is less than 'batch' {batch} of 'model'"
            yield f"{text}: TGI answers further requests with 429 while the batch has room; use {batch} or more"
        elif name == "REVISION" and kind is Server.TGI and folder == MODEL_PATH:
            yield f"'engine.environment.{name}' has no effect: the model is in the folder {MODEL_PATH}; leave it out"


def _begins(name: str, beginning: str) -> bool:
    return beginning.endswith("_") and name.startswith(beginning)


def _variables(spec: ServiceSpec) -> Iterator[tuple[str, str]]:
    """Yield the variables that are known; none where it is not known what follows from the model."""
    engine, model = spec.engine, spec.model
    if not unresolved(engine.kind, engine.image, model.name) and judgeable(model):
        yield from ((name, value) for name, value in engine.environment.items() if not unresolved(value))


def _ours(spec: ServiceSpec) -> Mapping[str, str]:
    """Return the variables that follow from the model."""
    if not [*_variables(spec)]:
        return {}
    return settings(replace(spec.engine, environment={}), spec.model, request_seconds=0).environment


def _problem(name: str, text: str, value: str) -> Problem:
    remedy = "" if text.startswith("must be left out") else "; leave it out"
    return Problem(("engine", "environment", name), f"{text}, got {shown(value)}{remedy}")


def listening_problems(engine: TextGenerationEngine, concurrency: ConcurrencyLimit | None) -> Iterator[Problem]:
    """Check that the load balancer reaches the engine: directly, unless an agent of the task stands between.

    Args:
        engine: The engine.
        concurrency: The agent's limit. None: there is no agent.
    """
    if concurrency is not None or unresolved(engine.kind):
        return
    name = _LISTENING.get(engine.kind, "")
    value = engine.environment.get(name)
    if value is None or unresolved(value) or not (value.startswith("127.") or value in {"localhost", "::1"}):
        return
    text = f"must be 0.0.0.0, which the load balancer reaches, got {shown(value)}; leave it out"
    yield Problem(("environment", name), text)


def _of_model(name: str, value: str, ours: Mapping[str, str], model: NeuronModel) -> str | None:
    wanted = ours.get(_EARLIER.get(name, name), value)
    if name in _OF_MODEL and value != wanted:
        return f"must be {wanted} as '{_OF_MODEL[name]}' of 'model' says"
    if name in _FOLDERS and name in ours and model.precompiled and not f"{value}/".startswith(f"{MODEL_PATH}/"):
        return f"must be {MODEL_PATH}, where the task has the compiled model"
    return None


def _of_vllm(name: str, value: str, engine: TextGenerationEngine, ours: Mapping[str, str]) -> str | None:
    """Compare with what optimum-neuron makes of arguments of vLLM."""
    number, most, known = whole_number(value), _MOST_OF_MODEL.get(name, ""), engine.container.known
    if known and name in _OF_OTHER_SERVERS and value != MODEL_PATH:
        return f"must be left out: nothing in an image of {engine.kind} reads it, which serves what 'model' says"
    if known and number is not None and most in ours and number > int(ours[most]):
        return f"must be at most {ours[most]} as '{_OF_MODEL[most]}' of 'model' says"
    if known and name in _UNDIVIDED and engine.kind is Server.HF_VLLM and (number is None or number > 1):
        return "must be 1: 'tensor_parallel' of 'model' shares it, in one process"
    return _plugins(name, value, engine)


def _plugins(name: str, value: str, engine: TextGenerationEngine) -> str | None:
    """Compare with the plugin that an image of the catalogue has for Neuron devices; others are not known."""
    wanted, image = _PLUGIN[engine.kind], engine.container
    if name != _PLUGINS or not image.known or image.number < _BY_PLUGIN or wanted in value.split(","):
        return None
    return f"must name {wanted}, without which vLLM finds no Neuron device"


def _of_tgi(name: str, engine: TextGenerationEngine, model: NeuronModel, ours: Mapping[str, str]) -> str | None:
    """Compare with what TGI's launcher and router end for."""
    value = engine.environment[name]
    number = whole_number(value)
    if text := _unreadable(name, value):
        return text
    if name in _SOME and number == 0:
        return "must be 1 or more"
    if name in _NOT_ON_NEURON and engine.container.known:
        return "must be left out: TGI's server for Neuron devices has no such option, and ends"
    return _of_launcher(name, value, number, model) or _of_router(name, engine.environment, ours)


def _unreadable(name: str, value: str) -> str | None:
    """Return what a value is not that the launcher must be able to read; without one, it ends."""
    if name in _COUNTS and value and whole_number(value) is None:
        return "must be a whole number"
    if name in _FRACTIONS and not _FRACTION.fullmatch(value):
        return "must be a number"
    if name in _CHOICES and value not in _CHOICES[name]:
        return f"must be {either(_CHOICES[name])}"
    return None


def _of_router(name: str, said: Mapping[str, str], ours: Mapping[str, str]) -> str | None:
    """Compare a prompt, the prompts of a batch, and a batch with each other."""
    prompt, prefill, total = (whole_number(said.get(each, ours.get(each, ""))) for each in (_PROMPT, _PREFILL, _TOTAL))
    if prompt is None or prefill is None:
        return None
    if name == _PREFILL and prefill < prompt:
        return f"must be {prompt} or more as {_PROMPT} says"
    if name == _PROMPT and prefill < prompt and _PREFILL not in said:
        return f"must be at most {prefill} as {_PREFILL} says, unless 'max_input_tokens' of 'model' is more"
    if name == _TOTAL and total is not None and total < prefill:
        return f"must be {prefill} or more as {_PREFILL} says"
    return None


def _of_launcher(name: str, value: str, number: int | None, model: NeuronModel) -> str | None:
    if name == "MAX_INPUT_LENGTH":
        return f"must not stand beside {_PROMPT}, which 'max_input_tokens' of 'model' decides"
    if name == _PROMPT and number is not None and not 1 <= number < model.tokens:
        return f"must be 1 to {model.tokens - 1}, less than 'sequence_length' of 'model'"
    if name == _TOTAL and number is not None and number < model.tokens:
        return f"must be {model.tokens} or more, 'sequence_length' of 'model'"
    if (name, value) == ("SHARDED", "true") or (name == "NUM_SHARD" and number not in {None, 1}):
        return f"must be {'false' if name == 'SHARDED' else 1}: 'tensor_parallel' of 'model' shares it, in one process"
    return None


def _grouped(name: str, value: str, known: InstanceType) -> str | None:
    """Return what is wrong with NeuronCores that are taken for one, which Trainium2 can."""
    flag = _GROUPED.search(value) if name == "NEURON_CC_FLAGS" else None
    if flag is None and (name != "NEURON_LOGICAL_NC_CONFIG" or whole_number(value) in {None, 1}):
        return None
    what = "must take each NeuronCore for one" if flag else "must be 1"
    return f"{what} on {known.family}, whose NeuronCores cannot be grouped"


def _keep_alive(value: str, spec: ServiceSpec) -> str | None:
    seconds = None if unresolved(spec.request_timeout) else spec.request_timeout.to_seconds()
    try:
        said = int(value)
    except ValueError:
        return None if spec.engine.kind is Server.TGI else "must be a whole number"
    if seconds is None or unresolved(seconds) or said > seconds:
        return None
    return f"must be more than {seconds:g}, the load balancer's idle time-out, or callers get 502 now and then"


def _cores(name: str, value: str, model: NeuronModel, known: InstanceType) -> str | None:
    """Compare with the cores of the devices that the task gets, of which the model needs as many as share it."""
    (device,) = known.accelerators
    needed = model.tensor_parallel
    most = math.ceil(needed / device.cores) * device.cores
    if name == _COUNT and (count := whole_number(value)) and not needed <= count <= most:
        bounds = str(most) if needed == most else f"{needed} to {most}"
        return f"must be {bounds}, the NeuronCores that the task has"
    if name == _NAMED and not _are_of(_listed(value), needed, most):
        return f"must name {needed} or more of 0-{most - 1}, the NeuronCores that the task has"
    return None


def _are_of(runs: Sequence[tuple[int, int]], needed: int, most: int) -> bool:
    """Say whether runs of cores are of so many, and enough of them; of none nothing is known."""
    if not runs or max(last for _, last in runs) >= most:
        return not runs
    return len({core for first, last in runs for core in range(first, last + 1)}) >= needed


def whole_number(value: str) -> int | None:
    """Return a whole number, or another that is as large for any bound; None when it is written in another way."""
    is_whole = not unresolved(value) and re.fullmatch("[+]?[0-9]+", value)
    return int(value.lstrip("+0")[:_MOST_DIGITS] or 0) if is_whole else None


def _listed(value: str) -> list[tuple[int, int]]:
    """Return the ends of each part of a list of numbers and ranges (``0-3,8``); none when it is written otherwise."""
    parts = value.split(",")
    if not all(re.fullmatch(r"[0-9]{1,4}(-[0-9]{1,4})?", part) for part in parts):
        return []
    return [(int(part.partition("-")[0]), int(part.rpartition("-")[2])) for part in parts]
