"""Every rule of a service, and the one place where all are asked."""

from dataclasses import dataclass

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.serving.catalogue import HostImage
from cdk_trainyard.serving.engine import TextGenerationEngine
from cdk_trainyard.serving.model import NeuronModel
from cdk_trainyard.serving.rollout import Rollout
from cdk_trainyard.serving.rules_catalogue import (
    doubts,
    driver_problems,
    image_name_problems,
    image_problems,
    registry_problems,
)
from cdk_trainyard.serving.rules_model import (
    degree_problems,
    device_memory_problems,
    host_memory_problems,
    instance_type_problems,
    model_problems,
    shape_problems,
)
from cdk_trainyard.serving.rules_service import (
    environment_problems,
    hosts_problems,
    scaling_problems,
    tasks_problems,
    timeout_problems,
    volume_problems,
)
from cdk_trainyard.serving.scaling_values import ServiceScaling
from cdk_trainyard.serving.sizing import fitting, size
from cdk_trainyard.tokens import unresolved


@dataclass(frozen=True, kw_only=True, slots=True)
class ServicePlan:
    """A service with its defaults resolved."""

    model: NeuronModel
    engine: TextGenerationEngine
    instance_type: str | InstanceType
    host_image: HostImage
    region: str
    tasks: int
    max_hosts: int
    scaling: ServiceScaling | None
    rollout: Rollout
    volume_mib_s: int
    request_seconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What is wrong, and what only may be.

    Attributes:
        problems: What cannot work.
        warnings: What may not work, each with the slug of its warning.
    """

    problems: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...]


def service_findings(plan: ServicePlan) -> Findings:
    """Ask every rule."""
    unusable = instance_type_problems(plan.instance_type)
    problems = [
        *unusable,
        *shape_problems(plan.model.shape),
        *model_problems(plan.model, plan.engine.server),
        *image_name_problems(plan.engine.image),
        *registry_problems(plan.engine, plan.region),
        *environment_problems(plan.engine.environment),
        *tasks_problems(plan.tasks, plan.scaling),
        *hosts_problems(plan.max_hosts, plan.rollout, plan.tasks, plan.scaling),
        *scaling_problems(plan.scaling),
        *volume_problems(plan.volume_mib_s),
        *timeout_problems(plan.request_seconds),
    ]
    if unusable:
        return Findings(problems=tuple(problems), warnings=())
    known = InstanceType.of(plan.instance_type)
    problems += degree_problems(plan.model, known)
    doubtful = [
        *image_problems(plan.engine.image, known.family),
        *driver_problems(plan.engine.image, plan.host_image),
    ]
    if not problems:  # the arithmetic needs numbers that are right
        doubtful += [
            *device_memory_problems(plan.model, known),
            *host_memory_problems(plan.model, known),
        ]
    unchecked = plan.engine.unchecked
    warnings = [("unchecked", text) for text in doubtful] if unchecked else []
    warnings += [("unknown", text) for text in doubts(plan.engine.image, plan.host_image, known.family)]
    if not problems and not doubtful:
        warnings += [("multi-head", text) for text in _multi_head(plan.model, known)]
    return Findings(problems=(*problems, *([] if unchecked else doubtful)), warnings=tuple(warnings))


def _multi_head(model: NeuronModel, known: InstanceType) -> list[str]:
    if unresolved(model.tensor_parallel, model.shape.attention_heads, model.shape.key_value_heads):
        return []
    sizing = size(model, known)
    if not sizing.multi_head:
        return []
    better = fitting(model)
    return [
        f"{model.shape.key_value_heads} key and value heads do not divide over 'tensor_parallel' "
        f"{model.tensor_parallel}: each attention head gets its own, and the KV cache takes "
        f"{sizing.kv_heads_per_core * model.tensor_parallel} heads instead of {model.shape.key_value_heads}"
        + (f"; {better[0]} with 'tensor_parallel' {better[1]} does without" if better else "")
    ]
