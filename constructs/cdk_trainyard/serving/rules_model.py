"""What a model needs to be served on an instance type. Pure: no CDK object is made, and Tokens are not judged."""

import re
from collections.abc import Iterator

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.serving.model import ModelShape, NeuronDtype, NeuronModel
from cdk_trainyard.serving.sizing import (
    COMPILE_FACTOR,
    ENGINE_RESERVE_GIB,
    HOST_RESERVE_GIB,
    INF2_TYPES,
    LEGAL_DEGREES,
    Sizing,
    degrees,
    fitting,
    size,
)
from cdk_trainyard.tokens import unresolved

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
# What stands in a line of /etc/fstab and in a URL without being quoted.
_PREFIX = re.compile(r"[A-Za-z0-9!_.()=/-]+")
_BUILD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_EIGHT_BITS = frozenset({NeuronDtype.FP8, NeuronDtype.INT8})


def instance_type_problems(name: str | InstanceType) -> list[str]:
    """Check that the instance type is an inf2 type of the catalogue."""
    if unresolved(name):
        return ["'instance_type' must be known at synthesis: devices and memory follow from it; give it as text"]
    if isinstance(name, str) and not name.startswith("inf2."):
        return [f"'instance_type' must be an inf2 type, got {name}; use {', '.join(INF2_TYPES)}"]
    try:
        known = InstanceType.of(name)
    except ConfigurationError as unknown:
        return list(unknown.problems)
    if known.family != "inf2":
        return [f"'instance_type' must be an inf2 type, got {known.name}; use {', '.join(INF2_TYPES)}"]
    return []


def shape_problems(shape: ModelShape) -> list[str]:
    """Check that a shape of the user's own has numbers that a model can have."""
    numbers = {
        "parameters": shape.parameters,
        "layers": shape.layers,
        "attention_heads": shape.attention_heads,
        "key_value_heads": shape.key_value_heads,
        "head_dimension": shape.head_dimension,
    }
    problems = [
        f"'{key}' of the model's shape must be more than 0, got {value:g}"
        for key, value in numbers.items()
        if not unresolved(value) and value <= 0
    ]
    if not problems and not unresolved(*numbers.values()) and shape.attention_heads % shape.key_value_heads:
        problems.append(
            f"'attention_heads' must be a multiple of 'key_value_heads', got {shape.attention_heads} and "
            f"{shape.key_value_heads}; config.json calls them num_attention_heads and num_key_value_heads"
        )
    return problems


def model_problems(model: NeuronModel, server: Server) -> list[str]:
    """Check what a model says of itself, whatever it runs on."""
    return [*_names(model), *_static_shapes(model), *_numbers_of(model, server)]


def degree_problems(model: NeuronModel, instance_type: InstanceType) -> list[str]:
    """Check that the cores can be shared that way."""
    degree, cores = model.tensor_parallel, instance_type.neuron_cores
    if unresolved(degree):
        return []
    if degree not in LEGAL_DEGREES:
        near = sorted(sorted(LEGAL_DEGREES, key=lambda legal: abs(legal - degree))[:2])
        return [
            (
                f"'tensor_parallel' must be 1, 2, 4, 8, 12 or 24 on inf2, got {degree}; "
                f"use {' or '.join(str(legal) for legal in near)}"
            )
        ]
    if degree > cores:
        larger = next((name for name in INF2_TYPES if InstanceType.of(name).neuron_cores >= degree), INF2_TYPES[-1])
        return [
            (
                f"'tensor_parallel' must be at most {cores} on {instance_type.name} ({cores} NeuronCores), got "
                f"{degree}; "
                f"use {max(degrees(cores))}, or {larger}"
            )
        ]
    return []


def device_memory_problems(model: NeuronModel, instance_type: InstanceType) -> list[str]:
    """Check that weights and KV cache fit the cores; ask after everything else about the model is right."""
    if not _judgeable(model):
        return []
    sizing = size(model, instance_type)
    if model.batch <= sizing.largest_batch:
        return []
    return [
        (
            f"'model' must fit the NeuronCores: {model.shape.name} with 'tensor_parallel' {model.tensor_parallel} "
            f"takes "
            f"{sizing.arithmetic}; {_remedy(model, sizing)}"
        )
    ]


def host_memory_problems(model: NeuronModel, instance_type: InstanceType) -> list[str]:
    """Check that the host holds the checkpoint while it is loaded; ask after everything else about the model."""
    if not _judgeable(model):
        return []
    sizing = size(model, instance_type)
    if sizing.host_needed_gib <= sizing.host_gib:
        return []
    reserve = HOST_RESERVE_GIB + ENGINE_RESERVE_GIB
    times = "" if model.precompiled else f"{COMPILE_FACTOR} x "
    what = "weights to compile" if not model.precompiled else "weights"
    other = (
        "compile it elsewhere and say 'precompiled'"
        if not model.precompiled
        else "store it in pieces per core and say 'presharded'"
    )
    larger = fitting(model)
    return [
        (
            f"'instance_type' must have memory for {model.shape.name} beside its devices: "
            f"{times}{sizing.weights_gib:.1f} "
            f"GiB of {what} + {reserve} GiB for system and engine = {sizing.host_needed_gib:.1f} GiB, got "
            f"{instance_type.name} "
            f"with {sizing.host_gib:.1f} GiB; {f'use {larger[0]}, or ' if larger else ''}{other}"
        )
    ]


def _judgeable(model: NeuronModel) -> bool:
    shape = model.shape
    return not unresolved(
        model.batch, model.sequence_length, model.tensor_parallel, shape.parameters, shape.layers,
        shape.attention_heads, shape.key_value_heads, shape.head_dimension,
    )  # fmt: skip


def _remedy(model: NeuronModel, sizing: Sizing) -> str:
    ways = []
    if sizing.largest_batch:
        ways.append(f"'batch' {sizing.largest_batch} or less")
    if larger := fitting(model):
        ways.append(f"{larger[0]} with 'tensor_parallel' {larger[1]}")
    return f"use {', or '.join(ways)}" if ways else "no inf2 type holds it"


def _names(model: NeuronModel) -> Iterator[str]:
    if not unresolved(model.name) and not _NAME.fullmatch(model.name):
        yield (
            f"'name' of the model must be 1 to 100 letters, digits, '.', '_', '/' or '-', got {model.name!r}; "
            f"clients ask for the model by it"
        )
    if model.build is not None and not unresolved(model.build) and not _BUILD.fullmatch(model.build):
        yield (
            f"'build' must be one folder of 'prefix', of letters, digits, '.', '_' and '-', got {model.build!r}; a "
            f"compilation's log ends with it"
        )
    if unresolved(model.prefix):
        return
    if not model.prefix.strip("/"):
        yield (
            f"'prefix' must name the folder of the model in the bucket, got {model.prefix!r}; hosts may read nothing "
            f"else"
        )
    elif not _PREFIX.fullmatch(model.prefix) or "//" in model.prefix:
        yield (
            f"'prefix' must be letters, digits and any of !_.()=-/ with single slashes, got {model.prefix!r}; "
            f"it stands in a line of /etc/fstab"
        )


def _static_shapes(model: NeuronModel) -> Iterator[str]:
    for key, value in (("batch", model.batch), ("sequence_length", model.sequence_length)):
        if not unresolved(value) and value < 1:
            yield f"{key!r} must be 1 or more, got {value}; use what the model was compiled with"
    longest, total = model.longest_prompt, model.sequence_length
    if not unresolved(longest, total) and total > 1 and not 1 <= longest < total:
        yield f"'max_input_tokens' must be 1 to {total - 1}, less than 'sequence_length', got {longest}"


def _numbers_of(model: NeuronModel, server: Server) -> Iterator[str]:
    if model.dtype in _EIGHT_BITS and server is not Server.NEURON_VLLM:
        yield f"'dtype' must be bf16 or fp16 for {server}, got {model.dtype}; use bf16, or the engine neuron_vllm"
    if model.presharded and not model.precompiled:
        yield "'presharded' must come with 'precompiled': compiling starts from the whole weights; leave one out"
