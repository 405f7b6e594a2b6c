"""Ports and memory of the agent of ALB's target optimizer: the load balancer sends a task no more than it computes.

Source: Elastic Load Balancing user guide, "Target optimizer". The agent stands between load balancer and engine and
tells the load balancer, on a port of its own, when there is room.
"""

DATA_PORT = 8081
CONTROL_PORT = 3000
AGENT_MIB = 64
"""The agent takes a few MiB; what it buffers of requests is not published: an allowance."""
