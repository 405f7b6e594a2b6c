"""The lifecycle scripts that a cluster uploads for itself."""

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.hyperpod.legacy_file import legacy_file
from cdk_trainyard.hyperpod.lifecycle_mode import Lifecycle, LifecycleTrigger
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, type_names
from cdk_trainyard.hyperpod.topology import LegacyTopology
from cdk_trainyard.lifecycle import (
    DatabaseAccounting,
    LifecycleScripts,
    NodeGroup,
    NodeLustre,
    NodeOpenZfs,
    NodeSettings,
    NodeSetup,
    SlurmTopology,
)
from cdk_trainyard.storage import Lustre, Mount

_ENTRIES = {
    LifecycleTrigger.ON_CREATE: "on_create.sh",
    LifecycleTrigger.ON_INIT_COMPLETE: "on_init_complete.sh",
}
"""The entry files of the project's own scripts."""


def upload_bundle(
    scope: Construct, cluster: ResolvedCluster, bucket: s3.IBucket, *, schema_name: str
) -> LifecycleScripts:
    """Define the upload of the project's own scripts with this cluster's settings.

    Args:
        scope: The cluster's construct.
        cluster: The cluster.
        bucket: Where the scripts go.
        schema_name: Schema of the accounting database where the database names none.

    Raises:
        ConfigurationError: A file that a group asks for cannot be run.
    """
    own = [group.lifecycle for group in cluster.groups if group.lifecycle.runs_scripts and not group.lifecycle.scripts]
    files = list(dict.fromkeys(own_file(lifecycle) for lifecycle in own))
    legacy = cluster.topology if isinstance(cluster.topology, LegacyTopology) else None
    scripts = LifecycleScripts(
        scope,
        "Scripts",
        bucket=bucket,
        entry=files[0],
        settings=_settings(cluster, schema_name),
        topology=SlurmTopology.LEGACY if legacy else SlurmTopology.API_DRIVEN,
        legacy_topology=legacy_file(legacy, cluster.groups, cluster.mounts) if legacy else None,
    )
    raise_problems(scope.node.path, [problem for file in files[1:] for problem in scripts.entry_problems(file)])
    return scripts


def own_file(lifecycle: Lifecycle) -> str:
    """Return the file of the cluster's own bundle that a lifecycle runs.

    Args:
        lifecycle: A lifecycle that names no scripts.
    """
    return lifecycle.file or _ENTRIES[lifecycle.trigger]


def _settings(cluster: ResolvedCluster, schema_name: str) -> NodeSettings:
    return NodeSettings(
        cluster_name=cluster.name,
        groups=[
            NodeGroup(name=group.name, role=group.role, instance_types=type_names(group.given))
            for group in cluster.groups
        ],
        lustre=_lustre(cluster.mounts),
        openzfs=_openzfs(cluster.mounts),
        setup=_setup(cluster, schema_name),
    )


def _setup(cluster: ResolvedCluster, schema_name: str) -> NodeSetup:
    """The database that the cluster is given is the scripts' to set up where no image does."""
    setup, database = cluster.node_setup or NodeSetup(), cluster.accounting
    if not cluster.scripts_hook_jobs:
        setup = replace(setup, job_hooks=False)
    if setup.accounting is not None or database is None or not cluster.scripts_account:
        return setup
    accounting = DatabaseAccounting(
        endpoint=database.endpoint,
        port=database.port,
        secret_arn=database.secret.secret_arn,
        schema=database.schema_name or schema_name,
    )
    return replace(setup, accounting=accounting)


def _openzfs(mounts: Sequence[Mount]) -> NodeOpenZfs | None:
    for mount in mounts:
        if not isinstance(mount.file_system, Lustre):
            return NodeOpenZfs(dns_name=mount.file_system.dns_name, mount_path=mount.path)
    return None


def _lustre(mounts: Sequence[Mount]) -> NodeLustre | None:
    for mount in mounts:
        if isinstance(mount.file_system, Lustre):
            return NodeLustre(
                dns_name=mount.file_system.dns_name,
                mount_name=mount.file_system.mount_name,
                mount_path=mount.path,
                efa=mount.file_system.efa_enabled,
            )
    return None
