"""The ``node_setup:`` section of a HyperPod cluster: what the project's own scripts set up on nodes."""

from typing import Annotated

from cdk_trainyard.deployment._section import Section, shown
from cdk_trainyard.deployment.hyperpod.node_extras import ExtrasSection, extras
from cdk_trainyard.lifecycle import LocalAccounting, LogRotation, NodeSetup
from cdk_trainyard.storage import TrainingBuckets


class LogsSection(Section):
    """How long logs stay on a node."""

    days: Annotated[int, shown(minimum=1)] = 14
    """How many days are kept. Default: 14."""
    size_mb: Annotated[int, shown(minimum=1)] = 200
    """A log of more MB is rotated before its day is over. Default: 200."""


class NodeSetupSection(ExtrasSection):
    """What the project's own scripts set up beside mounts, users and Slurm."""

    ssh: bool = True
    """Whether nodes log in to nodes as ubuntu, by host keys published on the shared file system. Default: true."""
    hostfile: bool = True
    """Whether the controller keeps trainyard/hostfile on the shared file system. Default: true."""
    job_hooks: bool = True
    """Prolog and epilog of jobs: a device check before, no process or temporary file after. With on_create only: the
    image's own stay otherwise. Default: true."""
    motd: bool = True
    """Whether a log-in says what the node is. Default: true."""
    rotate_logs: bool = True
    """Whether logs are rotated. Default: true."""
    logs: LogsSection = LogsSection()
    """How long they stay. Default - 14 days."""
    local_accounting: bool = False
    """Slurm's accounting in a MariaDB on the controller, when a script of on_create configures it. Default: false."""


def node_setup(section: NodeSetupSection, buckets: TrainingBuckets) -> NodeSetup:
    """Return what the constructs take.

    Args:
        section: The section.
        buckets: The deployment's buckets.
    """
    return NodeSetup(
        ssh=section.ssh,
        hostfile=section.hostfile,
        job_hooks=section.job_hooks,
        motd=section.motd,
        logs=LogRotation(days=section.logs.days, size_mb=section.logs.size_mb) if section.rotate_logs else None,
        accounting=LocalAccounting() if section.local_accounting else None,
        **extras(section, buckets),
    )
