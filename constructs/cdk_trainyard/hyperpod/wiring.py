"""Facts for the rules, taken from the constructs that a HyperPod cluster is given, and what those get in return."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from aws_cdk import CfnResource
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.hyperpod.resolved import GroupFacts, HyperPodFacts, ResolvedCluster, SubnetFacts
from cdk_trainyard.hyperpod.rules_region import is_unpriced
from cdk_trainyard.hyperpod.spec import HyperPodSpec
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource
from cdk_trainyard.monitoring.nodes import sources_of
from cdk_trainyard.network import EfaSecurityGroup, Network, TrainingNetwork
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.reach import Gateway, Interface, Place, Route
from cdk_trainyard.storage import AccountingDatabaseBase, Mount
from cdk_trainyard.storage.reach import open_database
from cdk_trainyard.tokens import unresolved

_Construct = TypeVar("_Construct", bound=Any)
_UNPRICED = "the price list has gaps: EC2 offers the type there, or a training plan reserves it"


def wired(
    spec: HyperPodSpec,
    environment: Environment,
    *,
    network: Network | None,
    mounts: Sequence[Mount],
    security_groups: int,
    accounting: AccountingDatabaseBase | None,
    scripts_bucket: bool,
    metrics: ClusterMonitoring | None,
) -> HyperPodFacts:
    """Return what is known of the constructs that a cluster and its groups are wired to.

    Args:
        spec: What was said, with the groups' own networks, file systems and security groups.
        environment: Where the stack goes.
        network: The cluster's network.
        mounts: The cluster's file systems.
        security_groups: How many security groups were given.
        accounting: Its accounting database.
        scripts_bucket: Whether there is a bucket for the project's own scripts.
        metrics: Where its metrics go.
    """
    groups = () if unresolved(spec.groups) else [group for group in spec.groups if not unresolved(group, group.name)]
    return HyperPodFacts(
        environment=environment,
        subnet=_subnet(network),
        mounts=[mount.facts for mount in mounts],
        security_groups=security_groups,
        accounting=accounting is not None,
        accounting_host=accounting.endpoint if accounting is not None else "",
        scripts_bucket=scripts_bucket,
        scrape_seconds=None if metrics is None else metrics.scrape_seconds,
        exporters=None if metrics is None else metrics.exporters,
        groups={
            group.name: GroupFacts(
                subnet=_subnet(group.network),
                mounts=None if group.mounts is None else [mount.facts for mount in group.mounts],
                security_groups=len(group.security_groups),
            )
            for group in groups
        },
        place=_place(network),
    )


def metrics_sources(cluster: ResolvedCluster) -> Sequence[MetricsSource]:
    """Return whose metrics the nodes of a cluster give, when they go anywhere.

    Args:
        cluster: The cluster.
    """
    exporters, types = cluster.setup.exporters, [known for group in cluster.groups for known in group.types]
    if cluster.facts.scrape_seconds is None or exporters is None:
        return ()
    mounts = any(mount.kind == "Lustre" for group in cluster.groups for mount in group.mounts)
    return sources_of(exporters, types, lustre=mounts)


def update_schedules(cluster: ResolvedCluster) -> Sequence[str]:
    """Return when updates of groups begin, each once.

    Args:
        cluster: The cluster.
    """
    said = (group.spec.scheduled_update for group in cluster.groups)
    return list(dict.fromkeys(update.schedule for update in said if update))


def acknowledge_prices(resource: CfnResource, cluster: ResolvedCluster) -> None:
    """Take the types that the price list lacks in the Region, and `sold_problems` does not.

    Args:
        resource: The cluster's resource.
        cluster: The cluster.
    """
    region = cluster.facts.environment.region
    if any(is_unpriced(group, region) for group in cluster.groups):
        acknowledge(resource, dict.fromkeys(("TemplateValidation::E3644", "E3644"), _UNPRICED))


def database_rules(
    scope: Construct,
    cluster: ResolvedCluster,
    databases: Iterable[AccountingDatabaseBase],
    security_groups: Sequence[EfaSecurityGroup],
) -> list[Construct]:
    """Let the controllers reach their databases, and return the rules that do.

    Args:
        scope: The cluster's construct.
        cluster: The cluster.
        databases: The databases.
        security_groups: The security groups of nodes whose group names none.
    """
    controllers = cluster.of_role(GroupRole.CONTROLLER)
    clients = distinct(one for group in controllers for one in (group.spec.security_groups or security_groups)[:1])
    groups = [client.security_group for client in clients]
    closed = [one for one in databases if not one.rules_exist]
    return [rules for one in closed for rules in open_database(scope, one.connections, groups, port=one.port)]


def distinct(constructs: Iterable[_Construct | None]) -> list[_Construct]:
    """Return every construct once, in the order of its first appearance, without the missing ones.

    Args:
        constructs: The constructs.
    """
    return list({one.node.path: one for one in constructs if one is not None}.values())


def _subnet(network: Network | None) -> SubnetFacts | None:
    if network is None or unresolved(network):
        return None
    return SubnetFacts(
        identity=network.accelerator_subnet.subnet_id,
        zone=network.zone,
        cidr=network.accelerator_cidr,
        endpoint_addresses=network.endpoint_addresses,
    )


def _place(network: Network | None) -> Place | None:
    """Return what a network without NAT lets nodes reach; of another one nobody knows more than that things arrive."""
    if not isinstance(network, TrainingNetwork) or network.has_nat:
        return None
    interfaces: dict[str, Interface] = {service: Interface() for service in network.interface_endpoints}
    return Place(name="nodes", route=Route.NONE, gateways={"s3": Gateway()}, interfaces=interfaces)
