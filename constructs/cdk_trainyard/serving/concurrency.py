"""ALB's target optimizer: the load balancer sends a task no more requests than it computes together.

Source: Elastic Load Balancing user guide, "Target optimizer". An agent stands between load balancer and engine and
tells the load balancer, on a port of its own, when there is room.
"""

from dataclasses import dataclass

DATA_PORT = 8081
CONTROL_PORT = 3000
AGENT_MIB = 64
"""The agent takes a few MiB; what it buffers of requests is not published: an allowance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConcurrencyLimit:
    """How many requests a task gets at a time.

    Attributes:
        requests: Their number, 1 to 1000.
            Default - the model's batch: static graphs compute no more together.
        image: The agent's image; pin it to a digest of yours.
            Default - the newest that AWS publishes: it publishes no versions.
    """

    requests: int | None = None
    image: str = "public.ecr.aws/aws-elb/target-optimizer/target-control-agent:latest"
