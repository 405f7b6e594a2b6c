"""How many requests a task gets at a time, where something limits them, and the agent of ALB's target optimizer. Pure.

Sources: Elastic Load Balancing user guide, "Target optimizer": the agent stands between load balancer and engine and
tells the load balancer, on a port of its own, when there is room; the same, "CloudWatch metrics for your Application
Load Balancer", target optimizer, read 2026-11: a request is rejected when no target is ready for one, and what waits
in the work queue are the agents' offers;
text-generation-inference v3.3.7, launcher/src/main.rs (``max_concurrent_requests``, 128) and router/src/infer/mod.rs: a
request takes a place before it is queued, and without one it is answered 429. vLLM queues whatever comes.
"""

from typing import Final

from cdk_trainyard.serving.spec_load_balancer import MOST_AT_A_TIME, ConcurrencyLimit

DATA_PORT: Final = 8081
CONTROL_PORT: Final = 3000
AGENT_MIB: Final = 64
"""The agent takes a few MiB; what it buffers of requests is not published: an allowance."""
_BATCHES: Final = 4
"""One that is computed, and so many others that wait that the queue's alarm rings and tasks are added before."""
PLACES: Final = "MAX_CONCURRENT_REQUESTS"
"""Variable of TGI: how many requests it takes at a time."""
_PLACES_OF_TGI: Final = 128


def places(batch: int) -> int:
    """Return how many requests TGI takes at a time by default: as many as its own default, or several batches.

    Args:
        batch: How many it computes together.
    """
    return max(_PLACES_OF_TGI, _BATCHES * batch)


def requests_at_a_time(limit: ConcurrencyLimit, batch: int) -> int:
    """Return how many requests the load balancer gives a task at a time.

    Args:
        limit: The limit.
        batch: How many the engine computes together.
    """
    return min(MOST_AT_A_TIME, _BATCHES * batch) if limit.requests is None else limit.requests
