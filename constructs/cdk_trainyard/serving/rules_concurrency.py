"""What a limit at the load balancer keeps from the engine's queue, by which others act. Pure.

Sources: ELB user guide, "Target groups for your Application Load Balancers", target optimizer, read 2026-11: a target
gets no more requests at a time than its agent says;
Application Auto Scaling user guide, "How target tracking scaling works", read 2026-11: capacity is added above the
target.
"""

from collections.abc import Iterator

from cdk_trainyard.problems import Problem
from cdk_trainyard.serving.spec_load_balancer import ConcurrencyLimit
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
    if limit is None or scaling is None or (requests := _requests(limit, model)) is None:
        return
    target = model.batch if scaling.target is None else scaling.target
    if unresolved(scaling, scaling.metric, target) or scaling.metric is not ScalingMetric.QUEUE:
        return
    most = max(0, requests - model.batch)
    if most <= target:
        text = f"must be more than {model.batch + target:.15g} with metric {scaling.metric}, got {requests}"
        why = f"an engine computes {model.batch} of them, so {most} wait at most, and over {target:.15g} add a task"
        yield Problem(("requests",), f"{text}: {why}; raise it, or scale by metric {ScalingMetric.ALB_REQUESTS}")


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
    if limit is None or waiting is None or unresolved(waiting) or (requests := _requests(limit, model)) is None:
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
    requests = None if limit is None else _requests(limit, model)
    queue = 2.0 * model.batch
    return queue if requests is None else min(queue, max(1.0, requests - model.batch))


def _requests(limit: ConcurrencyLimit, model: NeuronModel) -> int | None:
    """Return how many requests a task gets at a time; None when it is not known."""
    if unresolved(limit, limit.requests, model, model.batch):
        return None
    return model.batch if limit.requests is None else limit.requests
