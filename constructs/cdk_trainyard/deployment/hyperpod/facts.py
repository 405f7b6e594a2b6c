"""What is known, from the other sections of a file, of what its HyperPod cluster is wired to."""

from collections.abc import Sequence

from cdk_trainyard.deployment.hyperpod.section import ExistingAccounting, HyperPodSection
from cdk_trainyard.deployment.monitoring import MonitoringSection, exporters, scrape_seconds
from cdk_trainyard.deployment.network import ACCELERATOR, accelerator_cidr, accelerator_zone, endpoint_addresses
from cdk_trainyard.deployment.reach import node_place
from cdk_trainyard.hyperpod.resolved import HyperPodFacts, SubnetFacts
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.reach import Region
from cdk_trainyard.storage.mount_facts import MountFacts
from cdk_trainyard.tokens import unresolved


def facts_of(
    cluster: HyperPodSection,
    network: object,
    mounts: Sequence[MountFacts],
    environment: Environment,
    monitoring: MonitoringSection | None = None,
) -> HyperPodFacts:
    """Return what is known of what a cluster is wired to.

    Args:
        cluster: The cluster.
        network: The network section, of whatever form.
        mounts: The file systems.
        environment: Where the deployment goes.
        monitoring: Where its metrics go. Default - nowhere.
    """
    region = environment.region
    existing = cluster.accounting if isinstance(cluster.accounting, ExistingAccounting) else None
    groups = () if unresolved(cluster.groups) else [group for group in cluster.groups if not unresolved(group)]
    return HyperPodFacts(
        environment=environment,
        subnet=SubnetFacts(
            identity=ACCELERATOR,
            zone=accelerator_zone(network, region),
            cidr=accelerator_cidr(network, region),
            endpoint_addresses=endpoint_addresses(network),
        ),
        mounts=mounts,
        accounting=cluster.accounting is not None,
        accounting_host=existing.endpoint if existing else "",
        existing_schema=existing.schema_name if existing else None,
        scripts_bucket=any((group.lifecycle or cluster.lifecycle).is_own for group in groups),
        scrape_seconds=scrape_seconds(monitoring),
        exporters=exporters(monitoring),
        place=node_place(network, Region(name=region)) if region else None,
        endpoints_known=True,
    )
