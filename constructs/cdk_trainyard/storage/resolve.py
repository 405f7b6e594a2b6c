"""A file system as it will be: what was said, with every default filled in. Pure."""

from dataclasses import replace

from cdk_trainyard.storage.lustre_deployment import automatic_metadata_iops, file_server_count
from cdk_trainyard.storage.lustre_facts import METADATA_VERSION
from cdk_trainyard.storage.spec import LustreBackups, LustreSpec
from cdk_trainyard.tokens import unresolved

_TIERING_METADATA_IOPS = 6000  # Intelligent-Tiering has no automatic mode; 6000 is the smaller of its two values


def resolve_lustre(spec: LustreSpec) -> LustreSpec:
    """Return a file system with what follows from its kind where nothing was said.

    Args:
        spec: What was said.
    """
    kind = spec.deployment.resolved()
    smallest = None if kind.tiering else kind.smallest_gib(efa_enabled=spec.efa_enabled)
    daily = LustreBackups(retention_days=0) if spec.data_repositories else LustreBackups()
    return replace(
        spec,
        deployment=kind,
        capacity_gib=smallest if spec.capacity_gib is None else spec.capacity_gib,
        metadata_iops=_TIERING_METADATA_IOPS if spec.metadata_iops is None and kind.tiering else spec.metadata_iops,
        backups=spec.backups or (daily if is_persistent(spec) else None),
    )


def is_persistent(spec: LustreSpec) -> bool:
    """Return whether its servers and disks are replaced when they fail, as far as it is known."""
    facts = spec.deployment.facts
    return facts is None or facts.persistent


def has_metadata(spec: LustreSpec) -> bool:
    """Return whether there is a metadata configuration. It cannot be added later: there is one where there can be."""
    facts = spec.deployment.facts
    return facts is not None and bool(facts.iops) and spec.lustre_version == METADATA_VERSION


def file_servers(spec: LustreSpec) -> int | None:
    """Return how many addresses it takes in its subnet; None when something that counts is not known here.

    Args:
        spec: A resolved file system.
    """
    iops, capacity = spec.metadata_iops, spec.capacity_gib
    if unresolved(capacity, iops, spec.deployment.throughput_mb_s):
        return None
    if iops is None and has_metadata(spec) and capacity is not None:
        iops = automatic_metadata_iops(capacity)
    return file_server_count(spec.deployment, capacity_gib=capacity, efa_enabled=spec.efa_enabled, iops=iops)
