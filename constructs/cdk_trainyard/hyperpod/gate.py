"""Grants HyperPod's roles what the parts of a cluster need, and builds its `Gate`."""

from collections.abc import Sequence

from constructs import Construct

from cdk_trainyard.cluster import Gate
from cdk_trainyard.hyperpod.execution_role import ControllerRole, ExecutionRole
from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.hyperpod.wiring import database_rules, distinct
from cdk_trainyard.lifecycle import LifecycleScripts
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import AccountingDatabaseBase, TrainingBuckets


def open_gate(
    scope: Construct,
    cluster: ResolvedCluster,
    *,
    role: ExecutionRole,
    controller_role: ControllerRole,
    network: Network | None,
    security_groups: Sequence[EfaSecurityGroup],
    scripts: LifecycleScripts | None,
    databases: Sequence[AccountingDatabaseBase],
    buckets: TrainingBuckets | None,
    metrics: bool,
) -> Gate:
    """Grant what the parts of a cluster need, and return the gate that its nodes start after.

    Args:
        scope: The cluster's construct.
        cluster: The cluster.
        role: The nodes' role.
        controller_role: The controllers' role.
        network: The cluster's network.
        security_groups: The cluster's security groups.
        scripts: The project's own scripts for this cluster.
        databases: The databases of its accounting.
        buckets: The buckets that its jobs use.
        metrics: Whether its metrics go anywhere.
    """
    groups = [group.spec for group in cluster.groups]
    networks = distinct([network, *(group.network for group in groups)])
    all_groups = distinct([*security_groups, *(own for group in groups for own in group.security_groups)])
    if networks:
        role.allow_network(
            subnets=[network.accelerator_subnet for network in networks],
            security_groups=[group.security_group for group in all_groups],
        )
    if keys := distinct(volume.key for group in groups for volume in group.volumes):
        role.allow_volume_keys(keys)
    updates = [update.rolling for group in groups for update in (group.scheduled_update, group.auto_patch) if update]
    if any(rolling and rolling.rollback_alarms for rolling in updates):
        role.allow_rollback()
    bundles = distinct([scripts, *(group.lifecycle.scripts for group in cluster.groups)])
    for bundle in bundles:
        role.allow_scripts(bundle)
    if scripts:
        role.allow_setup(cluster.setup, scripts.bucket, buckets=buckets)
    for database in databases:
        controller_role.allow_secret(database.secret)
    multi_head = cluster.spec.multi_head
    if multi_head and multi_head.topic:
        controller_role.allow_topic(multi_head.topic)
    return Gate(
        scope,
        networks=networks,
        security_groups=all_groups,
        policies=[*role.policies, *([controller_role.policy] if databases or metrics else [])],
        scripts=[bundle.uploaded for bundle in bundles],
        also=database_rules(scope, cluster, databases, security_groups),
    )
