"""What limits at the load balancer and of the engine keep from its queue, by which others act. Pure.

Sources: ELB user guide, "Target groups for your Application Load Balancers", target optimizer, read 2026-11: a target
gets no more requests at a time than its agent says; the same, "CloudWatch metrics for your Application Load Balancer",
read 2026-11: what no target is ready for is rejected, and RequestCountPerTarget is of what targets received;
text-generation-inference v3.3.7, router/src/infer/mod.rs: what has no place is answered 429 before it is queued;
Application Auto Scaling user guide, "How target tracking scaling works", read 2026-11: capacity is added above the
target.
"""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.problems import Problem, Warned, warned, within
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.serving.concurrency import PLACES, places, requests_at_a_time
from cdk_trainyard.serving.rules_environment import whole_number
from cdk_trainyard.serving.spec_load_balancer import MOST_AT_A_TIME, ConcurrencyLimit
from cdk_trainyard.serving.spec_model import NeuronModel, TextGenerationEngine
from cdk_trainyard.serving.spec_service import MonitoringSpec, ScalingMetric, ServiceScaling, ServiceSpec
from cdk_trainyard.tokens import unresolved

_OF_ENGINE: Final = f"{PLACES} in 'environment' of 'engine'"


def queue_problems(
    limit: ConcurrencyLimit | None, model: NeuronModel, scaling: ServiceScaling | None
) -> Iterator[Problem]:
    """Check that the engine's queue may grow beyond what it is scaled by.

    Args:
        limit: The limit. None: there is none.
        model: What is served.
        scaling: What moves the number of tasks.
    """
    requests, target = _requests(limit, model), _target(model, scaling)
    if requests is None or target is None or requests > (enough := model.batch + target):
        return
    lower = "lower 'target' of 'scaling'"
    remedy = f"raise it, or {lower}" if enough < MOST_AT_A_TIME else lower
    yield Problem(("requests",), f"{_too_few(requests, model.batch, target)}; {remedy}")


def places_problems(spec: ServiceSpec) -> Iterator[Problem]:
    """Check that an engine which takes so many requests alone lets its queue grow beyond what it is scaled by.

    Args:
        spec: The service.
    """
    batch, target = spec.model.batch, _target(spec.model, spec.scaling)
    requests = _places(spec.engine, spec.model)
    if requests is None or target is None or requests > batch + target:
        return
    if PLACES in spec.engine.environment:
        text = f"{_too_few(requests, batch, target)}; raise it, or lower 'target' of 'scaling'"
        yield Problem(("engine", "environment", PLACES), text)
    else:
        most = requests - batch
        text = f"must be less than {most}, got {target:.15g}: TGI takes {requests} requests at a time and computes "
        text += f"{batch}, so {most} wait at most; lower it, or let {_OF_ENGINE} be more than "
        yield Problem(("scaling", "target"), f"{text}{batch + target:.15g}")


def waiting_problems(
    monitoring: MonitoringSpec, limit: ConcurrencyLimit | None, engine: TextGenerationEngine, model: NeuronModel
) -> Iterator[Problem]:
    """Check that as many requests as an alarm waits for may wait in the engine.

    Args:
        monitoring: The thresholds.
        limit: The limit at the load balancer. None: there is none.
        engine: The engine, which may have one of its own.
        model: What is served.
    """
    if monitoring.waiting is not None:
        found = unreached_problems(monitoring.waiting, limit, engine, model)
        yield from within(("waiting",), found)


def unreached_problems(
    waiting: float,
    limit: ConcurrencyLimit | None,
    engine: TextGenerationEngine,
    model: NeuronModel,
    *,
    exceeded: bool = False,
) -> Iterator[Problem]:
    """Check that a threshold on the requests that wait can be reached.

    Args:
        waiting: The threshold.
        limit: The limit at the load balancer. None: there is none.
        engine: The engine, which may have one of its own.
        model: What is served.
        exceeded: Whether more must wait than the threshold says. Default: false, as many are enough.
    """
    bounds = {"'requests' of 'concurrency'": _requests(limit, model), _OF_ENGINE: _places(engine, model)}
    known = [(requests, what) for what, requests in bounds.items() if requests is not None]
    if unresolved(waiting) or not known:
        return
    requests, what = min(known)
    most = max(0, requests - model.batch)
    if waiting > most or (exceeded and waiting == most):
        must = f"must be {'less than' if exceeded else 'at most'} {most}" if most else "must be left out"
        why = f"a task gets {requests} requests at a time and computes {model.batch}, so such an alarm never rings"
        yield Problem((), f"{must}, got {waiting:.15g}: {why}; or raise {what}")


def default_waiting(limit: ConcurrencyLimit | None, engine: TextGenerationEngine, model: NeuronModel) -> float:
    """Return how many requests wait before an alarm rings: twice the batch, or all that a limit lets wait.

    Args:
        limit: The limit at the load balancer. None: there is none.
        engine: The engine, which may have one of its own.
        model: What is served.
    """
    bounds = (_requests(limit, model), _places(engine, model))
    return min([2.0 * model.batch, *(max(1.0, each - model.batch) for each in bounds if each is not None)])


def limit_warnings(limit: ConcurrencyLimit | None, spec: ServiceSpec) -> Iterator[Warned]:
    """Yield what may surprise about a limit: it refuses, and nobody counts what it refuses.

    Args:
        limit: The limit. None: there is none.
        spec: The service.
    """
    model, scaling = spec.model, spec.scaling
    requests, places_of_engine = _requests(limit, model), _places(spec.engine, model)
    if requests is None:
        return
    if places_of_engine is not None and requests > places_of_engine:
        text = f"'requests' {requests} is more than the {places_of_engine} that TGI takes at a time: it answers what "
        text += f"is over with 429 before the load balancer refuses any; let {_OF_ENGINE} be {requests} too"
        yield from warned("serving", "concurrency", [text])
    if requests <= model.batch:
        text = (
            f"'requests' {requests} leaves the engine no queue beside 'batch' {model.batch} of 'model': whatever else"
        )
        text += " comes is refused with 503 at once; raise it, or let callers try again"
        yield from warned("serving", "concurrency", [text])
    if scaling is not None and not unresolved(scaling) and scaling.metric is ScalingMetric.ALB_REQUESTS:
        text = f"'concurrency' refuses requests that metric {scaling.metric} of 'scaling' does not count: tasks that "
        text += f"have no room may add none; scale by metric {ScalingMetric.QUEUE}"
        yield from warned("serving", "concurrency", [text])


def _too_few(requests: int, batch: int, target: float) -> str:
    text = f"must be more than {batch + target:.15g} with metric {ScalingMetric.QUEUE}, got {requests}"
    most = max(0, requests - batch)
    return f"{text}: an engine computes {batch} of them, so {most} wait at most, and over {target:.15g} add a task"


def _target(model: NeuronModel, scaling: ServiceScaling | None) -> float | None:
    """Return how many requests wait in each engine before a task is added; None where that does not, or unknown."""
    if unresolved(scaling, model, model.batch) or scaling is None or unresolved(scaling.metric, scaling.target):
        return None
    if scaling.metric is not ScalingMetric.QUEUE:
        return None
    return model.batch if scaling.target is None else scaling.target


def _requests(limit: ConcurrencyLimit | None, model: NeuronModel) -> int | None:
    """Return how many requests a task gets at a time; None when nothing limits them, or it is not known."""
    if limit is None or unresolved(limit, limit.requests, model, model.batch):
        return None
    return requests_at_a_time(limit, model.batch)


def _places(engine: TextGenerationEngine, model: NeuronModel) -> int | None:
    """Return how many requests an engine takes at a time; None when it takes what comes, or it is not known."""
    if unresolved(engine, engine.kind, engine.environment, model, model.batch) or engine.kind is not Server.TGI:
        return None
    value = engine.environment.get(PLACES)
    return places(model.batch) if value is None else whole_number(value) or None
