"""The lifecycle scripts that a cluster uploads for itself."""

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.hyperpod.legacy_file import legacy_file
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, node_group
from cdk_trainyard.lifecycle import (
    DatabaseAccounting,
    LifecycleScripts,
    NodeLustre,
    NodeOpenZfs,
    NodeSettings,
    NodeSetup,
)
from cdk_trainyard.monitoring import ClusterMonitoring
from cdk_trainyard.storage import AccountingDatabaseBase, Lustre, Mount


def upload_bundle(
    scope: Construct,
    cluster: ResolvedCluster,
    bucket: s3.IBucket,
    *,
    mounts: Sequence[Mount],
    accounting: AccountingDatabaseBase | None,
    schema_name: str,
    metrics: ClusterMonitoring | None,
) -> LifecycleScripts:
    """Define the upload of the project's own scripts with this cluster's settings.

    Args:
        scope: The cluster's construct.
        cluster: The cluster.
        bucket: Where the scripts go.
        mounts: File systems of the cluster.
        accounting: Its accounting database.
        schema_name: Schema of the accounting database where the database names none.
        metrics: Where its metrics go.
    """
    setup = _with_metrics(_setup(cluster, accounting, schema_name), cluster.spec.cluster_name, metrics)
    files = [group.lifecycle.script for group in cluster.groups if group.lifecycle.is_own and group.lifecycle.script]
    return LifecycleScripts(
        scope,
        "Scripts",
        bucket=bucket,
        entry=files[0],
        settings=node_settings(cluster, mounts, setup),
        topology=cluster.spec.topology,
        legacy_topology=legacy_file(cluster.spec.multi_head, cluster.groups, mounts) if cluster.legacy else None,
    )


def node_settings(cluster: ResolvedCluster, mounts: Sequence[Mount], setup: NodeSetup) -> NodeSettings:
    """Return what the project's own scripts, or copies of them, are told of a cluster.

    Args:
        cluster: The cluster.
        mounts: Its file systems.
        setup: What the scripts set up.
    """
    return NodeSettings(
        cluster_name=cluster.spec.cluster_name,
        groups=[node_group(group) for group in cluster.groups],
        lustre=_lustre(mounts),
        openzfs=_openzfs(mounts),
        setup=setup,
    )


def _setup(cluster: ResolvedCluster, database: AccountingDatabaseBase | None, schema_name: str) -> NodeSetup:
    """Return what is set up: with the database where scripts do that, and hooks of jobs where no image does."""
    setup = cluster.setup
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


def _with_metrics(setup: NodeSetup, cluster_name: str | None, metrics: ClusterMonitoring | None) -> NodeSetup:
    """Return what is set up, with the agent that takes metrics to their workspace."""
    if metrics is None or setup.metrics_agent is not None:
        return setup
    return replace(setup, metrics_agent=metrics.agent(str(cluster_name)))


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
