"""Which rules of which room a section is asked, and the few that only a file can break.

The constructs make some combinations impossible to write (two lifecycle modes, two topologies); in a file they can be
written, so they are refused here.
"""

from collections.abc import Mapping

from cdk_trainyard.deployment._locate import quoted
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.hyperpod import GroupSection, HyperPodSection, LifecycleSection
from cdk_trainyard.deployment.network import ExistingNetworkSection, NetworkSection, SubnetSection
from cdk_trainyard.deployment.storage import BucketsSection, ExistingLustreSection, LustreSection
from cdk_trainyard.deployment.values import Presence, instance_group, lifecycle, lustre_settings, root_squash, topology
from cdk_trainyard.hyperpod import NodeProvisioning
from cdk_trainyard.hyperpod.checks import everything_wrong
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup, resolve_group
from cdk_trainyard.lifecycle import SlurmTopology
from cdk_trainyard.network import Nat, rules, rules_resources
from cdk_trainyard.network.rules_resources import SubnetFacts
from cdk_trainyard.storage import rules as storage_rules
from cdk_trainyard.storage import rules_data


def tag_problems(tags: Mapping[str, str] | None) -> list[str]:
    """Tags that begin with aws: are AWS's own."""
    return [
        f"{key!r} must not begin with 'aws:'; such tags are AWS's own"
        for key in tags or ()
        if key.lower().startswith("aws:")
    ]


# ---------------------------------------------------------------- network
def network_problems(network: NetworkSection | ExistingNetworkSection | None, region: str | None) -> list[str]:
    """Zones, blocks and what they have to do with each other."""
    match network:
        case NetworkSection():
            return _new_network_problems(network, region)
        case ExistingNetworkSection():
            return _existing_network_problems(network, region)
    return []


def _new_network_problems(network: NetworkSection, region: str | None) -> list[str]:
    public = [network.zone, *network.public_zones] if network.nat is not Nat.NONE else list(network.public_zones)
    return [
        *rules.zone_problems("zone", network.zone, region),
        *rules.further_zones_problems("public_zones", network.public_zones, region),
        *rules.further_zones_problems("service_zones", network.service_zones, region),
        *rules.zones_together_problems(network.zone, network.public_zones, network.service_zones),
        *rules.cidr_problems("cidr", network.cidr),
        *rules.cidr_problems("secondary_cidr", network.secondary_cidr),
        *rules.secondary_cidr_problems(network.cidr, network.secondary_cidr),
        *rules.cidr_problems("accelerator_cidr", network.accelerator_cidr),
        *rules.accelerator_block_problems(
            network.cidr, network.secondary_cidr, network.accelerator_mask, network.accelerator_cidr
        ),
        *rules.nat_problems(network.nat, public, [network.zone, *network.service_zones]),
        *rules_resources.endpoint_problems(network.interface_endpoints),
    ]


def _existing_network_problems(network: ExistingNetworkSection, region: str | None) -> list[str]:
    subnets = [network.accelerator_subnet, *network.public_subnets, *network.service_subnets]
    problems = [problem for subnet in subnets for problem in rules.zone_problems("zone", subnet.zone, region)]
    problems += [
        f"'cidr' must be an IPv4 block, as '10.1.0.0/16', got {cidr!r}"
        for cidr in (network.cidr, *(subnet.cidr for subnet in subnets))
        if cidr is not None and rules.parse_cidr(cidr) is None
    ]
    if network.self_rules_exist and network.security_group_id is None:
        problems.append("'self_rules_exist' is said of a group of yours; give its 'security_group_id' too")
    return problems + rules_resources.existing_subnets_problems(
        _facts(network.accelerator_subnet),
        [_facts(subnet) for subnet in network.public_subnets],
        [_facts(subnet) for subnet in network.service_subnets],
    )


def _facts(subnet: SubnetSection) -> SubnetFacts:
    return SubnetFacts(subnet_id=subnet.subnet_id, zone=subnet.zone, cidr=subnet.cidr)


# ---------------------------------------------------------------- storage
def lustre_problems(lustre: LustreSection | ExistingLustreSection | None, region: str | None) -> list[str]:
    """The file system is one that FSx has."""
    match lustre:
        case LustreSection():
            settings = lustre_settings(lustre)
            return [
                *settings.problems(),
                *storage_rules.root_squash_problems(root_squash(lustre)),
                *storage_rules.file_system_key_problems(settings.deployment, key_given=lustre.key_arn is not None),
                *(storage_rules.key_problems(lustre.key_arn, region) if region else []),
            ]
        case ExistingLustreSection(file_system_id=file_system_id, dns_name=dns_name, mount_name=mount_name):
            return [
                *storage_rules.attribute_problems(
                    file_system_id=file_system_id, dns_name=dns_name, mount_name=mount_name
                ),
                *(rules.zone_problems("zone", lustre.zone, region) if lustre.zone else []),
            ]
    return []


def buckets_problems(buckets: BucketsSection | None) -> list[str]:
    """Checkpoints expire where the bucket is made here."""
    if buckets is None:
        return []
    return rules_data.checkpoint_days_problems(
        buckets.checkpoint_days, checkpoints_given=buckets.checkpoints is not None
    )


# ---------------------------------------------------------------- HyperPod
def hyperpod_problems(cluster: HyperPodSection) -> list[str]:
    """The groups, one by one and together."""
    groups = tuple(_resolved(name, group, cluster.lifecycle) for name, group in cluster.groups.items())
    resolved = ResolvedCluster(
        name=cluster.cluster_name or "unnamed",
        region=None,
        groups=groups,
        topology=topology(cluster),
        continuous=cluster.provisioning is NodeProvisioning.CONTINUOUS,
        network=None,
        security_groups=(),
        mounts=(),
        accounting=None,
        scripts_bucket=any(group.lifecycle.runs_scripts for group in groups),
        raw_overrides=cluster.raw_overrides,
    )
    problems = _lifecycle_problems("'lifecycle' of the cluster", cluster.lifecycle)
    for name, group in cluster.groups.items():
        problems += _lifecycle_problems(f"'lifecycle' of group {name!r}", group.lifecycle)
    if cluster.topology is SlurmTopology.LEGACY and cluster.slurm_config_strategy:
        problems.append("'slurm_config_strategy' must not be given with topology legacy; the file knows no strategy")
    return problems + everything_wrong(resolved)


def partial_hyperpod_problems(cluster: HyperPodSection) -> list[str]:
    """What is wrong with single groups of a cluster that cannot be judged as a whole.

    Args:
        cluster: The parts of the section that have the right form; defaults stand for the others.
    """
    others = set(HyperPodSection.model_fields) - {"lifecycle"}
    return [
        problem
        for problem in hyperpod_problems(cluster)
        if (words := set(quoted(problem))) & cluster.groups.keys() and not words & others
    ]


def _resolved(name: str, group: GroupSection, common: LifecycleSection) -> ResolvedGroup:
    given = instance_group(name, group, imports=Presence(), find_scripts=lambda _: None)
    return resolve_group(given, lifecycle=lifecycle(common, lambda _: None), mounts=())


def _lifecycle_problems(what: str, section: LifecycleSection | None) -> list[str]:
    if section is None:
        return []
    scripts = [section.on_create, section.on_init_complete]
    if all(script is not None for script in scripts):
        why = "the first replaces what the image does, the second adds to it"
        return [f"{what} must have one of 'on_create' and 'on_init_complete', got both; {why}"]
    if section.folder is not None and not any(script is not None for script in scripts):
        return [f"{what} must say which script of 'folder' runs, got neither 'on_create' nor 'on_init_complete'"]
    return []


# ---------------------------------------------------------------- alerts
def alerts_problems(alerts: AlertsSection | None) -> list[str]:
    """A topic of yours, or addresses for a new one."""
    if alerts is None or bool(alerts.emails) is not bool(alerts.topic_arn):
        return []
    got = "both" if alerts.emails else "neither"
    return [
        f"'alerts' must have either 'emails' or 'topic_arn', got {got}; subscribe the addresses to your topic yourself"
    ]
