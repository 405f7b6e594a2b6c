"""What a limit keeps from the engine's queue, by which others act. Pure.

Sources: ELB user guide, "Target groups for your Application Load Balancers", target optimizer, read 2026-11: a target
gets no more requests at a time than its agent says; the same, "CloudWatch metrics for your Application Load Balancer",
read 2026-11: what no target is ready for is rejected, and RequestCountPerTarget is of what targets received;
text-generation-inference v3.3.7, router/src/infer/mod.rs: a request takes a place before it is queued, and without one
it is answered 429;
Application Auto Scaling user guide, "How target tracking scaling works", read 2026-11: capacity is added above the
target.
"""

from collections.abc import Iterator

from cdk_trainyard.problems import Problem, Warned, warned
from cdk_trainyard.serving.concurrency import requests_at_a_time
from cdk_trainyard.serving.spec_load_balancer import MOST_AT_A_TIME, ConcurrencyLimit
from cdk_trainyard.serving.spec_model import NeuronModel
from cdk_trainyard.serving.spec_service import MonitoringSpec, ScalingMetric, ServiceScaling
from cdk_trainyard.tokens import unresolved


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


def waiting_problems(
    monitoring: MonitoringSpec, limit: ConcurrencyLimit | None, model: NeuronModel
) -> Iterator[Problem]:
    """Check that as many requests as an alarm waits for may wait in the engine.

    Args:
        monitoring: The thresholds.
        limit: The limit. None: there is none.
        model: What is served.
    """
    waiting = monitoring.waiting
    if waiting is None or unresolved(waiting) or (requests := _requests(limit, model)) is None:
        return
    most = max(0, requests - model.batch)
    if most < waiting:
        text = f"must be at most {most}, got {waiting:.15g}" if most else f"must be left out, got {waiting:.15g}"
        why = f"a task gets {requests} requests at a time and computes {model.batch}, so such an alarm never rings"
        yield Problem(("waiting",), f"{text}: {why}; or raise 'requests' of 'concurrency'")


def default_waiting(limit: ConcurrencyLimit | None, model: NeuronModel) -> float:
    """Return how many requests wait before an alarm rings: twice the batch, or all that a limit lets wait.

    Args:
        limit: The limit. None: there is none.
        model: What is served.
    """
    requests = _requests(limit, model)
    queue = 2.0 * model.batch
    return queue if requests is None else min(queue, max(1.0, requests - model.batch))


def limit_warnings(
    limit: ConcurrencyLimit | None, model: NeuronModel, scaling: ServiceScaling | None
) -> Iterator[Warned]:
    """Yield what may surprise about a limit: it refuses, and nobody counts what it refuses.

    Args:
        limit: The limit. None: there is none.
        model: What is served.
        scaling: What moves the number of tasks.
    """
    requests = _requests(limit, model)
    if requests is None:
        return
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
