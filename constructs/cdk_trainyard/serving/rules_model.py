"""What a model needs to be served on an instance type. Pure: no CDK object is made, and Tokens are not judged."""

from collections.abc import Iterator
from dataclasses import replace

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.options.stand_ins import StandIn
from cdk_trainyard.problems import Problem, option, shown
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.serving.sizing import (
    COMPILE_FACTOR,
    ENGINE_RESERVE_GIB,
    HOST_RESERVE_GIB,
    MOST_DISK_GIB,
    MOST_LOAD_SECONDS,
    Sizing,
    degrees,
    fitting,
    host_memory_gib,
    load_seconds,
    root_disk_gib,
    size,
)
from cdk_trainyard.serving.spec_model import NeuronDtype, NeuronModel
from cdk_trainyard.serving.spec_service import INF2_TYPES, ServingHosts
from cdk_trainyard.tokens import unresolved

_SHORTEST = 2
_EIGHT_BITS = frozenset({NeuronDtype.FP8, NeuronDtype.INT8})


def model_problems(model: NeuronModel, kind: Server) -> Iterator[Problem]:
    """Check what a model says of itself, whatever it runs on."""
    yield from shape_problems(model)
    longest, total = model.longest_prompt, model.tokens
    if not unresolved(longest, total) and total >= _SHORTEST and not 1 <= longest < total:
        text = f"must be 1 to {total - 1}, less than {option('sequence_length')}, got {longest}"
        yield Problem(("max_input_tokens",), text)
    if model.max_input_tokens is not None and not unresolved(kind) and kind is not Server.TGI:
        text = f"must be left out for {kind}, which takes any prompt shorter than {option('sequence_length')}"
        yield Problem(("max_input_tokens",), text)
    if model.presharded is True and model.precompiled is False:
        text = f"must come with {option('precompiled')}: compiling starts from the whole weights; leave one out"
        yield Problem(("presharded",), text)


def dtype_problems(model: NeuronModel, kind: Server) -> Iterator[Problem]:
    """Check that an engine of that kind holds weights in such numbers."""
    if unresolved(model, kind) or model.dtype not in _EIGHT_BITS or kind is Server.NEURON_VLLM:
        return
    text = f"must be bf16 or fp16 for {kind}, got {model.dtype}; use bf16, or an engine of kind neuron-vllm"
    yield Problem(("model", "dtype"), text)


def shape_problems(model: NeuronModel) -> Iterator[Problem]:
    """Check that there is one preset, or one shape that can be."""
    shape = model.shape
    if shape is None:
        if model.preset is None:
            text = f"or {option('shape')} must be given, for memory follows from it, got neither"
            yield Problem(("preset",), text)
        return
    if model.preset is not None:
        yield Problem(("preset",), f"must be left out beside {option('shape')}; one of both says how large it is")
    if not unresolved(shape.parameters_billions) and shape.parameters_billions <= 0:
        text = f"must be more than 0, got {shown(shape.parameters_billions)}"
        yield Problem(("shape", "parameters_billions"), text)
    heads, shared = shape.attention_heads, shape.key_value_heads
    if not unresolved(heads, shared) and heads % shared:
        text = (
            f"must be a multiple of {option('key_value_heads')}, got {heads} and {shared}; config.json calls them "
            f"num_attention_heads and num_key_value_heads"
        )
        yield Problem(("shape", "attention_heads"), text)


def bucket_problems(model: NeuronModel) -> Iterator[Problem]:
    """Check that a model says where its weights are: outside a deployment file there is no bucket of its own."""
    if isinstance(model.bucket, StandIn):
        yield Problem(("bucket",), "is missing: the bucket with the weights")


def type_problems(hosts: ServingHosts) -> Iterator[Problem]:
    """Check that the type is known, since devices and memory follow from it."""
    if isinstance(hosts.instance_type, str) and unresolved(hosts.instance_type):
        yield Problem(("hosts", "instance_type"), "must be known at synthesis; give it as text")


def degree_problems(model: NeuronModel, known: InstanceType) -> Iterator[Problem]:
    """Check that the type has as many cores as share the model."""
    degree, cores = model.tensor_parallel, known.neuron_cores
    if unresolved(degree) or degree <= cores:
        return
    larger = next((name for name in INF2_TYPES if InstanceType.of(name).neuron_cores >= degree), INF2_TYPES[-1])
    of_hosts, most = f"{option('hosts.instance_type', up=2)} {larger}", max(degrees(cores))
    fits = not judgeable(model) or size(replace(model, tensor_parallel=most), known).fits
    text = f"must be at most {cores} on {known.name} ({cores} NeuronCores), got {degree}"
    yield Problem(("model", "tensor_parallel"), f"{text}; use {f'{most}, or {of_hosts}' if fits else of_hosts}")


def sequence_problems(model: NeuronModel) -> Iterator[Problem]:
    """Check that a preset was made for sequences of that length.

    Source: vLLM, vllm/config (``_get_and_verify_max_len``): a longer one than ``max_position_embeddings`` is refused.
    """
    most, said = model.longest_sequence, model.sequence_length
    if most is None or said is None or unresolved(model.preset, said) or said <= most:
        return
    text = (
        f"must be at most {most}, the longest sequence that {model.preset} was made for (config.json and model card), "
        f"got {said}; for a model of that size that was made for more, give {option('shape')} "
        f"instead of {option('preset')}"
    )
    yield Problem(("model", "sequence_length"), text)


def device_memory_problems(model: NeuronModel, known: InstanceType) -> Iterator[Problem]:
    """Check that weights and KV cache fit the cores; ask after everything else about the model is right."""
    sizing = size(model, known)
    if model.batch <= sizing.largest_batch:
        return
    text = (
        f"must fit the NeuronCores: {model.label} with {option('tensor_parallel')} {model.tensor_parallel} takes "
        f"{sizing.arithmetic}; {_remedy(model, sizing)}"
    )
    yield Problem(("model", "batch" if sizing.largest_batch else "tensor_parallel"), text)


def host_memory_problems(model: NeuronModel, known: InstanceType) -> Iterator[Problem]:
    """Check that the host holds the checkpoint while it is loaded; ask after everything else about the model."""
    sizing = size(model, known)
    if sizing.host_needed_gib <= sizing.host_gib:
        return
    reserve = HOST_RESERVE_GIB + ENGINE_RESERVE_GIB
    taken, ways = f"{sizing.weights_gib:.1f} GiB of weights", [*_larger_hosts(model, sizing)]
    if not model.precompiled:
        taken = f"{COMPILE_FACTOR} x {taken} to compile"
        ways.append("compile it elsewhere and say 'precompiled'")
    elif model.presharded:
        taken = f"{sizing.weights_per_core_gib:.1f} GiB of weights per core"
    elif host_memory_gib(replace(model, presharded=True)) <= sizing.host_gib:
        ways.append("store it in pieces per core and say 'presharded'")
    text = (
        f"must have memory for {model.label} beside its devices: {taken} + {reserve} GiB for system and engine = "
        f"{sizing.host_needed_gib:.1f} GiB, got {known.name} with {sizing.host_gib:.1f} GiB; "
        f"{', or '.join(ways) or 'no inf2 type holds it'}"
    )
    yield Problem(("hosts", "instance_type"), text)


def _larger_hosts(model: NeuronModel, sizing: Sizing) -> Iterator[str]:
    """Yield the type to use, with the cores to share it when the weights are in pieces for each, and a smaller one."""
    larger, batch = fitting(model), sizing.largest_batch
    if larger:
        cores = f" with {option('tensor_parallel')} {larger[1]}" if model.presharded else ""
        yield f"use {larger[0]}{cores}"
    smaller = fitting(replace(model, batch=batch)) if 0 < batch < model.batch else None
    if smaller and smaller != larger and smaller[1] == model.tensor_parallel:
        yield f"{'' if larger else 'use '}{smaller[0]} with 'batch' {batch} of 'model'"


def bound_problems(model: NeuronModel, hosts: ServingHosts) -> Iterator[Problem]:
    """Check what no host has, whatever the arithmetic of memory is: a larger volume, or alarms that wait for longer."""
    disk = root_disk_gib(model)
    if disk > MOST_DISK_GIB:
        text = f"must fit a root volume, {MOST_DISK_GIB} GiB at most: {model.label} takes {disk}"
        yield Problem(("model",), f"{text}; give a smaller one")
    elif not unresolved(hosts.volume_mib_s) and (load := load_seconds(model, hosts.volume_mib_s)) > MOST_LOAD_SECONDS:
        text = f"must load in {MOST_LOAD_SECONDS / 3600:g} hours, as alarms of CloudWatch wait for a day at most"
        yield Problem(("model",), f"{text}: {model.label} takes {load / 3600:.1f}; give a smaller one")


def judgeable(model: NeuronModel) -> bool:
    """Return whether everything is known that the arithmetic needs."""
    shape = model.dimensions
    return (model.preset, model.shape) != (None, None) and not unresolved(
        model.batch, model.tokens, model.tensor_parallel, model.preset, shape, shape.parameters_billions,
        shape.layers, shape.attention_heads, shape.key_value_heads, shape.head_dimension, model.dtype,
        model.precompiled, model.presharded,
    )  # fmt: skip


def _remedy(model: NeuronModel, sizing: Sizing) -> str:
    ways = []
    if sizing.largest_batch:
        ways.append(f"{option('batch')} {sizing.largest_batch} or less")
    if larger := fitting(model):
        ways.append(f"{larger[0]} with {option('tensor_parallel')} {larger[1]}")
    return f"use {', or '.join(ways)}" if ways else "no inf2 type holds it"
