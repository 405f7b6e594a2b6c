"""How many requests a task gets at a time, where something limits them, and the agent of ALB's target optimizer. Pure.

Sources: Elastic Load Balancing user guide, "Target optimizer": the agent stands between load balancer and engine and
tells the load balancer, on a port of its own, when there is room; the same, "CloudWatch metrics for your Application
Load Balancer", target optimizer, read 2026-11: a request is rejected when no target is ready for one, and what waits
in the work queue are the agents' offers.
"""

from typing import Final

from cdk_trainyard.serving.spec_load_balancer import MOST_AT_A_TIME, ConcurrencyLimit

DATA_PORT: Final = 8081
CONTROL_PORT: Final = 3000
AGENT_MIB: Final = 64
"""The agent takes a few MiB; what it buffers of requests is not published: an allowance."""
_BATCHES: Final = 4
"""One that is computed, and so many others that wait that the queue's alarm rings and tasks are added before."""


def room(batch: int) -> int:
    """Return how many requests a task takes at a time by default: several batches, of which all but one wait."""
    return _BATCHES * batch


def requests_at_a_time(limit: ConcurrencyLimit, batch: int) -> int:
    """Return how many requests the load balancer gives a task at a time.

    Args:
        limit: The limit.
        batch: How many the engine computes together.
    """
    return min(MOST_AT_A_TIME, room(batch)) if limit.requests is None else limit.requests
