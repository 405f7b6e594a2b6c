"""Every rule of a service, and the one place where all are asked: by the constructor and for a file alike."""

import math
from collections.abc import Iterator

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.options.schedules import numbered_days
from cdk_trainyard.problems import Problem, option, warned, within
from cdk_trainyard.serving.catalogue import host_image
from cdk_trainyard.serving.findings import Findings
from cdk_trainyard.serving.rollout import least_tasks, most_tasks
from cdk_trainyard.serving.rules_catalogue import (
    architecture_problems,
    doubts,
    driver_problems,
    engine_problems,
    family_problems,
    host_image_problems,
    server_problems,
)
from cdk_trainyard.serving.rules_concurrency import places_problems
from cdk_trainyard.serving.rules_environment import engine_variable_problems, variable_problems, variable_warnings
from cdk_trainyard.serving.rules_model import (
    bound_problems,
    degree_problems,
    device_memory_problems,
    dtype_problems,
    host_memory_problems,
    judgeable,
    model_problems,
    sequence_problems,
    type_problems,
)
from cdk_trainyard.serving.rules_service import (
    hosts_problems,
    most_hosts_at_once,
    scaling_problems,
    tasks_problems,
    timeout_problems,
)
from cdk_trainyard.serving.sizing import fitting, size
from cdk_trainyard.serving.spec_model import NeuronModel
from cdk_trainyard.serving.spec_service import INF2_TYPES, Rollout, ServiceScaling, ServiceSpec, ServingHosts
from cdk_trainyard.tokens import unresolved


def service_findings(spec: ServiceSpec, region: str | None) -> Findings:
    """Ask every rule of a service.

    Args:
        spec: The service.
        region: The stack's Region. None: not known.
    """
    hosts, model, engine = spec.hosts, spec.model, spec.engine
    problems, doubtful = [*_said(spec, region)], [*server_problems(engine), *dtype_problems(model, engine.kind)]
    if unresolved(hosts, model, engine, hosts.instance_type) or hosts.instance_type not in INF2_TYPES:
        return Findings.of(engine, problems, doubtful)
    known = InstanceType.of(hosts.instance_type)
    warnings = [*warned("serving", "fixed-scaling", _fixed(spec.scaling))]
    warnings += within(("scaling",), warned("serving", "scale-in", _unguarded(hosts, spec.scaling)))
    warnings += warned("serving", "numbered-days", _numbered(spec.scaling))
    warnings += warned("serving", "environment", variable_warnings(spec))
    problems += degree_problems(model, known)
    problems += variable_problems(spec, known)
    doubtful += [*engine_variable_problems(spec, known), *places_problems(spec)]
    if not unresolved(engine.kind, engine.image, hosts.host_image):
        image, host = engine.container, host_image(hosts.host_image)
        doubtful += [*family_problems(image, known.family), *driver_problems(image, host)]
        warnings += warned("serving", "unknown", doubts(image, host, known.family))
        if not unresolved(model.preset):
            doubtful += architecture_problems(model, engine)
    doubtful += sequence_problems(model)
    sized = judgeable(model) and not any(each.at[0] == "model" for each in problems)
    if sized:  # the arithmetic needs numbers that are right
        doubtful += [*device_memory_problems(model, known), *host_memory_problems(model, known)]
        problems += bound_problems(model, hosts)
    if sized and not doubtful:
        warnings += warned("serving", "multi-head", _multi_head(model, known))
        warnings += warned("serving", "idle-cores", _idle(model, known))
    return Findings.of(engine, problems, doubtful, warnings)


def _said(spec: ServiceSpec, region: str | None) -> Iterator[Problem]:
    """What is wrong with what each part says of itself, and of the others."""
    model, engine, hosts = spec.model, spec.engine, spec.hosts
    yield from type_problems(hosts)
    yield from host_image_problems(hosts)
    if not unresolved(model):
        yield from within(("model",), model_problems(model, engine.kind))
    yield from within(("engine",), engine_problems(engine, region))
    if engine.hub_token is not None and not unresolved(engine.hub_token) and model.precompiled is True:
        text = f"must be left out for a model with {option('precompiled')}: its engine asks the Hub for nothing"
        yield Problem(("engine", "hub_token"), text)
    yield from tasks_problems(hosts, spec.scaling)
    yield from hosts_problems(hosts, spec.scaling)
    if spec.scaling is not None and not unresolved(spec.scaling):
        yield from within(("scaling",), scaling_problems(spec.scaling))
    yield from timeout_problems(spec)


def _fixed(scaling: ServiceScaling | None) -> Iterator[str]:
    """Say of bounds that leave no choice, and that no schedule changes, that nothing comes of them."""
    if scaling is None or unresolved(scaling, scaling.schedules):
        return
    later = (bound for each in scaling.schedules for bound in (each.min_tasks, each.max_tasks))
    bounds = {scaling.min_tasks, scaling.max_tasks, *later}
    if not unresolved(*bounds) and len(bounds) == 1:
        text = f"'scaling' with 'min_tasks' and 'max_tasks' {scaling.max_tasks} never changes the number of tasks"
        yield f"{text}: widen the bounds, or leave it out"


def _unguarded(hosts: ServingHosts, scaling: ServiceScaling | None) -> Iterator[str]:
    """Say of scaling that it may take the host of a task that serves, before another task has loaded.

    Sources: botocore 1.44.5, ECS, AutoScalingGroupProvider (managedTerminationProtection: without it a scale-in ends
    hosts with tasks); ECS developer guide, "Draining Amazon ECS container instances", read 2026-11: what is ended
    before it is replaced follows from minimumHealthyPercent.
    """
    if scaling is None or most_hosts_at_once(hosts, scaling) is None or unresolved(hosts.protect) or hosts.protect:
        return
    least, most = least_tasks(hosts, scaling), most_tasks(hosts, scaling)
    if hosts.rollout is not Rollout.RECREATE or most in {1, least}:
        return
    meanwhile, other, price = "nothing may answer", Rollout.SURGE, "twice the hosts while a version replaces another"
    if least > 1:
        meanwhile, other, price = "fewer tasks answer", Rollout.ROLLING, "a new version comes task by task"
    yield (
        "'scaling' may end the host of a task that serves: without 'protect' no task keeps its host, and with rollout "
        f"{hosts.rollout} the task ends before another has loaded, so {meanwhile} meanwhile; use rollout {other} "
        f"({price}), or 'protect' true (the stack's deletion waits until somebody takes the protection away)"
    )


def _numbered(scaling: ServiceScaling | None) -> Iterator[str]:
    """Say on which days of the week schedules come that have them as numbers."""
    if scaling is not None and not unresolved(scaling, scaling.schedules):
        found = (numbered_days(each.schedule) for each in scaling.schedules if not unresolved(each, each.schedule))
        yield from (f"the schedule {text}" for text in found if text)


def _multi_head(model: NeuronModel, known: InstanceType) -> Iterator[str]:
    sizing = size(model, known)
    if not sizing.multi_head:
        return
    better, heads = fitting(model), model.dimensions.key_value_heads
    yield (
        f"{heads} key and value heads do not divide over 'tensor_parallel' {model.tensor_parallel}: each attention "
        f"head gets its own, and the KV cache takes {sizing.kv_heads_per_core * model.tensor_parallel} heads instead "
        f"of {heads}" + (f"; {better[0]} with 'tensor_parallel' {better[1]} does without" if better else "")
    )


def _idle(model: NeuronModel, known: InstanceType) -> Iterator[str]:
    """Say of cores that no task can have, since a host has one, when they are half of its cores or more."""
    (device,) = known.accelerators
    degree, cores = model.tensor_parallel, known.neuron_cores
    idle = cores - math.ceil(degree / device.cores) * device.cores
    if 2 * idle < cores:
        return
    types = [InstanceType.of(name) for name in INF2_TYPES]
    smaller = next((each.name for each in types if degree <= each.neuron_cores < cores and size(model, each).fits), "")
    way = f"use {smaller}, or" if smaller else "use"
    yield (
        f"'tensor_parallel' {degree} leaves {idle} of the {cores} NeuronCores of {known.name} idle, which are paid, "
        f"for a host has one task: {way} a larger 'tensor_parallel'"
    )
