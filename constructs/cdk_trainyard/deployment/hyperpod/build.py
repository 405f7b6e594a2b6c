"""A HyperPod deployment's cluster as a construct, with its scripts, database and alerts, for the stacks."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.alerts_topic import alerts_topic
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.hyperpod import values
from cdk_trainyard.deployment.hyperpod.model import HyperPodDeployment
from cdk_trainyard.deployment.hyperpod.node_setup import node_setup
from cdk_trainyard.deployment.hyperpod.section import (
    ExistingAccountingSection,
    LifecycleSection,
)
from cdk_trainyard.deployment.values import plain
from cdk_trainyard.hyperpod import HyperPodCluster
from cdk_trainyard.lifecycle import LifecycleScripts
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import AccountingDatabase, AccountingDatabaseBase, Mount, TrainingBuckets


def hyperpod_cluster(
    scope: Construct,
    construct_id: str,
    deployment: HyperPodDeployment,
    *,
    network: Network,
    security_group: EfaSecurityGroup,
    buckets: TrainingBuckets,
    mounts: Sequence[Mount],
    accounting: AccountingDatabaseBase | None = None,
) -> HyperPodCluster:
    """Define the cluster with its scripts; ``accounting`` is the database that was made for it, if any."""
    section, existing = deployment.cluster, Existing.of(scope)
    bundles = _Bundles(scope, deployment, buckets.scripts)
    groups = [
        values.instance_group(name, group, imports=existing, find_scripts=bundles.find)
        for name, group in section.groups.items()
    ]
    common = values.lifecycle(section.lifecycle, bundles.find)
    used = [group.lifecycle or common for group in groups]
    own = any(lifecycle.runs_scripts and lifecycle.scripts is None for lifecycle in used)
    return HyperPodCluster(
        scope,
        construct_id,
        groups=groups,
        network=network,
        security_group=security_group,
        cluster_name=section.cluster_name,
        topology=values.topology(section),
        provisioning=section.provisioning,
        node_recovery=section.node_recovery,
        lifecycle=common,
        scripts_bucket=buckets.scripts if own else None,
        node_setup=node_setup(section.node_setup, buckets),
        mounts=mounts,
        accounting=accounting or _existing_accounting(scope, section.accounting),
        role=existing.role(section.role_arn) if section.role_arn else None,
        controller_role=existing.role(section.controller_role_arn) if section.controller_role_arn else None,
        aws_managed_policy=section.aws_managed_policy,
        image_repositories=existing.repositories(section.image_repositories),
        prometheus_workspace_arn=section.prometheus_workspace_arn,
        raw_overrides=plain(section.raw_overrides) or None,
    )


class _Bundles(Construct):
    """The bundles of scripts of one's own, each folder uploaded once."""

    def __init__(self, scope: Construct, deployment: HyperPodDeployment, bucket: s3.IBucket) -> None:
        super().__init__(scope, "Scripts")
        self._deployment, self._bucket = deployment, bucket
        self._known: dict[str, LifecycleScripts] = {}

    def find(self, section: LifecycleSection) -> LifecycleScripts | None:
        """Return the bundle of a lifecycle's folder, or None when it has none of its own."""
        if section.folder is None:
            return None
        if section.folder not in self._known:
            self._known[section.folder] = LifecycleScripts(
                self,
                section.folder,
                bucket=self._bucket,
                folder=self._deployment.resolve_path(section.folder),
                entry=section.on_create or section.on_init_complete or "",
                topology=self._deployment.cluster.topology,
            )
        return self._known[section.folder]


def _existing_accounting(scope: Construct, section: object) -> AccountingDatabaseBase | None:
    if not isinstance(section, ExistingAccountingSection):
        return None
    existing = Existing.of(scope)
    return AccountingDatabase.from_attributes(
        scope,
        "Accounting",
        endpoint=section.endpoint,
        secret=existing.secret(section.secret_arn),
        security_group=existing.security_group(section.security_group_id),
        port=section.port,
        schema_name=section.schema_name,
    )


def alerts(scope: Construct, construct_id: str, section: AlertsSection, cluster: HyperPodCluster) -> sns.ITopic:
    """Tell a topic what happens to the cluster and its nodes; define the topic unless it exists.

    A topic that exists must let CloudWatch and EventBridge publish, and the key that encrypts it must let both use it.
    """
    alarms, rules = (iam.ServicePrincipal(f"{service}.amazonaws.com") for service in ("cloudwatch", "events"))
    topic = alerts_topic(
        scope, construct_id, section, publisher=iam.CompositePrincipal(alarms, rules), sid="CloudWatchAndEventBridge"
    )
    topic.grant_publish(alarms)  # rules see to it themselves; a topic that exists keeps its own policy
    cluster.on_node_health(topic)
    cluster.on_trouble(topic)
    cluster.on_operation_error(topic)
    return topic
