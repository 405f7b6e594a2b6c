"""The ``cluster:`` section with ``orchestrator: fleet``. No CDK."""

from dataclasses import dataclass

from cdk_trainyard.fleet.spec import FleetSpec, MasterSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetSection(FleetSpec):
    """EC2 instances with EFA in one subnet and one placement group, set up to run one MPI or torchrun job."""

    master: MasterSpec | None = None
    """A node from which jobs are started. Default - none; any node can start one."""
