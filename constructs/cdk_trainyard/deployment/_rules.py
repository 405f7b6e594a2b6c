"""Which rules of network and storage their sections are asked, and the few that only a file can break."""

from collections.abc import Mapping

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.network import ExistingNetworkSection, NetworkSection, SubnetSection
from cdk_trainyard.deployment.storage import BucketsSection, ExistingLustreSection, LustreSection
from cdk_trainyard.deployment.values import lustre_settings, root_squash
from cdk_trainyard.network import rules, rules_resources
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
        *rules.nat_problems(network.nat, network.zones_of_public_subnets, [network.zone, *network.service_zones]),
        *rules_resources.endpoint_problems(network.interface_endpoints),
        *rules_resources.public_bucket_problems(network.public_buckets),
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


# ---------------------------------------------------------------- alerts
def alerts_problems(alerts: AlertsSection | None) -> list[str]:
    """A topic of yours, or addresses for a new one."""
    if alerts is None or bool(alerts.emails) is not bool(alerts.topic_arn):
        return []
    got = "both" if alerts.emails else "neither"
    return [
        f"'alerts' must have either 'emails' or 'topic_arn', got {got}; subscribe the addresses to your topic yourself"
    ]
