"""A HyperPod deployment's cluster as a construct, with its scripts."""

from collections.abc import Sequence
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.cluster import Surroundings
from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.hyperpod.section import (
    ExistingAccounting,
    GroupSection,
    HyperPodSection,
    LifecycleSection,
)
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.hyperpod import HyperPodCluster, InstanceGroup, Lifecycle
from cdk_trainyard.hyperpod.bundle import node_settings
from cdk_trainyard.hyperpod.resolved import HyperPodFacts, resolve
from cdk_trainyard.lifecycle import LifecycleScripts, NodeSettings, NodeSetup
from cdk_trainyard.lifecycle.bundle import Bundle, read_bundle
from cdk_trainyard.lifecycle.rules import lacks_settings
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.storage import AccountingDatabase, AccountingDatabaseBase, Mount


def cluster(stack: Stack, deployment: DeploymentSpec, around: Surroundings) -> HyperPodCluster:
    """Define the cluster with its scripts.

    Args:
        stack: Where.
        deployment: The deployment.
        around: What the deployment has beside its cluster.
    """
    section: HyperPodSection = deployment.cluster
    existing, buckets = Existing.of(stack), around.buckets
    bundles = _Bundles(stack, deployment, buckets.scripts, around.mounts)
    said = Exchange(existing=existing, buckets=buckets).keywords(section)
    used = [group.lifecycle or section.lifecycle for group in section.groups]
    return HyperPodCluster(
        stack,
        "Cluster",
        **said
        | {
            "network": around.network,
            "security_group": around.security_group,
            "scripts_bucket": buckets.scripts if any(lifecycle.is_own for lifecycle in used) else None,
            "mounts": around.mounts,
            "buckets": buckets,
            "metrics": around.metrics,
            "accounting": around.accounting or _existing_accounting(stack, section.accounting),
            "groups": [bundles.group(group) for group in said["groups"]],
            "lifecycle": bundles.lifecycle(section.lifecycle),
        },
    )


class _Bundles(Construct):
    """The bundles of scripts of one's own, each folder uploaded once."""

    def __init__(
        self, scope: Construct, deployment: DeploymentSpec, bucket: s3.IBucket, mounts: Sequence[Mount]
    ) -> None:
        super().__init__(scope, "Scripts")
        self._deployment, self._bucket, self._mounts = deployment, bucket, mounts
        self._known: dict[str, LifecycleScripts] = {}

    def group(self, section: GroupSection) -> InstanceGroup:
        """Return a group whose scripts are uploaded."""
        said: dict[str, Any] = {name: getattr(section, name) for name in fields_of(InstanceGroup)}
        own = section.lifecycle
        return InstanceGroup(**said | {"lifecycle": None if own is None else self.lifecycle(own)})

    def lifecycle(self, section: LifecycleSection) -> Lifecycle:
        """Return what runs when a node starts, its folder uploaded if it has one."""
        scripts = None if section.folder is None else self._upload(section.folder, section.script or "")
        return Lifecycle(on_create=section.on_create, on_init_complete=section.on_init_complete, scripts=scripts)

    def _upload(self, folder: str, entry: str) -> LifecycleScripts:
        if folder not in self._known:
            path = self._deployment.resolve_path(folder)
            self._known[folder] = LifecycleScripts(
                self,
                folder,
                bucket=self._bucket,
                folder=path,
                entry=entry,
                settings=self._settings(folder, read_bundle(("", path))),
                topology=self._deployment.cluster.topology,
            )
        return self._known[folder]

    def _settings(self, folder: str, bundle: Bundle) -> NodeSettings | None:
        """Return what a copy of the project's own scripts is told; other scripts are told nothing."""
        section: HyperPodSection = self._deployment.cluster
        used = [group.lifecycle or section.lifecycle for group in section.groups]
        if not any(each.folder == folder and lacks_settings(bundle, each.script or "") for each in used):
            return None
        hooks = all(each.folder == folder and each.on_create is not None for each in used)
        cluster = resolve(section, HyperPodFacts(environment=self._deployment.environment))
        return node_settings(cluster, self._mounts, NodeSetup(job_hooks=hooks))


def _existing_accounting(scope: Construct, section: object) -> AccountingDatabaseBase | None:
    if not isinstance(section, ExistingAccounting):
        return None
    existing = Existing.of(scope)
    return AccountingDatabase.from_attributes(
        scope,
        "Accounting",
        endpoint=section.endpoint,
        secret=existing.secret(section.secret.secret_arn),
        security_group=existing.security_group(section.security_group_id),
        rules_exist=section.rules_exist,
        port=section.port,
        schema_name=section.schema_name,
    )
